"""What all bodies share: ids, and requests that forbid what they do not know (reliability A7)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# Ids are 32 lower-case hexadecimal digits, as on the socket.
Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]


Uuid = Annotated[
    str, Field(pattern="^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$")
]


class Request(BaseModel):
    """A body: unknown fields are refused, strings are not stripped, numbers are not made of strings."""

    model_config = ConfigDict(extra="forbid", strict=True)
