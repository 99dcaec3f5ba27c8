#!/bin/sh
# Builds the image of the virtual machine of `run.sh`: Debian 13 with systemd, control groups of version 2, and what
# the site and its tests need. As root, on Debian or Ubuntu, with debootstrap, e2fsprogs and network.
#
#   tests/vm/build.sh FOLDER [MIRROR]
#
# FOLDER is outside the checkout; it gets image.ext4, vmlinuz and initrd (2 GB). MIRROR is the address of a Debian
# mirror; without it, the one of this machine's apt.
set -eu

folder=$(realpath -m "${1:?usage: $0 FOLDER [MIRROR]}")
checkout=$(realpath "$(dirname "$0")/../..")
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' 'ShortDesc: Packages' | grep -m1 '/debian/*$')}
root=$folder/root
packages=systemd,systemd-sysv,dbus,libpam-systemd,dbus-user-session,udev,kmod,linux-image-cloud-amd64,ca-certificates,sudo,procps,iproute2,git,gcc,libc6-dev
packages=$packages,python3,python3-dev,python3-venv,bubblewrap,postgresql,redis-server,nodejs,default-jre-headless,perl

rm -rf "$root"
mkdir -p "$folder"
debootstrap --variant=minbase --include="$packages" trixie "$root" "$mirror"
echo duarena-vm >"$root/etc/hostname"
echo '127.0.0.1 localhost duarena-vm' >"$root/etc/hosts"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"

# The environment of a checkout in /opt/duarena, and of its tests; inside there is no network.
mkdir -p "$root/opt/duarena"
cp "$checkout/requirements.txt" "$checkout/requirements-dev.txt" "$root/opt/duarena/"
python() { chroot "$root" env -u PIP_FIND_LINKS PIP_CERT=/etc/ssl/certs/ca-certificates.crt LANG=C.UTF-8 "$@"; }
python python3 -m venv /opt/environment
python /opt/environment/bin/pip install --quiet -r /opt/duarena/requirements-dev.txt -r /opt/duarena/requirements.txt
rm -r "$root/opt/duarena" "$root/root/.cache" || true

cat >"$root/etc/systemd/system/tests.service" <<'UNIT'
[Unit]
Description=The commands of tests/vm/inside.sh, on the second disk
After=multi-user.target postgresql.service redis-server.service

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'mkdir -p /opt/duarena && tar -C /opt/duarena -xf /dev/vdb && exec sh /opt/duarena/tests/vm/inside.sh'
ExecStopPost=/bin/systemctl poweroff --no-block
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
TimeoutStartSec=infinity
UNIT
mkdir -p "$root/etc/systemd/system/default.target.wants"
chroot "$root" systemctl --quiet set-default multi-user.target
chroot "$root" systemctl --quiet mask serial-getty@ttyS0.service getty@tty1.service systemd-networkd-wait-online.service apt-daily.timer \
    apt-daily-upgrade.timer
ln -sf ../tests.service "$root/etc/systemd/system/multi-user.target.wants/tests.service"
sed -i 's/^After=multi-user.target /After=/' "$root/etc/systemd/system/tests.service"

cp -L "$root"/boot/vmlinuz-* "$folder/vmlinuz"
cp -L "$root"/boot/initrd.img-* "$folder/initrd"
rm -f "$folder/image.ext4"
truncate -s 6G "$folder/image.ext4"
mkfs.ext4 -q -F -L root -d "$root" "$folder/image.ext4"
rm -rf "$root"
