#!/usr/bin/env bash
# shellcheck disable=SC2016 # the hosts' own variables
# The simulated link (ODORI_LINK) held against a real one: the same two ranks on two simulated nodes, and on two hosts that
# are namespaces of this machine, joined by a link that tc holds to a rate. Prints a table with the error of each communicator.
#
#   lib/bench/link_error.sh BUILD [RATE [ROUNDS [COMMUNICATOR ...]]]      BUILD 1gbit 5 and all that use the link
#
# Needs root or user namespaces, and ip and tc (iproute2). All of it is gone when the script ends, however it ends.
set -euo pipefail
script=$(realpath "$0")
build=$(realpath "$1") rate=${2:-1gbit} rounds=${3:-5}
shift $(($# < 3 ? $# : 3))
communicators=("$@")
[[ $# -gt 0 ]] || communicators=(naive flat hierarchical two_dimensional non_cuda_aware ring tree)
latency=50us
bench=("$build/bin/bench_allreduce" --device cpu --model vgg --iterations 1 --rounds "$rounds" --communicator)

if [[ -z ${ODORI_APART:-} ]]; then
  user=()
  [[ $EUID -eq 0 ]] || user=(--user --map-root-user)
  ODORI_APART=yes exec unshare "${user[@]}" --mount --net --pid --fork --kill-child --mount-proc --propagation private \
    "$script" "$build" "$rate" "$rounds" "${communicators[@]}"
fi

ip link set lo up # for what is simulated
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '127.0.0.1 localhost\n10.9.0.1 node1\n10.9.0.2 node2\n' >"$folder/hosts"
for node in node1 node2; do
  unshare --net --uts --ipc --mount --propagation private bash -c '
    hostname "$0" && mount -t tmpfs tmpfs /dev/shm && mount --bind "$1/hosts" /etc/hosts && ip link set lo up &&
      echo $$ >"$1/$0.new" && mv "$1/$0.new" "$1/$0" && exec sleep infinity' $node "$folder" &
done
for _ in {1..200}; do
  [[ ! -e $folder/node1 || ! -e $folder/node2 ]] || break
  sleep 0.05
done
at() { # HOST COMMAND...
  nsenter -t "$(<"$folder/$1")" -n -u -i -m -- "${@:2}"
}
ip link add eth0 netns "$(<"$folder/node1")" type veth peer name eth0 netns "$(<"$folder/node2")"
for i in 1 2; do
  at node$i ip address add 10.9.0.$i/24 dev eth0
  at node$i ip link set eth0 up
  at node$i tc qdisc replace dev eth0 root tbf rate "$rate" burst 256kb latency 20ms
done
printf '#!/bin/sh\nhost=$1\nshift\nexec nsenter -t "$(cat %s/$host)" -n -u -i -m -- /bin/sh -c "$*"\n' "$folder" >"$folder/agent"
chmod +x "$folder/agent"

real() {
  at node1 mpirun --allow-run-as-root --host node1,node2 -np 2 --bind-to none --mca plm rsh \
    --mca plm_rsh_agent "$folder/agent" --mca btl self,tcp --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
    "${bench[@]}" "$1"
}
simulated() {
  ODORI_NODES=0,1 ODORI_LINK=$rate,$latency "${script%/bench/*}/comm/mpirun.sh" mpirun --allow-run-as-root -np 2 --oversubscribe \
    --bind-to none "${bench[@]}" "$1"
}
milliseconds() { sed -n 's/.* rounds of 1; \([0-9.]*\) .*/\1/p'; } # the least: others at work only add to it

printf '%-16s  %s, tc, ms  simulated, ms   error\n' communicator "$rate"
for name in "${communicators[@]}"; do
  a=$(real "$name" | milliseconds) b=$(simulated "$name" | milliseconds)
  awk -v name="$name" -v a="$a" -v b="$b" 'BEGIN { printf "%-16s  %13.1f  %13.1f  %+5.1f %%\n", name, a, b, 100 * (b - a) / a }'
done
