"""The proxy of docker-compose.yml: its configuration agrees with that file, the site and the documents.

nginx itself is not run here; docs/deployment.md says where it was.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.urls import resolve

from tournament.embedded.plan import ROOT
from tournament.monitoring.logs import hide_secrets
from tournament.settings import MAX_BUNDLE_BYTES, STATIC_URL

CONFIGURATION = (ROOT / "docs" / "nginx" / "nginx.conf").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
NETWORKS = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["networks"]
DOCUMENT = (ROOT / "docs" / "deployment.md").read_text()
PROXY = SERVICES["proxy"]
MOUNTS = {target: source for source, target, *_ in (word.split(":") for word in PROXY["volumes"])}


def values(directive: str) -> list[str]:
    """The values of a directive, wherever it is."""
    return re.findall(
        rf"^\s*(?:location .*{{ )?{re.escape(directive)}\s+([^;]+);", CONFIGURATION, re.MULTILINE
    )


def test_every_file_that_the_configuration_names_is_in_the_container() -> None:
    given = {*MOUNTS, "/etc/nginx/mime.types", "/dev", *PROXY["tmpfs"]}
    named = re.findall(r"(?<=\s)/(?:etc|run|dev|srv|var)\S*?(?=;| \w)", CONFIGURATION)
    assert {"/run/nginx.pid", "/etc/nginx/certificates/privkey.pem", "/var/www/acme", "/srv"} <= set(named)
    for path in named:
        assert any(Path(path).is_relative_to(folder) for folder in given) or path == "/srv", path
    assert MOUNTS["/etc/nginx/nginx.conf"] == "./docs/nginx/nginx.conf"


def test_no_log_has_the_secret_of_a_link() -> None:
    (pattern,) = re.findall(r'^ +"~(\S+)" "\$page-";', CONFIGURATION, re.MULTILINE)
    masked = re.compile(pattern.replace("(?<page>", "(?P<page>"))
    secret = ("/password-reset/3-x/", "/account/email/x/", "/account/digest/1:x/")
    for path in secret:
        found = masked.match(path)
        assert found is not None
        assert hide_secrets(path) == f"{found['page']}-"
    assert not any(map(masked.match, ("/password-reset/", "/password-reset/sent/", "/account/")))
    locations = re.findall(r"location ~ (\S+) {\s+(\S+)", CONFIGURATION)
    first = next(one for one in locations if re.match(one[0], secret[0]))
    assert first[1] == "error_log"
    assert all(re.match(first[0], path) for path in secret)
    assert "$uri" not in CONFIGURATION.partition("log_format site")[2].partition(";")[0]
    assert "$request " not in CONFIGURATION


def test_static_files_are_those_that_the_migration_collects() -> None:
    static = MOUNTS[f"/srv/{STATIC_URL.strip('/')}"]
    folder = SERVICES["migrate"]["environment"]["DUARENA_STATIC"]
    assert f"{static}:{folder}" in SERVICES["migrate"]["volumes"]
    assert "manage.py collectstatic" in SERVICES["migrate"]["command"][-1]
    assert folder in (ROOT / "Dockerfile").read_text()
    assert f"location /{STATIC_URL.strip('/')}/ {{" in CONFIGURATION


def test_it_reaches_the_site_and_nothing_else_by_a_network_with_the_documented_address() -> None:
    (address,) = {words["ipv4_address"] for words in PROXY["networks"].values()}
    assert f"DUARENA_PROXY={address}\n" in DOCUMENT
    (words,) = NETWORKS["proxy"]["ipam"]["config"]
    assert ipaddress.ip_address(address) in ipaddress.ip_network(words["subnet"])
    reached = {name for name, service in SERVICES.items() if "proxy" in service.get("networks", [])}
    assert reached == {"site", "proxy"}
    (bound,) = [word for word in SERVICES["site"]["command"] if word.startswith("--bind")]
    assert values("set $site") == [f"site:{bound.rpartition(':')[2]}"]
    assert set(values("proxy_pass")) == {"http://$site"}


def test_no_container_of_the_site_gets_the_address_of_the_proxy_and_ten_have_one() -> None:
    (words,) = NETWORKS["proxy"]["ipam"]["config"]
    subnet, given = (ipaddress.ip_network(words[name]) for name in ("subnet", "ip_range"))
    assert given.subnet_of(subnet)  # type: ignore[arg-type]
    assert given.num_addresses > 10
    for fixed in (words["gateway"], PROXY["networks"]["proxy"]["ipv4_address"]):
        assert ipaddress.ip_address(fixed) not in given


def test_its_ports_are_published_and_its_health_check_has_an_answer() -> None:
    listened = [value.split()[0] for value in values("listen")]
    assert [word.rpartition(":")[2] for word in PROXY["ports"]] == listened == ["80", "443"]
    path = PROXY["healthcheck"]["test"][-1].removeprefix("http://127.0.0.1")
    assert f"location = {path} {{" in CONFIGURATION


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-For", "X-Forwarded-Proto", "X-Request-ID"])
def test_the_site_gets_the_headers_that_it_reads(header: str) -> None:
    assert sum(value.split()[0] == header for value in values("proxy_set_header")) == 1


@pytest.mark.parametrize(
    "path", ["/log-in/", "/log-in/code/", "/sign-up/", "/password-reset/", "/account/again/"]
)
def test_pages_of_passwords_have_their_own_limit(path: str) -> None:
    assert resolve(path)
    (pattern,) = re.findall(r"location ~ (\^\S+) \{\s+limit_req zone=passwords", CONFIGURATION)
    assert re.search(pattern, path)


def test_bundles_may_be_as_large_as_the_site_takes_and_other_requests_may_not() -> None:
    (pattern,) = re.findall(r"location ~ (\^\S+) \{\s+client_max_body_size 65m", CONFIGURATION)
    for path in ("/upload/", "/api/bots/"):
        assert resolve(path)
        assert re.search(pattern, path)
    assert values("client_max_body_size") == ["512k", "8m", "65m"]
    assert MAX_BUNDLE_BYTES == 64 * 1024 * 1024


def test_the_log_has_the_id_of_the_request_and_not_its_query() -> None:
    assert values("access_log")[0] == "/dev/stdout site"
    (form,) = values("log_format")
    assert "$request_id" in form
    assert "$request " not in form
    assert "$request_uri" not in form
    assert "$args" not in form
