#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The simulated link (ODORI_LINK) held against a real one: the same two ranks on two simulated nodes, and on two hosts that
# are namespaces of this machine (lib/tests/hosts.sh), joined by a link that tc holds to a rate. Prints a table with the error
# of each communicator.
#
#   lib/bench/link_error.sh BUILD [RATE [ROUNDS [COMMUNICATOR ...]]]      BUILD 1gbit 5 and all that use the link
#
# Open MPI brings one direction at a time over a TCP connection; a card brings both. So there are two connections between two
# ranks here (OMPI_MCA_btl_tcp_links=1 shows what one does). One of some six such jobs hangs, and is started again.
#
# Needs root or user namespaces, and ip and tc (iproute2). All of it is gone when the script ends, however it ends. Root's ranks
# come before all others on this machine: over a real link they wait at work, and what else runs would be measured as well.
set -euo pipefail
script=$(realpath "$0")
here=${script%/*}
build=$(realpath "$1") rate=${2:-1gbit} rounds=${3:-5}
shift $(($# < 3 ? $# : 3))
communicators=("$@")
[[ $# -gt 0 ]] || communicators=(naive flat hierarchical two_dimensional non_cuda_aware ring tree)
latency=50us
first=()
[[ $EUID -ne 0 ]] || first=(nice -n -20)
bench=("${first[@]}" "$build/bin/bench_allreduce" --device cpu --model vgg --iterations 1 --rounds "$rounds" --communicator)

# shellcheck source=lib/tests/hosts.sh
. "$here/../tests/hosts.sh"
enter_namespaces "$script" "$build" "$rate" "$rounds" "${communicators[@]}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
start_hosts "$folder" 2
for host in node1 node2; do on_host $host tc qdisc replace dev eth0 root tbf rate "$rate" burst 256kb latency 20ms; done

export OMPI_MCA_btl_tcp_links=${OMPI_MCA_btl_tcp_links:-2}
real() {
  local said
  for _ in 1 2 3; do
    ! said=$(ODORI_TIMEOUT=20 mpirun_on node1,node2 "${bench[@]}" "$1") || { echo "$said" && return; }
  done
  return 1
}
simulated() {
  ODORI_NODES=0,1 ODORI_LINK=$rate,$latency "$here/../comm/mpirun.sh" mpirun --allow-run-as-root -np 2 --oversubscribe \
    --bind-to none "${bench[@]}" "$1"
}
milliseconds() { sed -n 's/.* rounds of 1; \([0-9.]*\) .*/\1/p'; } # the least: others at work only add to it

printf '%-16s  %s, tc, ms  simulated, ms   error\n' communicator "$rate"
for name in "${communicators[@]}"; do
  a=$(real "$name" | milliseconds) b=$(simulated "$name" | milliseconds)
  awk -v name="$name" -v a="$a" -v b="$b" 'BEGIN { printf "%-16s  %13.1f  %13.1f  %+5.1f %%\n", name, a, b, 100 * (b - a) / a }'
done
