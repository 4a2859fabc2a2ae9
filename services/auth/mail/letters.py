"""What the letters say, in each language: the template's first line is the subject, the rest the text."""

from email.message import EmailMessage

from jinja2 import Environment, PackageLoader, StrictUndefined

from services.auth.domain.accounts import Letter

# Plain text has nothing to escape, and addresses never stand in a text.
_templates = Environment(
    loader=PackageLoader("services.auth.mail", "templates"),
    autoescape=False,  # noqa: S701 - plain text
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)


def message_of(letter: Letter, code: str, sender: str, code_minutes: int) -> EmailMessage:
    """The letter as mail, the same for every sending of it. `code` is empty where the letter has none."""
    text = _templates.get_template(f"{letter.kind.value}.{letter.locale}.txt").render(code=code, minutes=code_minutes)
    subject, _, body = text.partition("\n")
    message = EmailMessage()
    message["From"] = sender
    message["To"] = letter.address
    message["Subject"] = subject
    message["Message-ID"] = f"<{letter.mail_id}@{sender.rpartition('@')[2].rstrip('>')}>"
    # Machines must not answer it, and out-of-office replies go nowhere (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(body.lstrip("\n"))
    return message
