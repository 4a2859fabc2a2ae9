"""Topic to handler. What an event lacks or has wrong raises ValueError or UnknownRoom, and the bus parks its key."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from uuid import UUID

from libs.house.calendar import week_bounds
from libs.house.classic import CLASSIC_ROUNDS, RUN_ROUNDS
from libs.house.platform import Platform
from services.wallet.domain.awards import FinishedGame, FinishedSeat
from services.wallet.domain.ledger import AccountId, TableId
from services.wallet.domain.settled import Analysis
from services.wallet.handlers.games import finish_game, game_analysed, leave_game, start_game, void_game
from services.wallet.handlers.gifts import podium, weekly_cups, welcome
from services.wallet.ports import Ledger
from whist.auth.v1.events_pb2 import AuthEvent
from whist.coach.v1.events_pb2 import CoachEvent, SeatAnalysed
from whist.leagues.v1.events_pb2 import LeaguesEvent
from whist.tables.v1.events_pb2 import GameFinished, Seat, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK
from whist.types.v1.types_pb2 import MODE_CLASSIC

AUTH_TOPIC = "whist.auth.events.v1"
TABLES_TOPIC = "whist.tables.events.v1"
COACH_TOPIC = "whist.coach.events.v1"
LEAGUES_TOPIC = "whist.leagues.events.v1"
RUNS_MAX = CLASSIC_ROUNDS // RUN_ROUNDS


async def on_auth(ledger: Ledger, event: AuthEvent, *, platform: Platform) -> None:
    """`wallet.auth`: accounts are welcomed once, and given what Mondays owe them; guests own nothing (P10, P42)."""
    match event.WhichOneof("event"):
        case "account_created" if not event.account_created.guest:
            await welcome(_account(event.account_created.account_id), ledger=ledger, platform=platform)
        case "guest_upgraded":
            await welcome(_account(event.guest_upgraded.account_id), ledger=ledger, platform=platform)
        case "account_seen":
            seen = event.account_seen
            if not seen.HasField("account_since"):
                raise ValueError("an account is one since some moment")
            since = seen.account_since.ToDatetime(UTC)
            day = date.fromisoformat(seen.day_id)
            await weekly_cups(_account(seen.account_id), since, day, ledger=ledger, platform=platform)


async def on_leagues(ledger: Ledger, event: LeaguesEvent) -> None:
    """`wallet.leagues`: the first three of each group are paid (P51)."""
    if event.WhichOneof("event") == "podium_won":
        won = event.podium_won
        week_bounds(won.week_id)
        await podium(_account(won.account_id), won.week_id, won.coins, won.bars, ledger=ledger)


async def on_coach(ledger: Ledger, event: CoachEvent, *, platform: Platform) -> None:
    """`wallet.coach`: what classic quick-play games pay for playing well (P15); no other game pays anything."""
    if event.WhichOneof("event") != "game_analysed":
        return
    analysed = event.game_analysed
    if (analysed.kind, analysed.mode) == (TABLE_KIND_QUICK, MODE_CLASSIC):
        analyses = [_analysis(each) for each in analysed.seats]
        if len({each.account_id for each in analyses}) != len(analyses):
            raise ValueError("an account sits twice")
        await game_analysed(_table(analysed.table_id), analyses, ledger=ledger, platform=platform)


async def on_tables(ledger: Ledger, event: TablesEvent, *, platform: Platform) -> None:
    """`wallet.tables`: quick games; no other game moves anything."""
    match event.WhichOneof("event"):
        case "game_started" if event.game_started.kind == TABLE_KIND_QUICK:
            started = event.game_started
            await start_game(_table(started.table_id), _people(started.seats), _moment(event), ledger=ledger)
        case "game_finished" if event.game_finished.kind == TABLE_KIND_QUICK:
            await finish_game(_game(event), ledger=ledger, platform=platform)
        case "game_voided" if event.game_voided.kind == TABLE_KIND_QUICK:
            voided = event.game_voided
            await void_game(_table(voided.table_id), _moment(event), had_finished=voided.had_finished, ledger=ledger)
        case "seat_vacated":
            left = event.seat_vacated
            moment = _moment(event)
            if moment is None:
                raise ValueError("a seat is left at some moment")
            await leave_game(_table(left.table_id), _account(left.account_id), moment, ledger=ledger)


def _account(plain: bytes) -> AccountId:
    return AccountId(UUID(bytes=plain))


def _table(plain: bytes) -> TableId:
    return TableId(UUID(bytes=plain))


def _moment(event: TablesEvent) -> datetime | None:
    """By the clock of tables' database."""
    return event.occurred_at.ToDatetime(UTC) if event.HasField("occurred_at") else None


def _people(seats: Sequence[Seat]) -> Mapping[AccountId, Seat]:
    people = [(_account(seat.account_id), seat) for seat in seats if seat.account_id]
    named = dict(people)
    if len(named) != len(people):
        raise ValueError("an account sits twice")
    return named


def _analysis(analysed: SeatAnalysed) -> Analysis:
    if not 0 <= analysed.runs_of_seven <= RUNS_MAX:
        raise ValueError(f"{analysed.runs_of_seven} runs of {RUN_ROUNDS} in {CLASSIC_ROUNDS} rounds")
    return Analysis(account_id=_account(analysed.account_id), grade=analysed.grade[:2], runs=analysed.runs_of_seven)


def _game(event: TablesEvent) -> FinishedGame:
    finished: GameFinished = event.game_finished
    finished_at = _moment(event)
    if finished_at is None:
        raise ValueError("a game finishes at some moment")
    people = _people([result.seat for result in finished.seats])
    results = {result.seat.account_id: result for result in finished.seats}
    date.fromisoformat(finished.day_id)
    week_bounds(finished.week_id)
    return FinishedGame(
        table_id=_table(finished.table_id),
        day_id=finished.day_id,
        week_id=finished.week_id,
        # By the clock of tables' database, like day and week: what a refund's window counts from (P14).
        finished_at=finished_at,
        started_at=finished.started_at.ToDatetime(UTC) if finished.HasField("started_at") else None,
        classic=finished.mode == MODE_CLASSIC,
        seats=tuple(_seat(account, results[account.bytes]) for account in people),
    )


def _seat(account: AccountId, result: SeatResult) -> FinishedSeat:
    return FinishedSeat(
        account_id=account,
        guest=result.seat.guest,
        room=result.seat.room,
        place=result.place,
        rounds=result.rounds,
        own_bids=result.own_bids,
        bid_lately=result.bid_lately,
        left=result.left,
    )
