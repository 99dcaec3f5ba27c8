#!/bin/sh
# What the virtual machine of `run.sh` does, as root, in a checkout in /opt/duarena: the sandbox at each way to level A of
# docs/sandbox.md, its tests, `sudo ./arena up`, and the units of docs/systemd. The last line is `vm: passed` or `vm: failed`.
set -u

cd /opt/duarena || exit 1
sections=$(cat sections 2>/dev/null)
rm -f sections
export LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DUARENA_PURE=1
python=/opt/duarena/.venv/bin/python
failed=0

section() { [ -z "$sections" ] || case " $sections " in *" $1 "*) ;; *) return 1 ;; esac }
passed() { echo "vm: ok: $1 ($(cut -d. -f1 /proc/uptime) s)"; }
broken() { echo "vm: FAILED: $1"; failed=1; }
check() { name=$1; shift; if "$@"; then passed "$name"; else broken "$name"; fi; }

# Succeeds as soon as the command does; fails after so many seconds.
wait_for() {
    until=$(($(date +%s) + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s)" -lt $until ] || return 1
        sleep 1
    done
}

# The level, then the command that prints it; again where that says that the machine may be too busy, as a worker does.
has_level() {
    wanted="Sandbox: level $1"
    shift
    for _ in 1 2 3; do
        "$@" >/tmp/level 2>&1
        grep -q 'workers probe again' /tmp/level || break
    done
    cat /tmp/level
    grep -q "$wanted" /tmp/level
}
in_unit() { systemd-run --quiet --wait --pipe --property=WorkingDirectory=/opt/duarena --setenv=DUARENA_PURE=1 --property=User=duarena "$@"; }
says() { grep -q "$1" /tmp/level; }

ln -s /opt/environment .venv
echo "$PWD/.venv" >.venv/made-for
{ echo "$PWD/.venv"; cat requirements.txt requirements-dev.txt; } | cksum >.venv/stamp-dev
useradd --system --home-dir /var/lib/duarena duarena
useradd --system --home-dir /var/cache/duarena-players duarena-players
useradd --create-home user
echo "vm: $(. /etc/os-release; echo "$PRETTY_NAME"), Linux $(uname -r), $(systemctl --version | head -n 1), $(bwrap --version), $($python -V)"

if section scope; then
    loginctl enable-linger user
    id=$(id -u user)
    wait_for 60 systemctl --quiet is-active "user@$id.service"
    check "a user's scope" has_level A sudo -u user XDG_RUNTIME_DIR="/run/user/$id" DUARENA_PURE=1 \
        systemd-run --user --scope -p Delegate=yes "$python" -m workers sandbox
fi

if section levels; then
    check 'Delegate=yes' has_level A in_unit --property=Delegate=yes "$python" -m workers sandbox
    check 'DelegateSubgroup=main' has_level A in_unit --property=Delegate=yes --property=DelegateSubgroup=main "$python" -m workers sandbox
    check 'another subgroup' has_level A in_unit --property=Delegate=yes --property=DelegateSubgroup=other "$python" -m workers sandbox
    check 'a part of the controllers' has_level A in_unit --property=Delegate='memory pids' --property=DelegateSubgroup=main "$python" -m workers sandbox
    check 'no delegation' has_level B in_unit "$python" -m workers sandbox
    check 'no delegation: the remedy' says 'Delegate=yes'
    check 'a wrapper beside the worker' has_level B in_unit --property=Delegate=yes sh -c "$python -m workers sandbox; true"
    check 'a wrapper: the sentence' says 'processes of its own'
    check 'a wrapper in a subgroup' has_level A in_unit --property=Delegate=yes --property=DelegateSubgroup=main sh -c "$python -m workers sandbox; true"
fi

if section tests; then
    mkdir -p /var/tmp/tests && chown user: /var/tmp/tests
    as_user() { "$python" -m workers.sandbox.entrance --own /var/tmp/tests -- "$python" -m pytest -p no:cacheprovider \
        -rs --basetemp=/var/tmp/tests/run -m 'not root' "$@"; }
    check "the sandbox's tests, as a user" as_user tests/workers/sandbox
fi

if section root; then
    check "the sandbox's tests, as root" "$python" -m pytest -p no:cacheprovider -rs -m root tests/workers/sandbox
fi

if section up; then
    mkdir -p /var/tmp/up && chown user: /var/tmp/up
    ./arena up --port 8100 --workers 1 --data /var/tmp/up >/tmp/up.log 2>&1 &
    check 'sudo ./arena up' wait_for 900 grep -q 'level A' /tmp/up.log
    kill -TERM $!
    wait $!
    cat /tmp/up.log
fi

if section units; then
    . tests/vm/units.sh
fi

if [ $failed = 0 ]; then echo 'vm: passed'; else echo 'vm: failed'; fi
sync
