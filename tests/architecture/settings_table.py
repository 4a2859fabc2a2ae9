"""``python -m tests.architecture.settings_table``: the text of ``docs/settings.md``, from the settings classes.

python -m tests.architecture.settings_table > docs/settings.md
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from libs.chassis.settings import ENV_PREFIX, ServiceSettings
from services.allinone.cluster import ClusterSettings
from services.allinone.settings import AllInOneSettings
from services.allinone.wiring import SPECS

HEAD = """\
# Settings

Every process reads its settings from the environment and stops with a message that names each wrong variable (exit
status 2). Lists are JSON. The platform's rules (rooms, prizes, turn times) are not here but in
[`config/platform.toml`](../config/platform.toml), checked to the last field as well.

This page is generated; `tests/architecture/test_docs.py` fails when it differs from the classes. To write it anew:
`python -m tests.architecture.settings_table > docs/settings.md`.
"""
COLUMNS = "| variable | default | allowed | meaning |\n|---|---|---|---|"

# Fields whose names say all; the classes leave their description empty.
PLAIN: Mapping[str, str] = {
    "log_level": "Least severe line that is logged.",
    "log_format": "One JSON object a line, or for people.",
    "smtp_port": "Port of the mail server.",
    "smtp_security": "How the connection is protected.",
    "smtp_user": "Account at the mail server; empty: none.",
    "smtp_password": "Its password.",
}
_SIGNS = ((Ge, "ge", "≥"), (Gt, "gt", ">"), (Le, "le", "≤"), (Lt, "lt", "<"))


def text() -> str:
    """The whole page."""
    common = set(ServiceSettings.model_fields)
    parts = [HEAD, _section("every service", ServiceSettings, ServiceSettings.model_fields)]
    for spec in sorted(SPECS, key=lambda spec: spec.name):
        own = [name for name in spec.settings.model_fields if name not in common]
        parts.append(_section(spec.name, spec.settings, own))
    parts.append(_section("allinone", AllInOneSettings, AllInOneSettings.model_fields))
    changed = ("data_dir", "workers", "kafka_bootstrap", "tls")
    parts.append(_section("allinone: the cluster on one machine", ClusterSettings, changed))
    return "\n".join(parts)


def _section(title: str, kind: type[BaseModel], names: Iterable[str]) -> str:
    rows = [_row(name, kind.model_fields[name]) for name in names]
    return "\n".join([f"## {title}", "", COLUMNS, *rows, ""])


def _row(name: str, field: FieldInfo) -> str:
    meaning = (field.description or PLAIN[name]).replace("<", "&lt;")
    cells = (f"`{ENV_PREFIX}{name.upper()}`", _default(field.default), _allowed(field), meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, SecretStr):
        return f"`{value.get_secret_value()}`" if value.get_secret_value() else ""
    if isinstance(value, tuple):
        return f"`{json.dumps(value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _allowed(field: FieldInfo) -> str:
    """The values of an enumeration, or the bounds, or the kind of value."""
    bounds = [
        f"{sign} {getattr(each, attribute):g}" if isinstance(getattr(each, attribute), float)
        else f"{sign} {getattr(each, attribute)}"
        for kind, attribute, sign in _SIGNS
        for each in field.metadata
        if isinstance(each, kind)
    ]  # fmt: skip
    bounds += [f"{each.min_length} or more characters" for each in field.metadata if isinstance(each, MinLen)]
    bounds += [f"{each.max_length} characters or less" for each in field.metadata if isinstance(each, MaxLen)]
    bounds += [f"`{pattern}`" for each in field.metadata if (pattern := getattr(each, "pattern", None))]
    if bounds:
        return ", ".join(bounds)
    if field.annotation is bool:
        return "`true`, `false`"
    values = [value for value in get_args(field.annotation) if isinstance(value, str)]
    return ", ".join(f"`{value}`" for value in values)


if __name__ == "__main__":
    print(text(), end="")
