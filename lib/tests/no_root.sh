#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A learner on a machine without root and without network, as lib/INSTALL.md describes: Debian 12 with a compiler, CMake, Ninja and MPI
# and none of the other libraries; an ordinary user; no network. Sets the kit up from collected sources, without oneDNN and then with
# it; each time judges a filled task 3 and trains the smallest network. An hour on two cores, most of it for oneDNN.
#
#   lib/tests/no_root.sh VENDOR [FOLDER]     VENDOR: made by ./odori vendor VENDOR; FOLDER: build-no-root (4 GB)
#
# As root on a Debian machine with mmdebstrap. Nothing is installed outside FOLDER.
# Exit codes: 0 task 3 passed; 1 not; 20 something is missing here.
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [[ $EUID -ne 0 || ! -d ${1:-} ]] || ! command -v mmdebstrap >/dev/null; then
  echo "no_root.sh: this needs root, mmdebstrap, and a folder that ./odori vendor has filled; the head of $0 says more." >&2
  exit 20
fi
vendor=$(cd "$1" && pwd) folder=${2:-$kit/build-no-root}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) root=$folder/root home=$folder/root/home/learner
[[ -e $home ]] || {
  mmdebstrap --variant=minbase --include=g++,cmake,ninja-build,libopenmpi-dev,openmpi-bin,bubblewrap bookworm "$root"
  mkdir "$home"
}
rm -rf "$home/odori" "$home/vendor"
git clone --quiet "$kit" "$home/odori"
cp -r "$vendor" "$home/vendor"
cp "$kit/solutions/03_ring/ring.cpp" "$home/odori/exercises/03_ring/ring.cpp"
chown -R 1000:1000 "$home"

export root
exec unshare --mount --pid --net --fork --kill-child bash -euc '
  ip link set lo up
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mkdir -p "$root/before"
  cd "$root" && pivot_root . before
  umount -l /before
  exec env -i HOME=/home/learner LANG=C.UTF-8 PATH=/usr/bin setpriv --reuid 1000 --regid 1000 --clear-groups bash -euc "
    cd ~/odori
    for library in oneapi fmt CLI nlohmann gtest; do # zlib.h comes with MPI
      [[ ! -e /usr/include/\$library ]] || { echo \"no_root.sh: \$library is installed in the new system, which must build it.\" >&2; exit 20; }
    done
    try() { # FOLDER OPTION...: a build there
      export ODORI_BUILD=~/\$1
      time ./odori setup --vendor ~/vendor \"\${@:2}\"
      ./odori check ring
      ./odori data synthetic
      time ./odori run multi_gpu --solution --model tiny --fraction 0.1 --epoch 1
    }
    try without_onednn -DODORI_ONEDNN=OFF
    try with_onednn"'
