"""The RPC that hands out what is held of a person: translation between protobuf and the use case (P45)."""
# ruff: noqa: N802 - named by the contract

import json
from typing import Any

from services.tables.grpc_api.friends import id_of
from services.tables.handlers import personal
from services.tables.handlers.personal import PersonalStore
from whist.tables.v1 import tables_pb2


class PersonalApi:
    """Decode, one call, encode."""

    def __init__(self, store: PersonalStore) -> None:
        self._personal = store

    async def ExportAccount(
        self, request: tables_pb2.ExportAccountRequest, context: Any
    ) -> tables_pb2.ExportAccountResponse:
        found = await personal.export(id_of(request.account_id, "account_id").bytes, store=self._personal)
        return tables_pb2.ExportAccountResponse(export_json=json.dumps(found, ensure_ascii=False))
