#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The container image of jobscripts/containers, built and used as README.md there says: the demo and a judged exercise, as root and as an
# ordinary user, with two cores, 64 MB of shared memory and a home folder that is read-only. Half an hour on two cores.
#
#   lib/tests/container.sh [FOLDER]     build-container
#
# As root on a Debian machine with a network; needed are podman, runc and mmdebstrap. Instead of Debian's image from a registry,
# the same file system is made from packages. The image and FOLDER stay for the next time.
# Exit codes: 0 all passed; 1 not; 20 something is missing here.
set -uo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:-$kit/build-container}
if [[ $EUID -ne 0 ]] || ! command -v mmdebstrap podman runc >/dev/null; then
  echo "container.sh: this needs root, podman, runc and mmdebstrap; the head of $0 says more." >&2
  exit 20
fi
mkdir -p "$folder" && folder=$(cd "$folder" && pwd)
limits=(--ulimit nofile=1024:1024 --ulimit nproc=1024:1024) # those of podman are above what some machines allow
failures=0

passes() { # WHAT COMMAND...
  local what=$1
  shift
  echo "== $what"
  if "$@" </dev/null >"$folder/output" 2>&1; then
    tail -n 3 "$folder/output"
  else
    printf 'FAILED with %s: %s\n%s\n' $? "$what" "$(tail -n 30 "$folder/output")"
    failures=$((failures + 1))
  fi
}

if ! podman image exists localhost/odori; then
  [[ -e $folder/debian.tar ]] || mmdebstrap --variant=minbase --include=ca-certificates bookworm "$folder/debian.tar" || exit 20
  podman import "$folder/debian.tar" localhost/debian:12 || exit 20
  podman build --runtime runc --network host "${limits[@]}" --build-arg BASE=localhost/debian:12 -t localhost/odori \
    -f "$kit/jobscripts/containers/Dockerfile" "$kit" || exit 1
fi

# in_container USER COMMAND: in one clone of what is committed, which this user owns.
in_container() {
  local user=$1 command=$2
  [[ -e $folder/odori ]] || git clone --quiet "$kit" "$folder/odori"
  chown -R "$user:$user" "$folder/odori"
  mkdir -p "$folder/home"
  podman run --rm --runtime runc --privileged --network host "${limits[@]}" --cpus 2 --shm-size 64m --user "$user:$user" \
    -e HOME=/home/learner -v "$folder/home:/home/learner:ro" -v "$folder/odori:/odori" localhost/odori \
    bash -c "$command"
}

for user in 0 1000; do
  passes "the demo as user $user" in_container $user './odori demo'
  passes "a judged exercise as user $user" in_container $user \
    './odori check ring --lang en --program solutions/03_ring/ring.cpp'
done
echo "$failures failed"
exit $((failures > 0))
