r"""The record as text in the tradition of PBN: tags and rows that people and bridge tools can read.

    [Event "Whist"]  [Version "1"]  [Game "romanian"]  [RulesVersion "1"]  [Players "6"]
    [Options "{\"mode\":\"quick\"}"]
    [South "Ioana"] …                    names, where there are any
    [Table "{…}"]                        what only the place of the game knows, as JSON, where there is any
    [Commit "sha256 in hex"]             [Secret "hex"], or a [Draw "deal/1 21 5 2 …"] for each draw
    [Board "1"]  [Dealer "S"]  [Trump "H9"]     the turned card; "-" without
    [Deal "S:Q85.65.A.QJ A.T.QK5.K75 …"]        hands clockwise from that seat, suits S.H.D.C
    [Auction "SW"]                       the seat of the first column; rows follow, clockwise, "-" for no decision
    6 8 1 2 4 1
    [Times "1796025375123 1200 …"]       when, in order of decision: UTC ms at first, then ms since the one before
    [Play "SW"]
    DQ DJ D4 D6 D9 DA
    [Score "+11 -3 …"]                   by seat, from south on
    [Totals "…"]  [Ranking "…"]          at the end of a finished game

A decision is a bid (3), a card, suit first (DQ), or a word and its value (call=solo, trumps=H, claim=true,
hold=true). One that a bot made ends with ~, one made on time-out with ^, one by nobody knows whom with ?.
What follows a hand's play (W7) is a section [Claims]. Seats of 2 to 7 players, clockwise from the first, have
compass names. A reader takes turns from the rules, so that columns are enough; it checks Board to Ranking.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

from libs.engine.cards import CARD_BY_TEXT
from libs.engine.protocol import Action, Draw, Game, Seat, State
from libs.engine.record.flaws import BadRecord, Flaw, Place, short
from libs.engine.record.model import MOVES_MAX, VERSION, By, Drawn, Move, Record
from libs.engine.record.plain import hex_bytes, parsed
from libs.engine.record.replaying import Step, deal_in, game_of, order_of, rebuild, replay

COMPASS: Final = {
    2: ("S", "N"),
    3: ("S", "NW", "NE"),
    4: ("S", "W", "N", "E"),
    5: ("S", "SW", "NW", "NE", "SE"),
    6: ("S", "SW", "NW", "N", "NE", "SE"),
    7: ("S", "SW", "W", "NW", "N", "NE", "SE"),
}
LETTERS: Final = {"S": "South", "N": "North", "W": "West", "E": "East"}
SUIT_ORDER: Final = "SHDC"
AUCTION, PLAY, CLAIMS, TIMES = "Auction", "Play", "Claims", "Times"
SECTIONS: Final = (AUCTION, PLAY, CLAIMS)
FLAW_BY_TAG: Final = {
    **dict.fromkeys(("Board", "Dealer", "Trump", "Deal"), Flaw.WRONG_DEAL),
    **dict.fromkeys(("Score", "Totals"), Flaw.WRONG_SCORE),
    "Ranking": Flaw.WRONG_RANKING,
}
CHECKED: Final = frozenset(FLAW_BY_TAG)
END: Final = ("Totals", "Ranking")
BY_SEAT: Final = ("Deal", "Score", "Totals")
MARKS: Final = {By.PERSON: "", By.BOT: "~", By.TIME_OUT: "^", None: "?"}
BY_MARK: Final = {mark: by for by, mark in MARKS.items()}
NOTHING: Final = "-"
TAG: Final = re.compile(r'\[(\w+) "((?:[^"\\]|\\.)*)"\]')
ESCAPED: Final = re.compile(r"\\(.)")
INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
TEXT_MAX: Final = 4_000_000  # characters; a record of MOVES_MAX decisions has about a tenth

Tag = tuple[str, str]
Tags = Mapping[str, str]


def to_text(record: Record) -> str:
    """The text, lines ended by line feeds. Raises BadRecord if the record does not play."""
    lines = [_written(tag) for tag in _head(record)]
    for part in _boards(record):
        lines += [_written(part)] if isinstance(part, tuple) else part.lines()
    return "\n".join(lines) + "\n"


def _head(record: Record) -> Iterator[Tag]:
    yield "Event", "Whist"
    yield "Version", str(VERSION)
    yield "Game", record.game
    yield "RulesVersion", str(record.rules_version)
    yield "Players", str(record.players)
    yield "Options", json.dumps(dict(record.options), separators=(",", ":"))
    for seat, name in enumerate(record.names):
        yield _long(record.players, seat), name
    if record.table is not None:
        yield "Table", json.dumps(dict(record.table), separators=(",", ":"))
    yield "Commit", record.commitment.hex()
    if record.secret is not None:
        yield "Secret", record.secret.hex()
    for label, order in record.draws:
        yield "Draw", " ".join([label, *map(str, order)])


@dataclass(slots=True)
class Section:
    """Decisions of one kind within a board."""

    name: str
    players: int
    moves: list[Move] = field(default_factory=list)

    def lines(self) -> list[str]:
        first = self.moves[0].seat
        order = [(first + step) % self.players for step in range(self.players)]
        columns = [[_token(one) for one in self.moves if one.seat == seat] for seat in order]
        rows = [" ".join(row) for row in zip_longest(*columns, fillvalue=NOTHING)]
        return [*self._times(), _written((self.name, COMPASS[self.players][first])), *rows]

    def _times(self) -> list[str]:
        if all(one.at_ms is None for one in self.moves):
            return []
        written, before = [], 0
        for one in self.moves:
            written.append(NOTHING if one.at_ms is None else str(one.at_ms - before))
            before = before if one.at_ms is None else one.at_ms
        return [_written((TIMES, " ".join(written)))]


def _boards(record: Record) -> Iterator[Tag | Section]:
    """What follows the head: the checked tags of each deal, and its decisions."""
    game, section, boards = game_of(record), Section("", record.players), 0
    scores = [0] * record.players
    state: State | None = None
    for step in replay(record):
        state, deal = step.state, deal_in(game, step)
        if step.move is not None:
            name = _section_of(step.move, section.name)
            if name != section.name:
                yield from _ended(section)
                section = Section(name, record.players)
            section.moves.append(step.move)
        if _hand_ends(game, step):
            yield from _ended(section)
            section = Section("", record.players)
            after = game.view(state, None)["scores"]
            yield "Score", " ".join(f"{now - had:+d}" for now, had in zip(after, scores, strict=True))
            scores = list(after)
        if deal is not None:
            boards += 1
            yield "Board", str(boards)
            yield "Dealer", COMPASS[record.players][deal.dealer]
            yield "Trump", NOTHING if deal.trump is None else deal.trump[::-1]
            yield "Deal", "S:" + " ".join(_hand_text(hand) for hand in deal.hands)
    yield from _ended(section)
    if state is not None and game.over(state):
        outcome = game.result(state)
        yield "Totals", " ".join(map(str, outcome.totals))
        yield "Ranking", " ".join(COMPASS[record.players][seat] for seat in outcome.ranking)


def _ended(section: Section) -> Iterator[Section]:
    if section.moves:
        yield section


def _hand_ends(game: Game, step: Step) -> bool:
    return step.move is not None and (game.over(step.state) or game.draw(step.state) is not None)


def _section_of(move: Move, current: str) -> str:
    """Cards are play; anything else is auction before the play and claims after it."""
    if "play" in move.action or "hold" in move.action:
        return PLAY
    return CLAIMS if current in (PLAY, CLAIMS) else AUCTION


def _hand_text(hand: Sequence[str]) -> str:
    suits = ("".join(card[0] for card in reversed(hand) if card[1] == suit) for suit in SUIT_ORDER)
    return ".".join(suits) if hand else NOTHING


def _long(players: int, seat: Seat) -> str:
    return "".join(LETTERS[letter] for letter in COMPASS[players][seat])


def _written(tag: Tag) -> str:
    name, value = tag
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'[{name} "{escaped}"]'


def _token(move: Move) -> str:
    ((kind, value),) = move.action.items()
    if kind == "play":
        text = str(value)[::-1]
    else:
        text = str(value) if kind == "bid" else f"{kind}={json.dumps(value) if value in (True, False) else value}"
    return text + MARKS[move.by]


@dataclass(slots=True)
class Columns:
    """A section as it was read: each seat's decisions still to be taken, and the times of all."""

    queues: dict[Seat, list[str]]
    times: list[str]

    @property
    def used_up(self) -> bool:
        return not any(self.queues.values())


@dataclass(slots=True)
class Reading:
    """A text taken apart."""

    head: dict[str, str] = field(default_factory=dict)
    draws: list[Drawn] = field(default_factory=list)
    checked: list[Tag] = field(default_factory=list)
    sections: list[Columns] = field(default_factory=list)
    times: list[str] = field(default_factory=list)  # of the section that comes next
    clock_ms: int = 0

    def next_move(self, game: Game, state: State) -> Move | None:
        """The decision of the seat whose turn it is; None at the end."""
        while self.sections and self.sections[0].used_up:
            self._check_times(self.sections.pop(0))
            self.clock_ms = 0
        seat = game.to_act(state)
        if not self.sections or seat is None:
            return None
        section = self.sections[0]
        if not section.queues[seat]:
            raise BadRecord(Flaw.NOT_A_RECORD, "its column has ended")
        action, by = _decision(section.queues[seat].pop(0))
        return Move(seat=seat, action=action, by=by, at_ms=self._time(section))

    def next_order(self, draw: Draw) -> tuple[int, ...] | None:
        if not self.draws:
            return None
        return order_of(self.draws.pop(0), draw)

    def check_used_up(self) -> None:
        """Raises BadRecord if the text goes on after its game."""
        if self.draws or any(not one.used_up or one.times for one in self.sections):
            raise BadRecord(Flaw.MORE_THAN_A_GAME, "the text holds more than its game")

    def _time(self, section: Columns) -> int | None:
        written = section.times.pop(0) if section.times else NOTHING
        if written == NOTHING:
            return None
        self.clock_ms += _integer(written)
        return self.clock_ms

    def _check_times(self, section: Columns) -> None:
        if section.times:
            raise BadRecord(Flaw.NOT_A_RECORD, "more times than decisions")


def from_text(text: str) -> Record:
    """The record, played again; what it shows of deals and scores is checked. Raises BadRecord and nothing else."""
    if len(text) > TEXT_MAX:
        raise BadRecord(Flaw.TOO_LONG, f"more than {TEXT_MAX} characters")
    read = _read(text)
    if (version := _tag(read.head, "Version")) != str(VERSION):
        raise BadRecord(Flaw.UNKNOWN_VERSION, "no version known here", told=version, due=VERSION)
    head, players = read.head, _integer(_tag(read.head, "Players"))
    empty = Record(
        game=_tag(head, "Game"),
        rules_version=_integer(_tag(head, "RulesVersion")),
        players=players,
        options=_object(head, "Options"),
        names=tuple(head[name] for seat in range(players) if (name := _long(players, seat)) in head),
        commitment=hex_bytes(_tag(head, "Commit"), "Commit"),
        secret=hex_bytes(head["Secret"], "Secret") if "Secret" in head else None,
        table=_object(head, "Table") if "Table" in head else None,
    )
    record = rebuild(empty, read.next_move, read.next_order)
    read.check_used_up()
    _check_boards(read.checked, [part for part in _boards(record) if isinstance(part, tuple)])
    return record


def _check_boards(told: Sequence[Tag], due: Sequence[Tag]) -> None:
    """Raises BadRecord at the first tag, and the first word of it, that does not follow from the decisions."""
    board = -1
    for said, given in zip_longest(told, due):
        board += given is not None and given[0] == "Board"
        if said == given:
            continue
        name = (given or said or ("", ""))[0]
        round_ = None if name in END else max(board, 0)
        if said is None or given is None or said[0] != given[0]:
            reason = Flaw.WRONG_DEAL if given else Flaw.MORE_THAN_A_GAME
            place = Place(round=round_, path=f"tag {name}")
            raise BadRecord(reason, "another tag is due", place, told=said and said[0], due=given and given[0])
        words = enumerate(zip_longest(said[1].split(), given[1].split()))
        at, (one, other) = next(((at, pair) for at, pair in words if pair[0] != pair[1]), (0, (said[1], given[1])))
        place = Place(round=round_, seat=at if name in BY_SEAT else None, path=f"tag {name}")
        raise BadRecord(FLAW_BY_TAG[name], "does not follow from the decisions", place, told=one, due=other)


def _read(text: str) -> Reading:
    read = Reading()
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            _take(read, line)
        except BadRecord as flaw:
            raise flaw.within(Place(path=f"line {number}")) from flaw
    return read


def _take(read: Reading, line: str) -> None:
    tags = [(name, _unescaped(value)) for name, value in TAG.findall(line)]
    for name, value in tags:
        if name == TIMES:
            read.times = value.split()
        elif name in SECTIONS:
            if len(read.sections) == MOVES_MAX:
                raise BadRecord(Flaw.TOO_LONG, f"more than {MOVES_MAX} sections")
            read.sections.append(_columns(_integer(_tag(read.head, "Players")), value, read.times))
            read.times = []
        else:
            _keep(read, name, value)
    if not tags and line.strip():
        _row(read, line.split())


def _keep(read: Reading, name: str, value: str) -> None:
    if name == "Draw":
        label, *order = value.split() or [""]
        read.draws.append(Drawn(label, tuple(_integer(one) for one in order)))
    elif name in CHECKED:
        read.checked.append((name, value))
    elif name in read.head:
        raise BadRecord(Flaw.NOT_A_RECORD, "this tag stands twice", Place(path=f"tag {short(name)}"))
    else:
        read.head[name] = value
    if name == "Players" and _integer(value) not in COMPASS:
        raise BadRecord(Flaw.NOT_A_RECORD, f"no seats for {value} players", Place(path="tag Players"))


def _columns(players: int, first: str, times: list[str]) -> Columns:
    if first not in COMPASS[players]:
        raise BadRecord(Flaw.NOT_A_RECORD, f"no seat {short(first)} among {players}")
    at = COMPASS[players].index(first)
    return Columns({(at + step) % players: [] for step in range(players)}, times)


def _row(read: Reading, tokens: Sequence[str]) -> None:
    if not read.sections or len(tokens) != len(read.sections[-1].queues):
        raise BadRecord(Flaw.NOT_A_RECORD, f"not a row of decisions: {short(' '.join(tokens))}")
    for queue, token in zip(read.sections[-1].queues.values(), tokens, strict=True):
        if token != NOTHING:
            queue.append(token)


def _decision(token: str) -> tuple[Action, By | None]:
    mark = token[-1] if token[-1] in BY_MARK else ""
    body = token.removesuffix(mark)
    kind, given, value = body.partition("=")
    if body[::-1] in CARD_BY_TEXT:
        return {"play": body[::-1]}, BY_MARK[mark]
    if given:
        return {kind: {"true": True, "false": False}.get(value, value)}, BY_MARK[mark]
    return {"bid": _integer(body)}, BY_MARK[mark]


def _tag(head: Tags, name: str) -> str:
    if name not in head:
        raise BadRecord(Flaw.NOT_A_RECORD, "this tag is due", Place(path=f"tag {name}"))
    return head[name]


def _integer(written: str) -> int:
    if not INTEGER.fullmatch(written):
        raise BadRecord(Flaw.NOT_A_RECORD, f"not a number: {short(written)}")
    return int(written)


def _object(head: Tags, name: str) -> dict[str, Any]:
    place = Place(path=f"tag {name}")
    try:
        plain = parsed(_tag(head, name))
    except BadRecord as flaw:
        raise flaw.within(place) from flaw
    if type(plain) is not dict:
        raise BadRecord(Flaw.NOT_A_RECORD, "an object is due", place)
    return plain


def _unescaped(value: str) -> str:
    return ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], value)
