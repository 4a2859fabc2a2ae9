"""What auth is made of."""

from pathlib import Path

from libs.chassis.db.migrate import Migrations
from libs.chassis.service import Chassis, Job, Service, Spec
from libs.house import platform
from services.auth.domain.limits import HOUR, Limit
from services.auth.grpc_api import ALLOW, AuthApi
from services.auth.handlers.desk import Desk
from services.auth.jobs import Post, sweep
from services.auth.mail.folder import FolderMailer
from services.auth.mail.smtp import SmtpMailer
from services.auth.ports import Mailer
from services.auth.settings import AuthSettings
from services.auth.storage.keys import CodeSealer, KeyRing, ensure_key, ensure_pepper, read_pepper
from services.auth.storage.register import AuthTransaction
from whist.auth.v1 import auth_pb2_grpc

MIGRATIONS = Migrations(schema="auth", folder=Path(__file__).parent / "migrations")

SWEEP_SECONDS = 3600.0
KEYS_SECONDS = 60.0


def wire(chassis: Chassis[AuthSettings]) -> Service:
    """Raises ValueError naming the key or pepper file that cannot be used, or the platform's field."""
    settings = chassis.settings
    house = platform.load(settings.platform_config)
    if settings.keys_create:
        ensure_key(settings.signing_keys, chassis.entropy)
        ensure_pepper(settings.pepper_file, chassis.entropy)
    pepper = read_pepper(settings.pepper_file)
    keys = KeyRing(settings.signing_keys, chassis.entropy, chassis.clock)
    sealer = CodeSealer(pepper, chassis.entropy)
    registry = chassis.store(AuthTransaction)
    post = Post(registry, sealer, mailer_of(settings, house.sign_in.code_minutes))
    desk = Desk(
        registry=registry,
        pepper=pepper,
        entropy=chassis.entropy,
        signer=keys,
        sealer=sealer,
        codes=Limit(settings.codes_per_network_hour, HOUR),
        guests=Limit(settings.guests_per_network_hour, HOUR),
        sign_in=house.sign_in,
        names=house.names,
        zone=house.zone,
        codes_in_all=settings.codes_per_hour,
        wake_mail=post.wake,
    )

    async def reload_keys() -> None:
        keys.reload()

    async def sweep_once() -> None:
        await sweep(registry, house.sign_in.home_kept)

    return Service(
        registrars=(lambda server: auth_pb2_grpc.add_AuthServiceServicer_to_server(AuthApi(desk), server),),
        allow=ALLOW,
        jobs=(
            Job(name="post", run=post.run),
            Job(name="keys", run=reload_keys, every_seconds=KEYS_SECONDS),
            Job(name="sweep", run=sweep_once, every_seconds=SWEEP_SECONDS),
        ),
    )


def mailer_of(settings: AuthSettings, code_minutes: int) -> Mailer:
    """A folder where one is set, a mail server otherwise. Raises ValueError for a folder that cannot be had."""
    if settings.mail_dir is not None:
        try:
            settings.mail_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"WHIST_MAIL_DIR: {error}") from error
        return FolderMailer(folder=settings.mail_dir, sender=settings.mail_from, code_minutes=code_minutes)
    return SmtpMailer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=settings.smtp_security,
        user=settings.smtp_user,
        password=settings.smtp_password.get_secret_value(),
        sender=settings.mail_from,
        code_minutes=code_minutes,
    )


SPEC = Spec(name="auth", settings=AuthSettings, wire=wire, migrations=MIGRATIONS)
