#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # what mpirun starts expands its own variables
# Each mpirun has a folder of its own (lib/comm/mpirun.sh), and nothing of it stays, however it ends.
#   mpirun_test.sh SCRIPT MPIRUN [STARTS]     with STARTS: only so many starts, 3 at a time, to see whether one fails
set -uo pipefail
script=$1 mpirun=("$1" "$2" --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
[[ $EUID -ne 0 ]] || mpirun+=(--allow-run-as-root)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# A base of this test's own: other mpiruns of this user may run.
export OMPI_MCA_btl_vader_backing_directory=$scratch/shared
unset PBS_NODEFILE SLURM_JOB_NUM_NODES
mkdir "$OMPI_MCA_btl_vader_backing_directory"
failures=0

# Where it hangs, the last commands and what runs are printed before ctest ends the test.
if [[ $# -eq 2 ]]; then
  exec {trace}>"$scratch/trace"
  BASH_XTRACEFD=$trace
  mkfifo "$scratch/never"
  {
    read -rt 240 <>"$scratch/never"
    printf 'FAILED: the test hangs after these commands:\n%s\n' "$(tail -n 20 "$scratch/trace")"
    ps -eo pid,ppid,etime,stat,wchan:20,args --forest | cut -c 1-200
  } &
  trap "kill $!; rm -rf \"$scratch\"" EXIT
  set -x
fi

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

left_behind() { ls -A "$scratch/shared"; }

# Within 20 s: the folder goes a moment after its mpirun.
expect_nothing_left() { # AFTER_WHAT
  local n
  for ((n = 0; n < 200; ++n)); do
    [[ -n $(left_behind) ]] || return 0
    sleep 0.1
  done
  fail "after $1 this is left: $(left_behind)"
}

wait_for() { # FILE
  local n
  for ((n = 0; n < 300; ++n)); do
    [[ ! -e $1 ]] || return 0
    sleep 0.1
  done
  fail "there is no $1"
}

if [[ $# -gt 2 ]]; then
  # While one starts, another ends; with many at a time the folder that they share would seldom be empty, and so stay.
  for ((worker = 0; worker < 3; ++worker)); do
    for ((n = worker; n < $3; n += 3)); do
      "${mpirun[@]}" -np 2 true >"$scratch/said.$n" 2>&1 || { cat "$scratch/said.$n" && touch "$scratch/failed.$n"; }
    done &
  done
  wait
  failed=$(find "$scratch" -name 'failed.*' | wc -l)
  echo "$failed of $3 starts failed."
  expect_nothing_left "$3 starts"
  exit $((failed + failures > 0))
fi

# An mpirun that hangs after its ranks have ended is killed, with a message, and a reader of its output gets the end of file. Two of
# them run here at once, the first into a pipe. That takes 20 s, during which the rest of this test runs.
printf '#!/bin/bash\nsleep 3 & echo began; wait; trap "" TERM; exec sleep 1000\n' >"$scratch/hangs" && chmod +x "$scratch/hangs"
mkdir "$scratch/hanging"
hanging=(env OMPI_MCA_btl_vader_backing_directory="$scratch/hanging" timeout -k 5 90 "$script" "$scratch/hangs")
"${hanging[@]}" 2>&1 | cat >"$scratch/piped" &
piped=$!
{ "${hanging[@]}" >"$scratch/second" 2>"$scratch/second.error"; echo $? >"$scratch/second.code"; } &
second=$!

said=$("$script" no_such_mpirun 2>&1)
[[ $? -eq 20 && $said == *"there is no no_such_mpirun here"* ]] || fail "without an mpirun: $said"

# Without the loopback interface Open MPI speaks of a listener. Skipped where no namespace can be made; in CI that is a failure.
apart=(unshare --net)
[[ $EUID -eq 0 ]] || apart+=(--user --map-root-user)
if "${apart[@]}" true 2>/dev/null; then
  for start in '"$@" -np 1 echo began' '. "$1" && echo began'; do
    said=$("${apart[@]}" timeout -k 5 20 bash -c "$start" _ "${mpirun[@]}" 2>&1)
    [[ $? -eq 20 && $said == "odori: this machine's loopback network interface, lo, is down."*"sudo ip link set lo up" ]] ||
      fail "without lo, $start: $said"
  done
elif [[ -n ${CI:-} ]]; then
  fail "no network namespace can be made"
fi

# On a machine with a name that Open MPI 4 can't take: one that is none by the standards of the network, and a long one.
apart[1]=--uts
if "${apart[@]}" true 2>/dev/null; then
  for name in 踊り_1 "$(printf 'a%.0s' {1..63})"; do
    named="python3 -c 'import socket; socket.sethostname(\"$name\")' && "
    for start in '"$@"' '. "$1" && "${@:2}"'; do
      said=$("${apart[@]}" timeout -k 5 60 bash -c "$named$start --allow-run-as-root -np 2 echo began" _ "${mpirun[@]}" 2>&1)
      [[ $? -eq 0 && $said == $'began\nbegan' ]] || fail "on a machine named $name, $start: $said"
    done
  done
elif [[ -n ${CI:-} ]]; then
  fail "no namespace can be made for a name"
fi

# In somebody's interactive job, with settings for a cluster.
for place in slurm pbs environment network home; do
  (
    case $place in
      slurm) export SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NODELIST='node[1-2]' SLURM_NNODES=2 SLURM_TASKS_PER_NODE='1(x2)' ;;
      pbs) export PBS_JOBID=7.head PBS_NODEFILE=$scratch/hosts PBS_ENVIRONMENT=PBS_INTERACTIVE && printf 'node1\nnode2\n' >"$PBS_NODEFILE" ;;
      environment) export OMPI_MCA_btl=openib OMPI_MCA_plm_rsh_agent=nowhere OMPI_MCA_orte_default_hostfile=/nowhere ;;
      network) export OMPI_MCA_{pml,osc}=ucx OMPI_MCA_mtl=psm2 OMPI_MCA_{btl,oob}_tcp_if_include=ib7 ;;
      home) export HOME=$scratch && mkdir "$HOME/.openmpi" && printf 'btl = sm,openib\nplm_rsh_agent = nowhere\n' >"$HOME/.openmpi/mca-params.conf" ;;
    esac
    timeout -k 5 60 "${mpirun[@]}" -np 2 sh -c 'echo "rank $OMPI_COMM_WORLD_RANK $OMPI_MCA_pml$OMPI_MCA_osc$OMPI_MCA_mtl$OMPI_MCA_btl_tcp_if_include"'
  ) >"$scratch/said" 2>&1
  [[ $(sort "$scratch/said") == $'rank 0 ob1\nrank 1 ob1' ]] || fail "$place: $(<"$scratch/said")"
done

export OMPI_MCA_orte_local_tmpdir_base=/nowhere # a site's
# Open MPI's session lies in a folder below the base, which is gone afterwards; the exit code is mpirun's.
"${mpirun[@]}" -np 2 sh -c 'ls -A "$0"/odori_mpi.*' "$scratch/shared" >"$scratch/said" 2>&1
grep -q '^ompi\.\|^prterun\.' "$scratch/said" || fail "Open MPI's session is elsewhere: $(<"$scratch/said")"
expect_nothing_left "a run"
"${mpirun[@]}" -np 1 sh -c 'exit 7' >/dev/null 2>&1
[[ $? -eq 7 ]] || fail "mpirun's exit code got lost"
expect_nothing_left "a failure"

# Into a file, too, all arrives before it ends, the exit code is mpirun's, and it ends when it is told to.
"${mpirun[@]}" -np 1 sh -c 'echo early; sleep 0.3; echo late; exit 7' >"$scratch/file" 2>/dev/null
[[ $? -eq 7 && $(<"$scratch/file") == $'early\nlate' ]] || fail "into a file: $(<"$scratch/file")"
waits='trap "echo ended; exit 3" TERM; echo waits; for i in $(seq 600); do sleep 0.1; done'
"${mpirun[@]}" -np 1 sh -c "touch \"\$0/waits\"; $waits" "$scratch" >"$scratch/file" 2>/dev/null &
wait_for "$scratch/waits"
kill -TERM $!
wait $! && fail "into a file, it ends with 0 though it was told to end"
[[ $(<"$scratch/file") == $'waits\nended' ]] || fail "into a file, it can't be told to end: $(<"$scratch/file")"
# By Ctrl-C in a terminal, too.
said=$(timeout -k 5 60 python3 -c 'import os, pty, sys
said, keys = b"", [b"\3"]
def read(terminal):
    global said
    piece = os.read(terminal, 1024)
    said += piece
    if b"waits" in said and keys: os.write(terminal, keys.pop())
    return piece
pty.spawn(sys.argv[1:], read)' "${mpirun[@]}" -np 1 sh -c "$waits" </dev/null)
[[ $said == *waits*ended* ]] || fail "Ctrl-C loses what a rank says at its end: $said"
# A rank that doesn't listen ends, too.
"${mpirun[@]}" -np 1 sh -c 'trap "" TERM; touch "$0/deaf"; for i in $(seq 600); do sleep 0.1; done' "$scratch" >"$scratch/file" 2>&1 &
wait_for "$scratch/deaf"
kill -TERM $!
SECONDS=0
wait $! && fail "it ends with 0 though it was told to end"
((SECONDS < 20)) || fail "a rank that doesn't listen goes on for $SECONDS s"
timeout -k 5 1 "${mpirun[@]}" -np 1 sleep 60 >"$scratch/file" 2>"$scratch/said" # tells the whole group
grep -q "could be written" "$scratch/said" && fail "a job that was told to end blames the disk: $(<"$scratch/said")"
expect_nothing_left "files"

# Killed, it leaves nothing either.
for output in /dev/null "$scratch/file"; do
  "${mpirun[@]}" -np 1 sh -c 'echo $$ >"$0/rank"; touch "$0/begun"; exec sleep 60' "$scratch" >$output 2>&1 &
  wait_for "$scratch/begun"
  [[ $(left_behind) == odori_mpi.* ]] || fail "a running mpirun has no folder"
  kill -9 $!
  wait $! 2>/dev/null
  kill "$(<"$scratch/rank")"
  expect_nothing_left "kill -9, with its output in $output"
  rm "$scratch/begun"
done

# What nobody holds is removed by the next start; what somebody holds stays.
stale=$scratch/shared/odori_mpi.$EUID.stale held=$scratch/shared/odori_mpi.$EUID.held
mkdir "$stale" "$held"
exec 9<"$held"
flock 9
"$script" true 9<&-
[[ ! -e $stale ]] || fail "a stale folder stays"
[[ -e $held ]] || fail "a folder in use was removed"
exec 9<&-
rmdir "$held"
expect_nothing_left "a start"

# Another start may remove the new folder before it is locked: it makes one more, and says nothing.
mkdir "$scratch/quick"
printf '#!/bin/sh\nfolder=$("%s" "$@")\n[ -e "%s" ] || { rmdir "$folder" && touch "%s"; }\necho "$folder"\n' \
  "$(command -v mktemp)" "$scratch/removed"{,} >"$scratch/quick/mktemp"
chmod +x "$scratch/quick/mktemp"
said=$(PATH=$scratch/quick:$PATH "$script" true 2>&1)
[[ -z $said && -e $scratch/removed ]] || fail "where another start is quicker: $said"
expect_nothing_left "two starts at a time"

# What mpiruns without a folder left is removed too, unless it is used or young.
host=${HOSTNAME%%.*} dead=4194999 # a PID above all that Linux gives
sessions=("$scratch/tmp/ompi.$host.$EUID/pid." "$scratch/tmp/prterun.$host.") of_version_5=.$EUID
mkdir -p "${sessions[0]}"{$$,$dead} "${sessions[1]}"{$$,$dead}"$of_version_5"
touch "$scratch/shared/vader_segment."{old,used,young}
truncate -s 4096 "$scratch/shared/vader_segment.used"
python3 -c 'import mmap, sys, time
file = open(sys.argv[1], "r+b")
memory = mmap.mmap(file.fileno(), 0)
open(sys.argv[2], "w").close()
time.sleep(600)' "$scratch/shared/vader_segment.used" "$scratch/mapped" &
user=$!
wait_for "$scratch/mapped"
touch -d '2 hours ago' "$scratch/shared/vader_segment."{old,used}
TMPDIR=$scratch/tmp "$script" true
kill $user
[[ ! -e $scratch/shared/vader_segment.old && ! -e ${sessions[0]}$dead && ! -e ${sessions[1]}$dead$of_version_5 ]] ||
  fail "what a dead mpirun left stays"
[[ -e $scratch/shared/vader_segment.used && -e $scratch/shared/vader_segment.young && -e ${sessions[0]}$$ &&
  -e ${sessions[1]}$$$of_version_5 ]] || fail "what is in use was removed"
rm "$scratch/shared/vader_segment."*

# Sourced, it holds for the shell.
[[ $(bash -c '. "$1"; [[ -d $OMPI_MCA_orte_tmpdir_base ]] && echo "$PRTE_MCA_prte_tmpdir_base"' _ "$script") == "$scratch"/shared/odori_mpi.* ]] ||
  fail "sourced, it gives no folder"
expect_nothing_left "a shell"

# Ranks on other machines keep Open MPI's own folders; and a machine without flock has to.
printf 'a\na\nb\n' >"$scratch/hosts"
for setting in "PBS_NODEFILE=$scratch/hosts" SLURM_JOB_NUM_NODES=2 "PATH=$scratch"; do
  said=$(env "$setting" "$(command -v bash)" -c '. "$1"; "$2"' _ "$script" "$(command -v env)" 2>&1)
  [[ $said != *orte_tmpdir_base* && $said == *"${setting%%=*}"* ]] || fail "with $setting: $said"
done

# What the system's own file sets stays: without it, Open MPI looks for networks for seconds.
settings() { "$@" ompi_info --parsable --param btl all --level 9 2>/dev/null | grep '^mca:btl:base:param:btl:value:'; }
[[ $(settings "$script") == $(settings env HOME=/nonexistent) ]] || fail "the system's settings are lost: $(settings "$script")"

# Ranks of this machine alone need no IPv6, of which Open MPI 5 would speak.
[[ $("$script" "$(command -v env)") == *OMPI_MCA_btl_tcp_disable_family=6* ]] || fail "Open MPI looks for IPv6"

# Open MPI 5 hands ~/.openmpi/mca-params.conf on to the ranks, and needs a HOME; of a lost host its daemons know by other names.
mkdir "$scratch/five" && printf '#!/bin/sh\necho "$HOME"\n' >"$scratch/five/mpirun" && touch "$scratch/five/prterun" && chmod +x "$scratch"/five/*
[[ $(env -u HOME "$script" "$scratch/five/mpirun") == /nonexistent ]] || fail "Open MPI 5 finds a home, or none"
[[ $(ODORI_TIMEOUT=6 bash -c '. "$1"; echo "${!PRTE_MCA_oob_tcp_keepalive_@} $PRTE_MCA_oob_tcp_keepalive_time"' _ "$script") == *intvl*probes*time*" 2" ]] ||
  fail "Open MPI 5 waits for lost hosts as long as it likes"

# A machine without ssh: Open MPI 4 wants it even where it starts nothing elsewhere.
agent() { PATH=$1 "$script" "$(command -v bash)" -c 'echo "${OMPI_MCA_plm_rsh_agent:-}"'; }
mkdir "$scratch/no_ssh" && find /usr/bin /bin -maxdepth 1 ! -name ssh ! -name rsh -exec ln -sf -t "$scratch/no_ssh" {} +
[[ $(agent "$scratch/no_ssh") == sh ]] || fail "without ssh, mpirun is left to look for it"
ln -s env "$scratch/no_ssh/ssh"
[[ -z $(agent "$scratch/no_ssh") ]] || fail "with ssh, mpirun is told of another agent"

# The mpiruns that hang, from the beginning of this test.
wait $second $piped
[[ $(<"$scratch/second.code") -eq 137 && $(<"$scratch/second") == began && $(<"$scratch/second.error") == *"mpirun hangs, though all of its ranks have ended"* ]] ||
  fail "the second mpirun that hangs: $(<"$scratch/second.code") $(<"$scratch/second.error")"
[[ $(<"$scratch/piped") == "began"*"mpirun hangs, though all of its ranks have ended"* ]] || fail "an mpirun that hangs: $(<"$scratch/piped")"

[[ $failures -eq 0 ]] || exit 1
echo "Each mpirun has a folder of its own, and leaves nothing behind."
