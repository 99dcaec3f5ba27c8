"""The OpenAPI 3.1 document, made from the registry of operations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
from django.http import HttpRequest

from tournament.api.v1.operations import FORM_TYPE, NOT_FOUND, OPERATIONS, PREFIX, Operation, operation
from tournament.api.v1.responses import LINES_TYPE
from tournament.api.v1.schemas import LADDERS, SLUG
from tournament.api.v1.writing.once import KEY, MAX_KEY, REPLAYED

Json = dict[str, Any]
EVENTS_TYPE = "text/event-stream"
TEXT: Json = {"type": "string"}
_CONVERTER = re.compile(r"<(\w+):(\w+)>")
_OF_CONVERTER: dict[str, Json] = {
    "int": {"type": "integer", "minimum": 0},
    "slug": {"type": "string", "pattern": f"^{SLUG}$"},
    "uuid": {"type": "string", "format": "uuid"},
    "str": {"type": "string", "minLength": 1},
}
_ERRORS = {
    400: "A parameter or the body is wrong.",
    401: "There is no valid token.",
    403: "The token may not do this.",
    404: NOT_FOUND,
    409: "The state of the object does not permit it.",
    413: "The body is too large.",
    415: "The body has another type.",
    422: "It is understood and refused.",
    429: "Too many rows or requests: wait as `Retry-After` says.",
    503: "The site is busy, or stops: wait as `Retry-After` says.",
}
_ERROR_HEADERS: dict[int, Json] = {
    401: {"WWW-Authenticate": {"required": True, "schema": {"const": "Bearer"}}},
    429: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
    503: {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}},
}
_READ_HEADERS: Json = {
    "Access-Control-Allow-Origin": {"required": True, "schema": {"const": "*"}},
    "ETag": {"description": "Send it as `If-None-Match`.", "schema": TEXT},
}
_LIST_HEADERS: Json = {"Link": {"description": "The address of the next page.", "schema": TEXT}}
_CREATED_HEADERS: Json = {
    "Location": {"description": "Where programs read it.", "schema": {"type": "string", "format": "uri"}},
    REPLAYED: {"description": "It was created before.", "schema": {"const": "true"}},
}


KEPT = 4
"""The addresses of the site, such as with and without a proxy, for which a process keeps the document."""


class ApiFailure(msgspec.Struct, frozen=True):
    """What every error answers with."""

    ok: bool
    error: str
    """One sentence."""


@operation("GET", "openapi.json", answer=dict)
def openapi(request: HttpRequest) -> Json:
    """This interface as an OpenAPI 3.1 document."""
    return document(request.build_absolute_uri("/").removesuffix("/"))


@lru_cache(KEPT)
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
        kinds = [ApiFailure]
        for kind in filter(None, (*used, *given)):
            kinds += kind if isinstance(kind, tuple) else [kind]
        self._kinds = list(dict.fromkeys(kinds))
        template = "#/components/schemas/{name}"
        found, self.components = msgspec.json.schema_components(self._kinds, ref_template=template)
        self._found: dict[Any, Json] = dict(zip(self._kinds, found, strict=True))

    def of(self, kind: Any) -> Json:
        """The schema of a type, or of one of several types."""
        if isinstance(kind, tuple):
            return {"anyOf": [self._found[one] for one in kind]}
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
        schema = LADDERS if name == "code" else _OF_CONVERTER[converter]
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if one.query is not None:
        properties, required = schemas.properties(one.query)
        for name, schema in properties.items():
            entry = {"name": name, "in": "query", "required": name in required, "schema": schema}
            if schema.get("default") == "":  # it is the same as nothing, and has not the type of a number
                without = {word: value for word, value in schema.items() if word != "default"}
                entry |= {"schema": without, "allowEmptyValue": True}
            yield entry
    for name, about in _headers(one):
        yield {"name": name, "in": "header", "required": False, "schema": {**TEXT, **about}}


def _headers(one: Operation) -> Iterator[tuple[str, Json]]:
    """The headers of a request, and what their schemas say."""
    if one.method == "GET":
        yield (
            "If-None-Match",
            {"description": "The `ETag` of an answer that you have: 304 if it is the same."},
        )
    if one.events is not None:
        yield "Last-Event-ID", {"description": "The id of the last event that is known, as `after`."}
    if one.takes_key:
        about = "The same key again creates nothing more, and gets the first answer."
        yield KEY, {"description": about, "pattern": f"^[ -~]{{1,{MAX_KEY}}}$"}


def _responses(one: Operation, schemas: _Schemas) -> Json:
    """All answers by their statuses."""
    error = {"content": _content("application/json", schemas.of(ApiFailure))}
    done: Json = {"description": one.summary, "content": _success(one, schemas)}
    others: Json = {}
    if one.method == "GET":
        done["headers"] = _READ_HEADERS | (_LIST_HEADERS if one.rows is not None else {})
        others["304"] = {"description": "The answer is that of `If-None-Match`."}
    elif one.takes_key:
        done["headers"] = _CREATED_HEADERS
    if one.events is not None:
        others["204"] = {"description": "Asked for a stream: nothing follows."}
    for status in one.errors:
        headers = {"headers": _ERROR_HEADERS[status]} if status in _ERROR_HEADERS else {}
        others[str(status)] = {"description": _ERRORS[status], **headers, **error}
    if one.also is not None:
        others[str(one.also)] = {"description": one.summary, "content": done["content"]}
    return {str(one.status): done, **others}


def _success(one: Operation, schemas: _Schemas) -> Json:
    """The forms of a complete answer."""
    if one.rows is not None:
        row = schemas.of(one.rows)
        content = _content("application/json", _page(row)) | _content(LINES_TYPE, row)
    elif one.events is not None:
        event = schemas.of(one.events)
        content = _content("application/json", _page(event)) | _content(LINES_TYPE, event)
        content |= _content(EVENTS_TYPE, TEXT)
    else:
        content = _content(one.media, schemas.of(one.answer) if one.answer is not None else TEXT)
    return content


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
