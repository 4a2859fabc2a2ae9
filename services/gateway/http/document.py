"""What the OpenAPI documents of both listeners share: problems instead of the framework's own errors, and names."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from services.gateway.http.problems import MEDIA_TYPE, Problem

VERSION = "0.1.0"
# Any route may answer with a problem; the codes are in the contract of the service behind it.
PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A refusal",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


class DocumentedApp(FastAPI):
    """FastAPI whose document knows problems instead of FastAPI's own validation errors."""

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


def operation_id(route: APIRoute) -> str:
    """Names of generated clients: the route's function."""
    return route.name
