"""What the OpenAPI documents of both listeners share: problems instead of the framework's own errors, and names."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from services.gateway.http.parts import Parts
from services.gateway.http.problems import MEDIA_TYPE, Problem, install

VERSION = "0.1.0"
# Any route may answer with a problem; the codes are in the contract of the service behind it.
PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A refusal",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


class DocumentedApp(FastAPI):
    """FastAPI whose document knows problems instead of FastAPI's own validation errors.

    It serves none by itself: FastAPI's pages load their scripts from elsewhere.
    """

    def __init__(self, *, title: str, description: str, parts: Parts) -> None:
        super().__init__(
            title=title,
            version=VERSION,
            description=description,
            docs_url=None,
            redoc_url=None,
            openapi_url=None,
            redirect_slashes=False,  # it would name whatever Host was sent, by http
            responses=PROBLEM,
            generate_unique_id_function=_operation_id,
            license_info={"name": "MIT"},
        )
        self.state.parts = parts
        install(self)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schema = super().openapi()
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = Problem.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for methods in schema["paths"].values():
                for route in methods.values():
                    route["responses"].pop(str(int(HTTPStatus.UNPROCESSABLE_ENTITY)), None)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _operation_id(route: APIRoute) -> str:
    """Names of generated clients: the route's function."""
    return route.name
