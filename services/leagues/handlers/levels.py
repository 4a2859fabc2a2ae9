"""The level follows the experience (P43)."""

from libs.house.experience import level_of
from libs.house.platform import Platform
from services.leagues.domain.results import AccountId
from services.leagues.domain.standing import Progress
from services.leagues.ports import Ledger
from whist.leagues.v1.events_pb2 import LeaguesEvent, LevelReached

TOPIC = "whist.leagues.events.v1"


async def settle_level(account_id: AccountId, after: Progress, ledger: Ledger, platform: Platform) -> int:
    """Bring a locked account's level to its experience; a change is published, also the fall of a voided game."""
    level = level_of(after.experience, numbers=platform.experience)
    if level != after.level:
        await ledger.set_level(account_id, level)
        reached = LevelReached(account_id=account_id.bytes, level=level)
        await ledger.publish(TOPIC, account_id.bytes, LeaguesEvent(level_reached=reached))
    return level
