#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kit on another release of Debian, as someone meets it who has just cloned it: what is committed, in a file system of
# that release, which has nothing but git in it, by the README's commands. An hour on two cores.
#
#   lib/tests/debian.sh [SUITE [FOLDER [COMMAND]]]     trixie, build-SUITE (6 GB, made where it isn't there yet), "./odori test --all"
#
# As root on a Debian machine with a network; needed is mmdebstrap (apt-get install mmdebstrap). Nothing is installed outside
# FOLDER, and what was mounted and started goes with the command.
# Exit codes: that of COMMAND; 20 something is missing here.
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=${1:-trixie} folder=${2:-$kit/build-${1:-trixie}} command=${3:-./odori test --all}
if [[ $EUID -ne 0 ]] || ! command -v mmdebstrap >/dev/null; then
  echo "debian.sh: this needs root and mmdebstrap; the head of $0 says more." >&2
  exit 20
fi
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) root=$folder/root
[[ -e $root/root ]] || mmdebstrap --variant=minbase --include=ca-certificates,git "$suite" "$root"
rm -rf "$root/root/odori"
git clone --quiet "$kit" "$root/root/odori"
cp /etc/resolv.conf /etc/hosts "$root/etc/"

export root command
exec unshare --mount --pid --fork --kill-child bash -euc '
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mkdir -p "$root/before"
  cd "$root" && pivot_root . before # in a chroot no user namespace, and so no sandbox, can be made
  umount -l /before
  exec env -i CI="${CI:-}" HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin bash -c "cd ~/odori && $command"'
