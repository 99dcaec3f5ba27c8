"""The page for people at ``/api/``: every operation, from the same document as programs get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt

from engines.rules.registry import GAMES
from tournament.api import bots
from tournament.api.v1.openapi import EVENTS_TYPE, KEPT, Json, document
from tournament.api.v1.responses import LINES_TYPE
from tournament.views.exports import origin_of
from tournament.views.site.documents import render_markdown

_EXAMPLES = {"code": next(iter(GAMES)), "pk": "1", "number": "1", "ply": "0", "id": "1"}
"""What stands for the parts of addresses in the examples; others are their names in capitals."""


@dataclass(frozen=True, slots=True)
class ShownParameter:
    """A parameter of an address."""

    name: str
    text: SafeString
    is_required: bool


@dataclass(frozen=True, slots=True)
class ShownOperation:
    """A method of an address, as the page lists it."""

    name: str
    method: str
    address: str
    text: SafeString
    scopes: list[str]
    forms: list[str]
    parameters: list[ShownParameter]
    fields: list[ShownParameter]
    """Of the body."""
    example: str
    is_deprecated: bool


@csrf_exempt
def home(request: HttpRequest) -> HttpResponseBase:
    """For browsers the page, for programs the token's user and scopes (``tournament.api.bots.about``)."""
    is_for_people = request.method in {"GET", "HEAD"} and "Authorization" not in request.headers
    if not (is_for_people and "text/html" in request.headers.get("Accept", "")):
        response = bots.about(request)
    else:
        response = render(request, "site/api.html", {"groups": _groups(origin_of(request))})
    patch_vary_headers(response, ("Accept", "Authorization"))
    return response


@lru_cache(KEPT)
def _groups(origin: str) -> list[tuple[str, list[ShownOperation]]]:
    """All operations by the first part of their addresses."""
    groups: dict[str, list[ShownOperation]] = {}
    for tag, one in _operations(document(origin), origin):
        groups.setdefault(tag, []).append(one)
    return sorted(groups.items(), key=lambda group: (group[0] == "openapi.json", group[0]))


def _operations(described: Json, origin: str) -> Iterator[tuple[str, ShownOperation]]:
    """All operations with the first part of their addresses."""
    schemas = described["components"]["schemas"]
    for address, methods in described["paths"].items():
        for method, entry in methods.items():
            yield entry["tags"][0].replace("-", " "), _shown(origin, address, method.upper(), entry, schemas)


def _shown(origin: str, address: str, method: str, entry: Json, schemas: Json) -> ShownOperation:
    scopes: list[str] = next((need["token"] for need in entry["security"] if "token" in need), [])
    success = next(found for status, found in entry["responses"].items() if status.startswith("2"))
    forms = list(success.get("content", {}))
    return ShownOperation(
        name=entry["operationId"],
        method=method,
        address=address,
        text=render_markdown(entry["description"]),
        scopes=scopes,
        forms=forms,
        parameters=[_parameter(one) for one in entry["parameters"] if one["in"] == "query"],
        fields=list(_fields(entry, schemas)),
        example=_example(origin, address, method, entry, forms, has_scopes=bool(scopes)),
        is_deprecated=entry.get("deprecated", False),
    )


def _parameter(one: Json) -> ShownParameter:
    schema = one["schema"]
    text = schema.get("description", "")
    if "enum" in schema:
        text = f"{text} One of {', '.join(str(value) for value in schema['enum'] if value != '')}.".strip()
    if default := schema.get("default"):
        text = f"{text} Without it: {default}.".strip()
    return ShownParameter(one["name"], render_markdown(text), one["required"])


def _fields(entry: Json, schemas: Json) -> Iterator[ShownParameter]:
    """The fields of the body."""
    for content in entry.get("requestBody", {}).get("content", {}).values():
        schema = schemas[content["schema"]["$ref"].rpartition("/")[2]]
        for name, of_field in schema["properties"].items():
            is_required = name in schema.get("required", ())
            yield _parameter({"name": name, "schema": of_field, "required": is_required})


def _example(
    origin: str, address: str, method: str, entry: Json, forms: list[str], *, has_scopes: bool
) -> str:
    """A command that asks the address."""
    for one in entry["parameters"]:
        if one["in"] == "path":
            name = one["name"]
            address = address.replace(f"{{{name}}}", _EXAMPLES.get(name, name.upper()))
    words = ["curl"]
    if EVENTS_TYPE in forms:
        words.append(f"-N -H 'Accept: {LINES_TYPE}'")
    if has_scopes:
        words.append('-H "Authorization: Bearer $TOKEN"')
    body = entry.get("requestBody", {}).get("content", {})
    if "application/json" in body:
        words.append("-H 'Content-Type: application/json' -d @body.json")
    elif body:
        words.append("-F bundle=@bot.zip")
    elif method != "GET":
        words.append(f"-X {method}")
    return " ".join([*words, origin + address])
