"""Stand-ins for the images of Python, PostgreSQL, Redis and nginx, made of Debian's packages by debootstrap.

They bear the names that the Dockerfile and the compose file use. Their versions are Debian 12's: Python 3.11,
PostgreSQL 15, Redis 7.0, nginx 1.22. PostgreSQL's stand-in knows the variables of the real image that the
compose file sets.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.containers.engine import Docker
from tournament.embedded.plan import ROOT

RELEASE: Final = "bookworm"
MIRROR: Final = "http://deb.debian.org/debian"
BASE: Final = "duarena-standin"
PACKAGES: Final = "ca-certificates,python3-dev,python3-pip,postgresql,redis-server,gosu"
OURS: Final = "duarena"
COPIED: Final = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf", "/etc/resolv.conf")
"""Files of this machine without which the package registries may be unreachable."""

_POSTGRES_START: Final = r"""#!/bin/sh
set -e
bin=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/data
install -d -m 700 -o postgres -g postgres "$data" && install -d -o postgres -g postgres /var/run/postgresql
if [ ! -s "$data/PG_VERSION" ]; then
    echo "$POSTGRES_PASSWORD" >/tmp/password
    chmod 644 /tmp/password
    gosu postgres "$bin/initdb" -D "$data" -U "$POSTGRES_USER" --pwfile=/tmp/password \
        --auth=scram-sha-256 --auth-local=trust
    rm /tmp/password
    echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
    gosu postgres "$bin/pg_ctl" -D "$data" -w start -o "-c listen_addresses="
    gosu postgres "$bin/createdb" -U "$POSTGRES_USER" "$POSTGRES_DB"
    gosu postgres "$bin/pg_ctl" -D "$data" -w stop
fi
exec gosu postgres "$bin/postgres" -D "$data" -c "listen_addresses=*" "$@"
"""

STAND_INS: Final = {
    "python:3.12-slim": 'CMD ["python"]\n',
    "postgres:18": (
        "COPY start /usr/local/bin/start\n"
        "RUN chmod 755 /usr/local/bin/start && ln -s /usr/lib/postgresql/*/bin/* /usr/local/bin/\n"
        'ENTRYPOINT ["/usr/local/bin/start"]\n'
    ),
    "nginx:1.28.0": (
        "RUN apt-get update && apt-get install --yes --no-install-recommends nginx curl"
        " && rm -rf /var/lib/nginx && ln -s /var/cache/nginx /var/lib/nginx\n"
    ),
    "redis:7": "RUN install -d -o redis -g redis /data\nWORKDIR /data\n",
}
"""By name, what each adds to the common base."""


def make_images(docker: Docker) -> None:
    """Make the stand-ins that are missing, and the image of the site from this checkout."""
    if not docker.has_image(BASE):
        make_base(docker)
    for name, lines in STAND_INS.items():
        if not docker.has_image(name):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "start").write_text(_POSTGRES_START)
                Path(folder, "Dockerfile").write_text(f"FROM {BASE}\n{lines}")
                docker.run("build", "--quiet", "--network=host", "--tag", name, folder)
    docker.run("build", "--network=host", "--tag", OURS, str(ROOT))


def make_base(docker: Docker) -> None:
    """Make the common base, in some minutes; needs root and debootstrap."""
    with tempfile.TemporaryDirectory(prefix="duarena-base-") as name:
        root = Path(name, "root")
        command = ("debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, str(root), MIRROR)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for copied in COPIED:
            if Path(copied).exists():
                shutil.copyfile(copied, root / copied.removeprefix("/"))
        for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
            marker.unlink()  # the real image lets pip install beside its Python
        (root / "usr/bin/python").symlink_to("python3")
        shutil.rmtree(root / "var/cache/apt", ignore_errors=True)
        with subprocess.Popen(("tar", "-C", str(root), "-c", "."), stdout=subprocess.PIPE) as tar:
            docker.run("import", "-", BASE, stdin=tar.stdout)
