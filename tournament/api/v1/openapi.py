"""The OpenAPI 3.1 document, made from the registry of operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from django.http import HttpRequest

from tournament.api.v1.operations import NOT_FOUND, OPERATIONS, PREFIX, Operation, operation
from tournament.api.v1.responses import LINES_TYPE

Json = dict[str, Any]
EVENTS_TYPE = "text/event-stream"
FORM_TYPE = "multipart/form-data"
_CONVERTER = re.compile(r"<(\w+):(\w+)>")
_OF_CONVERTER: dict[str, Json] = {
    "int": {"type": "integer", "minimum": 0},
    "slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"},
    "uuid": {"type": "string", "format": "uuid"},
    "str": {"type": "string", "minLength": 1},
}
_ERRORS = {
    "400": "A parameter or the body is wrong.",
    "401": "There is no valid token.",
    "403": "The token may not do this.",
    "404": NOT_FOUND,
    "409": "The state of the object does not permit it.",
    "422": "It is understood and refused.",
    "429": "Too many rows or requests: wait as `Retry-After` says.",
}
_READ_ERRORS = ("400", "401", "404", "429")


class ApiFailure(msgspec.Struct, frozen=True):
    """What every error answers with."""

    ok: bool
    error: str
    """One sentence."""


@operation("GET", "openapi.json", answer=dict)
def openapi(request: HttpRequest) -> Json:
    """This interface as an OpenAPI 3.1 document."""
    return document(request.build_absolute_uri("/").removesuffix("/"))


def document(origin: str) -> Json:
    """The document; ``origin`` is the site's address without a slash at its end."""
    schemas = _Schemas()
    paths: dict[str, Json] = {}
    for one in OPERATIONS:
        entry = _described(one, schemas)
        route = _CONVERTER.sub(r"{\2}", one.path)
        paths.setdefault(f"/{PREFIX}{route}", {})[one.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {"title": "Duarena", "version": "1", "description": "Everything for programs."},
        "servers": [{"url": origin}],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


class _Schemas:
    """The schemas of all types of the operations; types with one name must be the same."""

    def __init__(self) -> None:
        used = (one.answer or one.rows or one.events for one in OPERATIONS)
        given = (kind for one in OPERATIONS for kind in (one.query, one.body, one.form))
        kinds = [ApiFailure, *filter(None, used), *filter(None, given)]
        self._kinds = list(dict.fromkeys(kinds))
        template = "#/components/schemas/{name}"
        found, self.components = msgspec.json.schema_components(self._kinds, ref_template=template)
        self._found: dict[Any, Json] = dict(zip(self._kinds, found, strict=True))

    def of(self, kind: Any) -> Json:
        return self._found[kind]

    def properties(self, kind: type[msgspec.Struct]) -> tuple[dict[str, Json], list[str]]:
        """The schemas of the fields, and the names of those that are required."""
        schema = self.components[self.of(kind)["$ref"].rpartition("/")[2]]
        return schema["properties"], schema.get("required", [])


def _described(one: Operation, schemas: _Schemas) -> Json:
    entry: Json = {
        "operationId": one.view.__name__,
        "tags": [one.path.partition("/")[0]],
        "summary": one.summary,
        "description": one.description,
        "parameters": list(_parameters(one, schemas)),
        "responses": _responses(one, schemas),
        "security": [{"token": list(one.scopes)}] if one.scopes else [{}, {"token": []}],
    }
    if one.ending is not None:
        entry["deprecated"] = True
    if one.body is not None:
        entry["requestBody"] = {
            "required": True,
            "content": _content("application/json", schemas.of(one.body)),
        }
    if one.form is not None:
        entry["requestBody"] = {"required": True, "content": _content(FORM_TYPE, schemas.of(one.form))}
    return entry


def _parameters(one: Operation, schemas: _Schemas) -> Iterator[Json]:
    for converter, name in _CONVERTER.findall(one.path):
        yield {"name": name, "in": "path", "required": True, "schema": _OF_CONVERTER[converter]}
    if one.query is not None:
        properties, required = schemas.properties(one.query)
        for name, schema in properties.items():
            yield {"name": name, "in": "query", "required": name in required, "schema": schema}
    if one.events is not None:
        yield {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}


def _responses(one: Operation, schemas: _Schemas) -> Json:
    if one.rows is not None:
        row = schemas.of(one.rows)
        content = _content("application/json", _page(row)) | _content(LINES_TYPE, row)
    elif one.events is not None:
        event = schemas.of(one.events)
        content = _content("application/json", _page(event)) | _content(LINES_TYPE, event)
        content |= _content(EVENTS_TYPE, {"type": "string"})
    else:
        answer = schemas.of(one.answer) if one.answer is not None else {"type": "string"}
        content = _content(one.media, answer)
    error = {"content": _content("application/json", schemas.of(ApiFailure))}
    errors = _ERRORS if one.scopes else _READ_ERRORS
    ended = {"204": {"description": "Asked for a stream: nothing follows."}} if one.events is not None else {}
    return {
        str(one.status): {"description": one.summary, "content": content},
        **ended,
        **{status: {"description": _ERRORS[status], **error} for status in errors},
    }


def _page(row: Json) -> Json:
    """The schema of a page of rows."""
    following = {"type": ["string", "null"], "format": "uri"}
    return {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": row}, "next": following},
        "required": ["rows", "next"],
    }


def _content(kind: str, schema: Json) -> Json:
    return {kind: {"schema": schema}}
