"""Who may call what of the public API, a row a route, in the order of the trial: what ends something is last.

Ana has finished the quick game `game` and is at the friends' game `live`, which nobody may watch; Radu hosts `waiting`,
Vlad `doomed`. The owner is the person whose thing the path names, Ana where it names none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Statuses = int | tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a guest, another account and the owner are answered. Where there is no `guest` it is open to everybody."""

    route: str  # METHOD /path, as in the document
    body: Mapping[str, Any] | None = None
    query: str = ""
    owner: Statuses
    other: Statuses
    guest: Statuses
    whose: str = "ana"
    # Values of the path's parameters, by the name of what was made; an id of an account by the person.
    path: Mapping[str, str] | None = None

    @property
    def method(self) -> str:
        return self.route.split()[0]

    @property
    def url(self) -> str:
        return self.route.split()[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A route without a token of ours: everybody is answered alike."""

    route: str
    status: int
    body: Mapping[str, Any] | None = None


CHOICES = {"game": "romanian", "options": {"mode": "8-1-8"}, "players": 4}
LIVE, WAITING, DOOMED, GAME = ({"table_id": name} for name in ("live", "waiting", "doomed", "game"))

OPEN = (
    Open(route="GET /v1/config", status=200),
    Open(route="POST /v1/guests", body={}, status=201),
    Open(route="POST /v1/login", body={"email": "{fresh}@example.org"}, status=202),
    Open(route="POST /v1/tokens", body={"refresh_token": "none"}, status=401),
    Open(route="DELETE /v1/session", body={"refresh_token": "none"}, status=401),
    Open(route="POST /v1/login/{login_id}", body={"code": "00000000"}, status=401),
)

ROWS = (
    # One's own, whoever one is.
    Row(route="GET /v1/me", guest=200, other=200, owner=200),
    Row(route="GET /v1/seat", guest=200, other=200, owner=200),
    Row(route="GET /v1/rooms", guest=200, other=200, owner=200),
    Row(route="GET /v1/queue", guest=200, other=200, owner=200),
    Row(route="POST /v1/queue", body={"room": 3, "mode": "quick"}, guest=403, other=403, owner=(403, 409)),
    Row(route="DELETE /v1/queue", guest=204, other=204, owner=204),
    Row(route="GET /v1/wallet", guest=200, other=200, owner=200),
    Row(route="GET /v1/wallet/history", guest=200, other=200, owner=200),
    Row(route="GET /v1/leagues/me", guest=200, other=200, owner=200),
    Row(route="GET /v1/leagues/group", guest=200, other=200, owner=200),
    Row(route="GET /v1/leagues/friends", guest=200, other=200, owner=200),
    Row(route="POST /v1/offline-games", body={}, guest=403, other=400, owner=400),
    Row(route="PUT /v1/account/name", body={"name": "{fresh}"}, guest=403, other=200, owner=200),
    Row(route="GET /v1/account/export", guest=200, other=200, owner=200),
    Row(route="GET /v1/sessions", guest=200, other=200, owner=200),
    # Ana's first game of the day has brought bars, once the wallet has heard of it.
    Row(route="POST /v1/wallet/coffee", body={"coffee": "x1.5"}, guest=403, other=409, owner=(200, 409)),
    Row(route="PUT /v1/mutes/{account_id}", path={"account_id": "radu"}, guest=204, other=204, owner=204),
    Row(route="DELETE /v1/mutes/{account_id}", path={"account_id": "radu"}, guest=204, other=204, owner=204),
    # A game, live and finished: for who plays or played it. A quick game is analysed on its player's VIP days.
    Row(route="GET /v1/tables/{table_id}", path=LIVE, guest=403, other=403, owner=200),
    Row(route="POST /v1/tables/{table_id}/hint", path=LIVE, guest=403, other=403, owner=(200, 409)),
    Row(route="GET /v1/games/{table_id}", path=GAME, guest=403, other=403, owner=200),
    Row(route="GET /v1/games/{table_id}/analysis", path=GAME, guest=404, other=404, owner=(200, 403, 409)),
    Row(route="GET /v1/games/{table_id}/story", path=GAME, guest=404, other=404, owner=(200, 403, 409)),
    Row(route="GET /v1/games/{game_id}/refund", path={"game_id": "game"}, guest=200, other=200, owner=200),
    Row(route="POST /v1/games/{game_id}/refund", path={"game_id": "game"}, guest=404, other=404, owner=(200, 403, 409)),
    # Friends' tables: found by their link, changed by their host.
    Row(route="GET /v1/friends-tables", guest=200, other=200, owner=200),
    Row(route="POST /v1/friends-tables", body=CHOICES, guest=403, other=201, owner=409),
    Row(route="GET /v1/friends-tables/{table_id}", path=WAITING, guest=200, other=200, owner=200),
    Row(
        route="PUT /v1/friends-tables/{table_id}/choices", path=WAITING, whose="radu", body=CHOICES,
        guest=403, other=403, owner=200,
    ),
    Row(
        route="POST /v1/friends-tables/{table_id}/kick", path=WAITING, whose="radu", body={"account": "{ana}"},
        guest=403, other=403, owner=403,
    ),
    Row(
        route="POST /v1/friends-tables/{table_id}/report", path=LIVE, body={"account": "{radu}", "words": "rude"},
        guest=204, other=204, owner=204,
    ),
    Row(
        route="POST /v1/friends-tables/{table_id}/take-seat", path=LIVE, body={"seat": 0},
        guest=409, other=409, owner=409,
    ),
    Row(route="POST /v1/friends-tables/{table_id}/rematch", path=LIVE, guest=403, other=403, owner=409),
    Row(
        route="POST /v1/friends-tables/{table_id}/sit", path=WAITING, whose="radu", body={},
        guest=200, other=409, owner=409,
    ),
    Row(route="POST /v1/friends-tables/{table_id}/deal", path=WAITING, whose="radu", guest=403, other=403, owner=200),
    Row(route="POST /v1/friends-tables/{table_id}/stand", path=WAITING, whose="radu", guest=409, other=409, owner=409),
    Row(route="DELETE /v1/friends-tables/{table_id}", path=DOOMED, whose="vlad", guest=403, other=403, owner=200),
    Row(
        route="DELETE /v1/sessions/{session_id}", path={"session_id": "session"}, whose="vlad",
        guest=404, other=404, owner=204,
    ),
    # Each erases itself.
    Row(route="DELETE /v1/account", whose="radu", guest=204, other=204, owner=204),
)  # fmt: skip
