# The commands of "With systemd" in docs/deployment.md, and a game. `inside.sh` reads this file.
token=duarena_$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
database() { sudo -u postgres psql --quiet --tuples-only --no-align "$@"; }
finished() { [ "$(database --command='SELECT count(*) FROM tournament_game WHERE record_id IS NOT NULL' duarena)" -gt 0 ]; }

database --command="CREATE ROLE duarena LOGIN PASSWORD 'PASSWORD'"
sudo -u postgres createdb --owner=duarena duarena
echo 'requirepass PASSWORD' >>/etc/redis/redis.conf && systemctl restart redis-server
install -d -m 750 -g duarena /etc/duarena
cat >/etc/duarena/site.env <<ENV
DATABASE_URL=postgres://duarena:PASSWORD@127.0.0.1/duarena
REDIS_URL=redis://:PASSWORD@127.0.0.1:6379/0
DUARENA_DATA=/var/lib/duarena
DUARENA_STATIC=/var/lib/duarena/static
DUARENA_SITE=http://127.0.0.1:8000
DUARENA_HOSTS=127.0.0.1
DUARENA_LADDER_GAMES=30
DUARENA_WORKER_TOKEN=$token
DUARENA_PURE=1
ENV
cat >/etc/duarena/worker.env <<ENV
DUARENA_SITE=http://127.0.0.1:8000
DUARENA_TOKEN=$token
REDIS_URL=redis://:PASSWORD@127.0.0.1:6379/0
DUARENA_SANDBOX=A
DUARENA_PURE=1
ENV
chmod 600 /etc/duarena/*.env
cp docs/systemd/duarena* /etc/systemd/system/ && systemctl daemon-reload
check 'the units of the site start' systemctl enable --now duarena.target
systemctl enable --now duarena-players duarena-validators
check 'the units of the site answer' wait_for 300 "$python" -c \
    'import urllib.request; urllib.request.urlopen("http://127.0.0.1:8000/healthz?live")'
check 'a player of the units has level A' wait_for 300 sh -c 'journalctl --unit=duarena-players | grep -q "level A"'
check 'the units play and record a game' wait_for 600 finished
systemctl --no-pager --plain list-units 'duarena*'
[ $failed = 0 ] || journalctl --no-pager --unit='duarena-*' --lines=100
