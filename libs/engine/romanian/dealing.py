"""Draws and what they decide: the first dealer, quick's left-out size, each deal (R2–R4, P70)."""

from collections.abc import Sequence

from libs.engine.cards import Card, deck, hand_of
from libs.engine.protocol import Draw
from libs.engine.romanian.events import DealerDrawn, Event, RoundDealt, ScheduleSet
from libs.engine.romanian.options import Mode
from libs.engine.romanian.schedule import FULL, QUICK_SIZES, dealer_of, sizes
from libs.engine.romanian.state import State


def due(state: State) -> Draw | None:
    """The next draw: "dealer", in quick "left-out", then "deal/1", "deal/2", …"""
    setup = state.setup
    if setup.first_dealer is None:
        return Draw(label="dealer", size=setup.players)
    if not setup.sizes:
        return Draw(label="left-out", size=QUICK_SIZES)
    if state.live is not None or len(state.sheet) == len(setup.sizes):
        return None
    return Draw(label=f"deal/{len(state.sheet) + 1}", size=len(deck(setup.players)))


def decide_draw(state: State, order: Sequence[int]) -> tuple[Event, ...]:
    """The events of the draw that is due. Raises ValueError if `order` is not that draw's."""
    draw = due(state)
    if draw is None or sorted(order) != list(range(draw.size)):
        raise ValueError(f"not a permutation for {draw}")
    setup = state.setup
    if setup.first_dealer is None:
        drawn = DealerDrawn(seat=order[0])
        if setup.options.mode is Mode.QUICK:
            return (drawn,)
        return (drawn, ScheduleSet(sizes=sizes(setup.options, setup.players)))
    if not setup.sizes:
        return (ScheduleSet(sizes=sizes(setup.options, setup.players, left_out=order[0])),)
    pack = deck(setup.players)
    return (deal(state, [pack[index] for index in order]),)


def deal(state: State, pack: Sequence[Card]) -> RoundDealt:
    """R4: one card at a time clockwise from the dealer's left, then the next one turned up.

    `pack` is in dealing order, its first card goes to the dealer's left.
    """
    setup = state.setup
    assert setup.first_dealer is not None
    players, index = setup.players, len(state.sheet)
    cards = setup.sizes[index]
    dealer = dealer_of(index, setup.first_dealer, players)
    dealt = cards * players
    return RoundDealt(
        setup=setup,
        sheet=state.sheet,
        turn=state.turn,
        index=index,
        cards=cards,
        dealer=dealer,
        turn_up=None if cards == FULL else pack[dealt],
        hands=tuple(hand_of(pack[(seat - dealer - 1) % players : dealt : players]) for seat in range(players)),
    )
