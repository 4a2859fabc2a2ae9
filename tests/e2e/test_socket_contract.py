"""Every frame of a friends' game, both ways, fits the document that the server itself shows (P20-P34)."""

import json
from collections import defaultdict
from functools import partial
from typing import Any, get_args

import httpx
import pytest
from jsonschema import Draft202012Validator
from websockets.asyncio.client import ClientConnection, connect

from libs.client import Table, Whist, WhistError
from libs.client.sdk import socket
from libs.wire import frames
from libs.wire.reasons import REASONS
from tests.e2e.conftest import Embedded
from tests.e2e.story import play
from tests.e2e.test_friends import seat_is_ours, seat_was_left, signed_in, until

# Comes with another owner of the table, and there is one worker; sent where somebody stays connected for 15 s.
NOT_IN_A_SHORT_GAME = {"moved", "ping", "pong"}


class Overheard(ClientConnection):
    """A connection whose text is kept, by kind of frame."""

    frames: "defaultdict[str, list[dict[str, Any]]]"

    async def send(self, message: Any, *, text: bool | None = None) -> None:
        self._keep(message)
        await super().send(message, text=text)

    async def recv(self, decode: bool | None = None) -> Any:
        message = await super().recv(decode)
        self._keep(message)
        return message

    def _keep(self, message: Any) -> None:
        frame = json.loads(message)
        self.frames[frame["t"]].append(frame)


async def test_every_frame_of_a_friends_game_and_a_quick_one_fits_the_served_document(
    product: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    monkeypatch.setattr(Overheard, "frames", heard, raising=False)
    monkeypatch.setattr(socket, "connect", partial(connect, create_connection=Overheard))
    async with signed_in(product) as host, Whist.connect(product.url) as guest, Whist.connect(product.url) as third:
        table_id = (await host.friends.open(game="german", options={}, players=2))["table"]
        company = await host.enter(table_id)
        await guest.friends.sit(table_id)
        await company.say("Salut")
        await until(company, lambda: bool(company.lines))
        with pytest.raises(WhistError, match="BAD_TEXT"):
            await company.say("\u200b")
        await host.friends.deal(table_id)
        mine, theirs, watched = await host.join(table_id), await guest.join(table_id), await third.join(table_id)
        await refused_move(mine, theirs)
        await theirs.quit()
        await seat_was_left(watched, 1)
        await third.friends.take_seat(table_id, 1)
        await seat_is_ours(watched, 1)
        await watched.quit()
        await play(mine)
        await host.part(company)
        quick = await third.quick_game()
        await third.leave(quick)

    async with httpx.AsyncClient(base_url=product.url) as http:
        document = (await http.get("/asyncapi.json")).json()
    kinds = {each.__struct_config__.tag: each.__name__ for each in all_kinds()}
    for tag, told in heard.items():
        reference = {"$ref": f"#/components/schemas/{kinds[tag]}", "components": document["components"]}
        validator = Draft202012Validator(reference)
        for frame in told:
            validator.validate(frame)
    assert set(kinds) - set(heard) == NOT_IN_A_SHORT_GAME
    assert {error["reason"] for error in heard["error"]} <= set(REASONS) == set(document["x-reasons"])


def all_kinds() -> tuple[Any, ...]:
    return (*get_args(frames.ClientFrame), *get_args(frames.ServerFrame))


async def refused_move(*tables: Table) -> None:
    """Whoever is to act plays a card that there is not."""
    while True:
        for table in tables:
            if table.decision is not None:
                with pytest.raises(WhistError):
                    await table.decision.take({"play": "1X"})
                return
        await tables[0].changed(tables[0].version)
