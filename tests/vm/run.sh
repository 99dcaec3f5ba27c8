#!/bin/sh
# Runs `inside.sh` on this checkout in the virtual machine that `build.sh` has built; exit code 0 if all passed.
#
#   tests/vm/run.sh FOLDER [SECTION]...
#
# FOLDER has the image, which does not change. The sections are those of `inside.sh`: scope, levels, tests, root, up, units;
# all without one. Needs qemu-system-x86_64. It uses no KVM, so the machine is slow; ACCEL=kvm uses it.
set -eu

folder=$(realpath "${1:?usage: $0 FOLDER [SECTION]...}")
shift
checkout=$(realpath "$(dirname "$0")/../..")
run=$(mktemp -d "$folder/run.XXXXXX")
trap 'rm -rf "$run"' EXIT INT TERM

mkdir "$run/tests"
echo "$*" >"$run/sections"
git -C "$checkout" ls-files -z --cached --others --exclude-standard |
    tar -C "$checkout" --null --files-from=- --ignore-failed-read -cf "$run/checkout.tar"
tar -C "$run" -rf "$run/checkout.tar" sections
nice -n 10 qemu-system-x86_64 -accel "${ACCEL:-tcg}" -cpu max -smp 2 -m 3072 -nodefaults -display none -no-reboot \
    -serial stdio -nic none -device virtio-rng-pci \
    -drive "file=$folder/image.ext4,format=raw,if=virtio,snapshot=on" \
    -drive "file=$run/checkout.tar,format=raw,if=virtio,readonly=on" \
    -kernel "$folder/vmlinuz" -initrd "$folder/initrd" \
    -append 'root=/dev/vda rw console=ttyS0 edd=off no_timer_check panic=-1 quiet loglevel=3 systemd.show_status=no net.ifnames=0' </dev/null |
    tee "$run/log"
grep -q '^vm: passed' "$run/log"
