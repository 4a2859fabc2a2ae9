"""Pages rendered here: landing, documentation, mails in development. No script, nothing from other hosts."""

import email
import email.policy
import json
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException

from services.gateway.http import asyncapi
from services.gateway.http.parts import Parts, PartsOf

PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
}
MAILS_SHOWN = 50
FOLDER = Path(__file__).parent / "templates"

_templates = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
_templates.filters["pretty"] = lambda value: json.dumps(value, indent=2, ensure_ascii=False)


def routers(parts: Parts) -> list[APIRouter]:
    """The pages that the settings ask for."""
    made = [_style]
    if parts.settings.docs:
        made.append(_docs)
    if parts.settings.mail_dir is not None:
        made.append(_mail)
    if parts.settings.web_dir is None:
        made.append(_landing)
    return made


def mount_web(app: FastAPI, folder: Path) -> None:
    """Serve a built web client. Call last: it takes every path that is left."""
    app.mount("/", _WebClient(directory=folder, html=True), name="web")


def _page(name: str, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(name).render(**values), headers=PAGE_HEADERS)


_landing = APIRouter(include_in_schema=False)
_style = APIRouter(include_in_schema=False)
_docs = APIRouter(include_in_schema=False)
_mail = APIRouter(include_in_schema=False)


@_landing.get("/")
async def landing(request: Request, parts: PartsOf) -> HTMLResponse:
    return _page(
        "landing.html", version=request.app.version, docs=parts.settings.docs, mail=parts.settings.mail_dir is not None
    )


@_style.get("/style.css")
async def style() -> Response:
    return Response(_stylesheet(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})


@lru_cache(maxsize=1)
def _stylesheet() -> bytes:
    return (FOLDER / "style.css").read_bytes()


@_docs.get("/openapi.json")
async def openapi(request: Request) -> JSONResponse:
    app: FastAPI = request.app
    return JSONResponse(app.openapi())


@_docs.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """Every route of the OpenAPI document, for reading."""
    app: FastAPI = request.app
    return _page("rest.html", api=app.openapi(), schema=_schema_name)


@_docs.get("/asyncapi.json")
async def socket_contract(request: Request, parts: PartsOf) -> JSONResponse:
    return JSONResponse(_asyncapi(request, parts))


@_docs.get("/docs/socket")
async def socket_docs(request: Request, parts: PartsOf) -> HTMLResponse:
    """Every frame of the AsyncAPI document, for reading."""
    return _page("socket.html", api=_asyncapi(request, parts), schema=_schema_name)


def _asyncapi(request: Request, parts: Parts) -> dict[str, Any]:
    socket_url = parts.socket_url(request.url.hostname or "localhost")
    return asyncapi.document(request.app.version, socket_url, parts.settings)


def _schema_name(schema: dict[str, Any]) -> str:
    """A JSON schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_schema_name(each) for each in schema["anyOf"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " or ".join(json.dumps(each) for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_schema_name(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "any")


@_mail.get("/dev/mail")
def mails(parts: PartsOf) -> HTMLResponse:
    """What would have been mailed, newest first; only where a folder of mails is set (development)."""
    folder = parts.settings.mail_dir
    assert folder is not None
    files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime, reverse=True) if folder.is_dir() else []
    shown = []
    for file in files[:MAILS_SHOWN]:
        message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        body = message.get_body(("plain", "html"))
        shown.append(
            {
                "to": str(message["to"] or ""),
                "subject": str(message["subject"] or ""),
                "date": str(message["date"] or ""),
                "text": body.get_content() if body is not None else "",
            }
        )
    return _page("mail.html", mails=shown)


class _WebClient(StaticFiles):
    """A single-page client: unknown paths without a file ending are its own routes."""

    async def get_response(self, path: str, scope: Any) -> Response:
        parts: Parts = scope["app"].state.parts
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != HTTPStatus.NOT_FOUND or "." in path.rpartition("/")[2] or path.startswith("v1/"):
                raise
            response = await super().get_response("index.html", scope)
        host = Request(scope).url.hostname or "localhost"
        socket = parts.socket_url(host)
        origin = "/".join(socket.split("/")[:3])
        response.headers["Content-Security-Policy"] = (
            f"default-src 'self'; connect-src 'self' {origin}; img-src 'self' data:; base-uri 'none'; "
            "form-action 'self'; frame-ancestors 'none'; object-src 'none'"
        )
        response.headers.setdefault("Cache-Control", "no-cache")
        return response
