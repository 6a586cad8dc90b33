#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Task 2 on several hosts, which are namespaces of this machine (hosts.sh). Each communicator trains as on one host; what each
# costs is measured between hosts (./odori compare's program); and where a rank is killed, a host's cable is pulled, or the
# network is slowed until nothing arrives, all ranks end within 10 s, with a code above 0, and the cause is named once.
#   hosts_test.sh BUILD [--few]         all of it, side by side, and that none of it leaves anything; or one training alone
#   hosts_test.sh BUILD PART FOLDER     for itself: one of it, on hosts of its own
# Skipped (exit code 77) where namespaces can't be made; in CI that is a failure.
# shellcheck disable=SC2317 # parts are called by their names
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib/tests/hosts.sh
. "$here/hosts.sh"
. "$here/../threads/cores.sh"
build=$(realpath "$1") part=${2:-} folder=${3:-}
program=$build/bin/solutions/train_cifar_multi_node
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

train() { # HOSTS ARGUMENT...
  mpirun_on "$1" --mca mpi_yield_when_idle 1 "$program" --device cpu --model tiny --batchsize 8 --no-snapshot \
    --dataset "$folder/../data" --out "$folder/out" "${@:2}"
}
epochs() { awk '$1 ~ /^[0-9]+$/ && NF == 6' "$1"; }

hosts() {
  start_hosts "$folder" "$1" || { fail "no hosts could be started" && exit 1; }
}

# ---- Trainings

train_on_one_host() {
  train node1:4 --epoch 1 --communicator flat >"$folder/reference" 2>&1 || fail "flat on one host: $(<"$folder/reference")"
}

# Sums are added in another order: losses agree but for the last digits.
expect_training() { # NODES HOSTS COMMUNICATOR
  local said=$folder/said
  train "$2" --epoch 1 --communicator "$3" >"$said" 2>&1 || { fail "$3 on $2 ended with $?: $(<"$said")" && return; }
  grep -q "^Num nodes: $1\$" "$said" || fail "$3 on $2 doesn't see $1 nodes: $(<"$said")"
  [[ $3 != dummy ]] || return 0
  paste <(epochs "$folder/reference") <(epochs "$said") |
    awk '{ same += ($2 - $8) ^ 2 < 1e-6 && ($3 - $9) ^ 2 < 1e-6 } END { exit !(NR == 1 && same == 1) }' ||
    fail "$3 on $2 trains otherwise than flat on one host: $(epochs "$said"), not $(epochs "$folder/reference")"
}

expect_refusal() { # SENTENCE HOSTS COMMUNICATOR
  train "$2" --epoch 1 --communicator "$3" >"$folder/said" 2>&1 && fail "$3 takes $2"
  [[ $(grep -c "$1" "$folder/said") -eq 1 ]] || fail "$3 on $2 doesn't say \"$1\" once: $(<"$folder/said")"
}

communicators() {
  "$program" --communicator none 2>&1 | sed -n 's/ or / /; s/^--communicator takes \(.*\), not "none"\.$/\1/p' | tr -d ,
}

two_hosts() {
  hosts 2
  train_on_one_host
  local name all
  all=$(communicators)
  [[ $all == *naive* ]] || fail "which communicators are there? $all"
  for name in $all; do
    case $name in
      single_node) expect_refusal "single_node works within one node" node1:2,node2:2 "$name" ;;
      pure_nccl) ;; # takes GPUs
      *) expect_training 2 node1:2,node2:2 "$name" ;;
    esac
  done
}

three_hosts() {
  hosts 3
  train_on_one_host
  local name
  for name in hierarchical non_cuda_aware ring tree; do expect_training 3 node1:1,node2:2,node3:1 "$name"; done
  expect_refusal "the nodes have 1, 2, 1" node1:1,node2:2,node3:1 two_dimensional
}

# A table of all communicators, and task 1's way on the first host alone.
comparison() {
  hosts 2
  local said=$folder/said name task_1
  mpirun_on node1:2,node2:2 --mca mpi_yield_when_idle 1 "$build/bin/odori_compare" --device cpu --model tiny --batchsize 8 \
    --rounds 1 --out "$folder/out" >"$said" 2>&1 || { fail "the comparison ended with $?: $(<"$said")" && return; }
  for name in naive flat hierarchical two_dimensional non_cuda_aware ring tree dummy; do
    grep -qE "^$name +[0-9]" "$said" || fail "$name has no times: $(<"$said")"
  done
  if [[ $(usable_cores) -ge 2 ]]; then task_1='^ParallelUpdater x 2 +[0-9]'; else task_1='^Not measured: ParallelUpdater: 2 devices of one process'; fi
  grep -qE "$task_1" "$said" || fail "ParallelUpdater has neither times nor a reason: $(<"$said")"
  grep -q "^4 ranks on 2 nodes, devices: " "$said" || fail "the hosts aren't seen: $(<"$said")"
  python3 - "$folder/out/result.json" <<'END' || fail "the messages are not those between the hosts: $(<"$said")"
import json, sys
result = json.load(open(sys.argv[1]))
assert (result["ranks"], result["nodes"]) == (4, 2), result
assert {"within_node", "between_nodes"} <= set(result), "what a message takes was measured in a host and between hosts"
size, ways = result["gradient_bytes"], {way["name"]: way for way in result["exchanges"]}
sent = ways["hierarchical"]["sent_to_other_nodes"]["bytes"]
assert abs(sent - size) <= 0.001 * size, (sent, size)
assert ways["ParallelUpdater"]["devices"] == 2
assert "single_node works within one node" in ways["single_node"]["refused"]
END
}

few() {
  hosts 2
  train_on_one_host
  expect_training 2 node1:2,node2:2 flat
}

# ---- Failures

now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); } # ms
ranks() { pgrep -c -x train_cifar_mul; }           # as much of the name as the kernel keeps

start_training() { # that doesn't end
  local n
  train node1:2,node2:2 --epoch 1000000 --communicator flat >"$folder/said" 2>&1 &
  job=$!
  for ((n = 0; n < 600; ++n)); do [[ $(epochs "$folder/said" | wc -l) -lt 2 ]] || return 0; sleep 0.1; done
  fail "no training is under way after a minute: $(<"$folder/said")"
}

# A busy machine gets another try.
expect_end() { # SENTENCE COMMAND...
  local said=$folder/said begin took n code try
  for try in 1 2 3; do
    start_training
    begin=$(now)
    "${@:2}"
    for ((n = 0; n < 600; ++n)); do [[ $(ranks) -gt 0 ]] || kill -0 "$job" 2>/dev/null && sleep 0.1 || break; done
    took=$(($(now) - begin))
    # Open MPI 4's mpirun seldom hangs after its ranks have ended (mpirun.sh says when).
    [[ $n -lt 600 || $try -eq 3 || $(ranks) -gt 0 ]] || { pkill -KILL -x mpirun && wait "$job"; mend; continue; }
    [[ $n -lt 600 ]] || { fail "a minute after $2, $(ranks) ranks and $(pgrep -c mpirun) mpirun are there: $(<"$said")" && return; }
    wait "$job"
    code=$?
    # Open MPI 5's mpirun ends with 0 where a host is lost. A job ends with 1 there too: its throughput is missing (job.sh).
    [[ $code -ne 0 ]] || { [[ $1 == "$lost" ]] && is_version_5 mpirun; } || fail "after $2, the job ends with 0: $(<"$said")"
    [[ $(tr -s ' \n' ' ' <"$said" | grep -aoE "$1" | wc -l) -eq 1 ]] || fail "after $2, this is not said once: $1: $(<"$said")"
    ! grep "has made no progress" "$said" || fail "after $2, there is a second cause: $(<"$said")"
    [[ $took -gt 10000 ]] || break
    mend
  done
  echo "$2: all has ended after $took ms"
  [[ $took -le 10000 ]] || fail "that is too late"
}

kill_rank() { kill -KILL "$(pgrep -n -x train_cifar_mul)"; }
pull_cable() { ip link set to_node2 down; }
slow_network() {
  for host in node1 node2; do on_host $host tc qdisc replace dev eth0 root tbf rate 8kbit burst 16kb latency 1s; done
}
mend() {
  ip link set to_node2 up
  for host in node1 node2; do on_host $host tc qdisc delete dev eth0 root 2>/dev/null; done
}

killed_rank() {
  local killed="exited on signal 9 \(Killed\)"
  hosts 2 || return
  # Open MPI 5's other ranks may miss it, and end, before mpirun tells of it.
  ! is_version_5 mpirun || killed=".*($killed|An error occurred in Socket closed).*"
  expect_end "$killed" kill_rank
}
# The daemons of mpirun miss each other before the ranks would (ODORI_TIMEOUT).
lost="lost communication with a remote daemon"
pulled_cable() { export ODORI_TIMEOUT=8 && hosts 2 && expect_end "$lost" pull_cable; }
slowed_network() { export ODORI_TIMEOUT=8 && hosts 2 && expect_end "$lost" slow_network; }

# For the test of what stays: does nothing until it is killed.
held() {
  hosts 2
  on_host node2 setsid bash -c "exec -a 'daemon of $folder' sleep infinity" &
  touch "$folder/is_up"
  wait
}

if [[ -n $folder ]]; then
  enter_namespaces "$0" "$@"
  export TMPDIR=$folder
  "$part"
  exit $((failures > 0))
fi

# ---- All parts

if ! can_make_hosts; then
  echo "needs namespaces, of root's or of a user's, ip and tc, and pgrep (Debian: iproute2, procps); CI installs them"
  exit $([[ -n ${CI:-} ]] && echo 1 || echo 77)
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/odori_hosts.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$build/bin/odori_make_synthetic" --train 96 --test 32 --out "$scratch/data" >/dev/null || exit

run_parts() {
  local part pids=()
  for part in "$@"; do
    mkdir "$scratch/$part"
    "$0" "$build" "$part" "$scratch/$part" >"$scratch/$part.log" 2>&1 </dev/null &
    pids+=($!)
  done
  for part in "$@"; do
    wait "${pids[0]}" || fail "$part"
    pids=("${pids[@]:1}")
    cat "$scratch/$part.log"
  done
}

expect_nothing_left() { # AFTER_WHAT
  local n
  for ((n = 0; n < 100; ++n)); do [[ -n $(pgrep -f "$scratch") ]] && sleep 0.1 || break; done
  [[ -z $(pgrep -f "$scratch") ]] || fail "after $1, this is left: $(pgrep -af "$scratch")"
  ! ip link show switch 2>/dev/null || fail "after $1, there is a switch"
}

# Where namespaces aren't allowed.
expect_skip() { # CODE [VARIABLE=VALUE]
  local user=() code
  [[ $EUID -eq 0 ]] || user=(unshare --user --map-root-user)
  "${user[@]}" setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin env -u CI "${@:2}" "$0" "$build" >"$scratch/skip" 2>&1
  code=$?
  [[ $code -eq $1 ]] && grep -q "^needs namespaces" "$scratch/skip" ||
    fail "without namespaces${2:+, with $2,} it ends with $code, not $1: $(<"$scratch/skip")"
}

if [[ $part == --few ]]; then
  run_parts few
  exit $((failures > 0))
fi
run_parts two_hosts three_hosts comparison killed_rank pulled_cable slowed_network
expect_nothing_left "all"

mkdir "$scratch/held"
bash -c '"$@" & wait' _ "$0" "$build" held "$scratch/held" &
disown
until [[ -e $scratch/held/is_up ]]; do kill -0 $! 2>/dev/null && sleep 0.05 || { fail "no hosts are held" && break; }; done
kill -KILL $!
expect_nothing_left "the test was killed"

expect_skip 77
expect_skip 1 CI=yes
exit $((failures > 0))
