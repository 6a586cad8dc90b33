#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpirun with a folder of its own for what Open MPI writes while it runs: its session, and the ranks' shared memory.
#
#   lib/comm/mpirun.sh MPIRUN [ARGUMENT ...]     becomes this mpirun, for ranks of this machine alone; where standard output is
#                                                a file, and where it is Open MPI 5's, it stands beside it
#   . lib/comm/mpirun.sh                         the folder, for every mpirun that this shell starts
#
# Where a limit of the shell is too low for Open MPI, or this machine can't send to itself, it says so, and ends (sourced: returns)
# with 20.
#
# Without it, all mpiruns of a user share one folder. Each makes it at its start and removes it at its end, and of
# several at a time some don't start: "orte_session_dir failed" (open-mpi/ompi, issues 7049 and 8510).
#
# The folder is removed when the last process that holds it locked has ended, whatever ended it. Where the process that
# removes it was killed too, the next start removes it, and also what mpiruns without such a folder left: a session whose
# mpirun is gone, and shared memory that is an hour old and that no process of this user has mapped.

# Ranks are started thousands of times in a test run, and on some machines each process that a start takes costs 10 ms. So this
# script asks the shell and /proc where it can.

shared_memory=${OMPI_MCA_btl_vader_backing_directory:-${OMPI_MCA_btl_sm_backing_directory:-/dev/shm}}
{ read -r machine </proc/sys/kernel/hostname; } 2>/dev/null || machine=$HOSTNAME

remove_left_behind() {
  local old pid base=${TMPDIR:-/tmp} host=${machine%%.*}
  for old in "$base/ompi.$host.$EUID"/pid.* "$base/prterun.$host".*".$EUID"; do # Open MPI 4; 5
    pid=${old##*/pid.} pid=${pid%".$EUID"} pid=${pid##*.}
    [[ ! -d $old || ! -O $old || -d /proc/$pid ]] || rm -rf "$old"
  done
  local segments=() used
  for old in "$shared_memory"/{vader_segment,sm_segment,odori_ranks}.*; do
    [[ ! -f $old || ! -O $old ]] || segments+=("$old")
  done
  [[ ${#segments[@]} -gt 0 ]] || return 0
  mapfile -t segments < <(find "${segments[@]}" -maxdepth 0 -mmin +60 2>/dev/null)
  [[ ${#segments[@]} -gt 0 ]] || return 0
  used=$(grep -hso "$shared_memory/.*" /proc/[0-9]*/maps)
  for old in "${segments[@]}"; do
    [[ $used == *"$old"* ]] || rm -f "$old"
  done
}

own_mpi_folder() {
  local base=$shared_memory folder="" held old
  # Ranks on other machines would look for the folder there.
  [[ ${SLURM_JOB_NUM_NODES:-1} -eq 1 ]] || return 0
  [[ -z ${PE_HOSTFILE:-}${PJM_JOBID:-} ]] || return 0
  [[ -z ${PBS_NODEFILE:-} || $(sort -u "$PBS_NODEFILE" 2>/dev/null | wc -l) -le 1 ]] || return 0
  # Open MPI 4 aborts ("stack smashing detected") on a machine whose name has more than 56 characters, as a pod's may.
  [[ ${#machine} -le 50 ]] || export OMPI_MCA_orte_strip_prefix=${machine::20}
  command -v flock setsid mktemp >/dev/null || return 0
  [[ -d $base && -w $base ]] || base=${TMPDIR:-/tmp}
  for old in "$base/odori_mpi.$EUID".*; do
    [[ ! -d $old || ! -O $old ]] || flock -n "$old" rm -rf "$old"
  done
  # Another start may have removed the new folder before it was locked.
  until [[ -d $folder ]]; do
    folder=$(mktemp -d "$base/odori_mpi.$EUID.XXXXXX") || return 0
    { exec {held}<"$folder"; } 2>/dev/null || continue
    flock "$held" || { rmdir "$folder" && return 0; } # no locks on this file system
  done
  { cd / && exec setsid flock "$folder" rm -rf "$folder"; } {held}<&- </dev/null >/dev/null 2>&1 &
  mpi_folder_remover=$!
  disown
  unset OMPI_MCA_orte_local_tmpdir_base OMPI_MCA_orte_remote_tmpdir_base # mpirun refuses them beside the next one
  export OMPI_MCA_orte_tmpdir_base=$folder PRTE_MCA_prte_tmpdir_base=$folder # Open MPI 4; 5
  export OMPI_MCA_btl_vader_backing_directory=$folder OMPI_MCA_btl_sm_backing_directory=$folder
}

# Below these limits Open MPI says nothing, or something else, dies of a signal, or waits for ever. Read without starting
# a process, since those may be limited as well.
refuse_low_limits() {
  local name soft of now flag least unit divided
  [[ -r /proc/self/limits ]] || return 0
  while read -r name soft of now _; do
    [[ $name == Max ]] || continue
    case "$soft $of" in
      "open files") flag=n least=64 divided=1 unit="open files" ;;
      "file size") flag=f least=8388608 divided=1024 unit="KiB in a file" ;;
      "stack size") flag=s least=524288 divided=1024 unit="KiB of stack" ;;
      "address space") flag=v least=419430400 divided=1024 unit="KiB of memory" ;;
      "processes "*) # one word: its number is the second already
        [[ $EUID -ne 0 ]] || continue
        now=$of flag=u least=32 divided=1 unit="processes and threads"
        ;;
      *) continue ;;
    esac
    [[ $now != unlimited && $now -lt $least ]] || continue
    ulimit -S"$flag" $((least / divided)) 2>/dev/null && continue
    printf 'odori: mpirun needs at least %s %s, but a limit of this shell or job allows %s. Raise it: ulimit -%s %s\n' \
      $((least / divided)) "$unit" $((now / divided)) "$flag" $((least / divided)) >&2
    return 20
  done </proc/self/limits
}

# mpirun and its ranks find each other by a network even on one machine. Open MPI says "The PMIx server's listener thread failed to
# start" without this one. /sys/class/net may be another namespace's.
refuse_no_loopback() {
  local addresses=()
  [[ -r /proc/self/net/fib_trie ]] && mapfile addresses </proc/self/net/fib_trie || return 0
  [[ ${addresses[*]} != *" 127.0.0.1"* ]] || return 0
  echo "odori: this machine's loopback network interface, lo, is down. mpirun and its ranks, which reach each other at 127.0.0.1," \
    "need it. Bring it up: sudo ip link set lo up" >&2
  return 20
}

# A rank that is killed while it starts may hold the lock of PMIx's own shared memory, for which mpirun then waits
# without end. Without that memory there is no lock.
export PMIX_MCA_gds=${PMIX_MCA_gds:-hash}

# A machine may have a name with other characters, as a container's node_1. Open MPI 4 shortens lists of hosts in a way that can't
# take one, and ends with "An internal error has occurred in ORTE"; this way doesn't shorten.
[[ $machine != *[!A-Za-z0-9.-]* ]] || export OMPI_MCA_regx=naive

# For ranks on several machines. A machine that is lost, or its network, says nothing. Left to themselves, mpirun and its daemons
# wait for minutes, or for ever: here they ask each other, and after five sixths of ODORI_TIMEOUT without an answer, before the
# ranks would give up, say whom they miss and end the job. (Two TCP connections a pair of ranks, OMPI_MCA_btl_tcp_links=2, would
# let messages both ways go at a time, but one of a dozen jobs on three hosts hung in MPI_Wait with them.)
settings_for_networks() {
  local limit=${ODORI_TIMEOUT:-60}
  [[ $limit =~ ^[0-9]{1,6}$ ]] || limit=60 # the ranks will refuse it
  export OMPI_MCA_oob_tcp_keepalive_time=${OMPI_MCA_oob_tcp_keepalive_time:-$(((limit + 2) / 3))}
  export OMPI_MCA_oob_tcp_keepalive_intvl=${OMPI_MCA_oob_tcp_keepalive_intvl:-$((limit < 12 ? 1 : limit / 6))}
  export OMPI_MCA_oob_tcp_keepalive_probes=${OMPI_MCA_oob_tcp_keepalive_probes:-3}
  # As Open MPI 5's daemons call them.
  export PRTE_MCA_oob_tcp_keepalive_time=$OMPI_MCA_oob_tcp_keepalive_time PRTE_MCA_oob_tcp_keepalive_intvl=$OMPI_MCA_oob_tcp_keepalive_intvl
  export PRTE_MCA_oob_tcp_keepalive_probes=$OMPI_MCA_oob_tcp_keepalive_probes
}

# this_machine_alone MPIRUN: for ranks of this machine alone, which need no hosts of a job in which this shell may be, and no
# settings that somebody keeps for a cluster, in the environment or in ~/.openmpi/mca-params.conf. The system's stay, but for the
# way to send (pml).
this_machine_alone() {
  local name folder
  folder_of "$1"
  unset "${!SLURM_@}" "${!PBS_@}" PE_HOSTFILE LSB_JOBID
  for name in "${!OMPI_MCA_@}" "${!PRTE_MCA_@}"; do
    case ${name#*_MCA_} in
      ?rte_tmpdir_base) ;; # own_mpi_folder's
      btl | hwloc_base_* | mca_base_* | orte_* | plm* | prte_* | ras* | rmaps_*) unset "$name" ;;
      pml | mtl | osc | oob | *_tcp_if_*) unset "$name" ;; # a network that this machine may not have
    esac
  done
  # Where a machine has IPv6 as well, each rank of Open MPI 5 would print "Unable to find reachable pairing" (open-mpi/ompi, issue 14079).
  export OMPI_MCA_btl_tcp_disable_family=6
  # Open MPI 4 asks for one even where it starts nothing elsewhere.
  command -v ssh >/dev/null || command -v rsh >/dev/null || export OMPI_MCA_plm_rsh_agent=sh
  export OMPI_MCA_mca_base_param_files=/etc/openmpi/openmpi-mca-params.conf,${folder%/*}/etc/openmpi-mca-params.conf
  # Otherwise each rank waits for other ways to send, which look for their networks, and loads X11 and OpenCL, by which hwloc finds
  # screens: half of the time that a start takes.
  export OMPI_MCA_pml=ob1 HWLOC_PLUGINS_PATH=/nonexistent
}

folder_of() { # PROGRAM: into `folder`
  folder=$1
  [[ $1 == */* ]] || { hash "$1" && folder=${BASH_CMDS[$1]:-$1}; } 2>/dev/null
  folder=${folder%/*}
}

# Starts mpirun and stays beside it, where becoming it would lose something:
# - mpirun loses what it can't write into a file, since its disk is full, and ends with 0. So it writes into a pipe, and what
#   carries that on says whether all of it arrived. It takes what comes to the end, also where the whole group is told to end:
#   mpirun doesn't survive a pipe that nobody reads.
# - Told to end, Open MPI 5's kills its ranks a quarter of a second later, and drops what they say, such as how to go on. So the
#   ranks are told instead, by whatever told this shell: mpirun is not in the terminal's group, which gets its Ctrl-C.
run_beside() { # MPIRUN...
  local out carrier="" code alive=(setpriv --pdeathsig KILL) # as if this shell had become mpirun
  command -v setpriv >/dev/null || alive=()
  if writes_into_file; then
    exec {out}> >(trap '' TERM HUP INT; cat || { cat >/dev/null && false; })
    carrier=$!
  else
    exec {out}>&1
  fi
  set -m # a process group of its own
  "${alive[@]}" "$@" <&0 >&"$out" {out}>&- &
  mpirun=$!
  set +m
  exec {out}>&-
  end_if_it_hangs "$mpirun"
  told=""
  trap tell_to_end TERM HUP INT
  until wait "$mpirun" 2>/dev/null; code=$?; [[ ! -d /proc/$mpirun ]]; do :; done # without it, bash says that a signal ended it
  [[ -z $carrier ]] || wait "$carrier" && exit "$code"
  echo "odori: not all that mpirun printed could be written; the reason is above. Is the disk full?" >&2
  exit $((code == 0 ? 1 : code))
}

# Seldom, Open MPI 4's mpirun hangs when its ranks have ended, or dies of a signal (in PMIx_server_finalize, once in a hundred times
# that it had to end a stopped rank). Twenty seconds after the last rank, or two minutes where no rank was ever seen, it is killed, and that is
# said. By a process that nobody waits for: it is no child of the mpirun, and holds nothing open.
end_if_it_hangs() { # PID
  local of_mpirun fd
  [[ -r /proc/$1/task/$1/children ]] && read -ra of_mpirun <"/proc/$1/stat" || return 0
  (
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      [[ $fd -le 2 ]] || exec {fd}<&-
    done
    cd / && watch_end "$1" "${of_mpirun[21]}" &
  ) </dev/null >/dev/null 2>&1
}

# What a process's stat tells at [2] is its state, at [21] when it began, which its PID has only once.
watch_end() { # PID BEGAN
  local of_mpirun without=0 most=120 # seconds
  while sleep 2 && read -ra of_mpirun <"/proc/$1/stat" && [[ ${of_mpirun[21]} == "$2" && ${of_mpirun[2]} != Z ]]; do
    if has_ranks "$1"; then
      without=0 most=20
    elif (((without += 2) >= most)); then
      echo "odori: mpirun hangs, though all of its ranks have ended, so it is killed. Open MPI 4 does so seldom; nothing is lost." >>"/proc/$1/fd/2"
      kill -KILL "$1"
    fi
  done
}

# Living children, but for the one that waits to remove the folder.
has_ranks() { # PID
  local list children child of_child
  for list in "/proc/$1/task"/*/children; do
    read -ra children <"$list"
    for child in "${children[@]}"; do
      [[ $child == "${mpi_folder_remover:-}" ]] || ! read -ra of_child <"/proc/$child/stat" || [[ ${of_child[2]} == Z ]] || return 0
    done
  done
  return 1
}

is_version_5() { # MPIRUN, of Open MPI
  local folder
  folder_of "$1"
  [[ -x $folder/prterun ]]
}

writes_into_file() { [[ -f /dev/stdout || /dev/stdout -ef /dev/full ]]; }

# The ranks, and those that haven't ended after two seconds, by mpirun; when told once more, at once.
tell_to_end() {
  local ranks=""
  [[ -n $told ]] || ranks=$(cat /proc/"$mpirun"/task/*/children 2>/dev/null)
  told=yes
  # shellcheck disable=SC2086 # several
  kill -TERM ${ranks:-$mpirun} 2>/dev/null
  [[ -z $ranks ]] || { sleep 2 && kill -TERM "$mpirun"; } >/dev/null 2>&1 &
}

if [[ ${BASH_SOURCE[0]} != "$0" ]]; then
  refuse_low_limits && refuse_no_loopback && remove_left_behind && own_mpi_folder && settings_for_networks
else
  refuse_low_limits && refuse_no_loopback || exit
  command -v "$1" >/dev/null || {
    echo "odori: there is no $1 here. Load the module of the Open MPI that the kit was built with, or add its folder to PATH." >&2
    exit 20
  }
  # mpirun would lose what its ranks print, and say nothing.
  true 2>/dev/null 3>&1 || { echo "odori: standard output is closed: nothing that mpirun prints would arrive." >&2 && exit 20; }
  remove_left_behind
  this_machine_alone "$1"
  own_mpi_folder
  # Open MPI 5's hands what stands in ~/.openmpi/mca-params.conf on to the ranks all the same, and doesn't start without a HOME.
  ! is_version_5 "$1" || export HOME=/nonexistent
  if writes_into_file || is_version_5 "$1"; then run_beside "$@"; fi
  end_if_it_hangs $$
  exec "$@"
fi
