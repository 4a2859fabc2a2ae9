"""Who may enter which room (P2, P7, P9, P42), and whether the entry is covered (P8)."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from libs.house.rooms import GUEST_ROOM, Room
from services.matchmaking.domain.errors import (
    BadName,
    BadNetwork,
    GuestsHaveNoCoffee,
    GuestsRoom1Only,
    InsufficientFunds,
    LevelTooLow,
    NotAVipDay,
)

NETWORK_BYTES = (0, 3, 8)
NAME_MAX = 32  # as tables take it; a name has at most 16 characters (P41), what auth suggests among them


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """What an account can spend: coins, gold bars, and cups by kind."""

    coins: int = 0
    bars: int = 0
    cups: Mapping[Coffee, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who stands at a room's door. `vip_day`: whether today is one of the account's two (P13)."""

    guest: bool
    level: int
    vip_day: bool


def linkage_of(network: bytes, key: bytes) -> bytes:
    """The same 16 bytes for everybody of one network, which nobody reads out of them without `key` (X12).

    `network`: three bytes of an IPv4 /24 or eight of an IPv6 /64; empty, unknown: linked to nobody. Raises BadNetwork.
    """
    if len(network) not in NETWORK_BYTES:
        raise BadNetwork(allowed=list(NETWORK_BYTES))
    return hmac.digest(key, b"linkage\0" + network, "sha256")[:16] if network else b""


def check_name(name: str) -> None:
    """Raises BadName."""
    if not name.strip() or not name.isprintable() or len(name) > NAME_MAX:
        raise BadName(longest=NAME_MAX)


def admit(visitor: Visitor, room: Room, coffee: Coffee) -> None:
    """Raises GuestsRoom1Only, GuestsHaveNoCoffee, LevelTooLow or NotAVipDay."""
    if visitor.guest and room.number != GUEST_ROOM:
        raise GuestsRoom1Only(room=room.number)
    if visitor.guest and coffee is not Coffee.NONE:
        raise GuestsHaveNoCoffee(coffee=coffee.value)
    if visitor.level < room.level:
        raise LevelTooLow(room=room.number, level=visitor.level, needed=room.level)
    if room.vip and not visitor.vip_day:
        raise NotAVipDay(room=room.number)


def costs_nothing(room: Room, coffee: Coffee) -> bool:
    """Whether the wallet need not be asked."""
    return not room.entry_coins and not room.entry_bars and coffee is Coffee.NONE


def check_funds(assets: Assets, room: Room, coffee: Coffee) -> None:
    """Raises InsufficientFunds. An early answer only: the hold at the deal decides."""
    cups = 0 if coffee is Coffee.NONE else 1
    covered = assets.coins >= room.entry_coins and assets.bars >= room.entry_bars
    if not covered or assets.cups.get(coffee, 0) < cups:
        raise InsufficientFunds(coins=room.entry_coins, bars=room.entry_bars, coffee=coffee.value)


def closed_reason(visitor: Visitor, room: Room, assets: Assets | None) -> str:
    """Why the visitor may not enter now; empty when the door is open. `assets` None: the wallet did not answer."""
    try:
        admit(visitor, room, Coffee.NONE)
        if assets is not None:
            check_funds(assets, room, Coffee.NONE)
    except DomainError as refusal:
        return refusal.reason
    return ""
