# SPDX-License-Identifier: Apache-2.0
# What the job scripts share: `. ./job.sh TASK`, in their folder. Nothing to fill in here.
#
# Sets PROGRAMS (the folder of the built programs), OUT (for this job's results), N_GPUS (of a node), MPIRUN_FLAGS, and
# a log, both named by date and job. What the cluster is like comes from its site file, site.sh (sites/ has examples), or the one that
# $ODORI_SITE names. Stops with the kit's exit codes: 2 a select line or a site file that can't be read, 10 a blank that isn't filled
# in, 12 an exercise that doesn't compile, 20 a kit that isn't built or a module that isn't there. With PROFILE=1, each
# process runs under Nsight Systems.

[ -n "${BASH_VERSION:-}" ] || { echo "odori: this script needs bash: bash $0" >&2 && exit 2; }
task=$1
script=$PWD/run_${task}_training.sh
case ${PWD%/*} in
  */solutions) kit=$(cd ../.. && pwd) kind=solutions suffix="" ;;
  *) kit=$(cd .. && pwd) kind=exercises suffix=_exercise ;;
esac
build=${ODORI_BUILD:-$kit/build}
PROGRAMS=$build/bin/$kind
export TERM=dumb  # no progress bar in a log, although mpirun gives its processes a terminal
jobs=${ODORI_OUT:-$kit/out/jobs}
# The scheduler's name for this job, in names of files: 12.server is 12, and 12[3].server, of an array, 12_3_.
id=${PBS_JOBID:-${SLURM_JOB_ID:-${JOB_ID:-${PJM_JOBID:-$$}}}}
id=${id%%.*}
name=$(date +%Y%m%d_%H%M%S)_${id//[^A-Za-z0-9]/_}
LOG=$jobs/${task}_log_$name.txt
OUT=$jobs/${task}_$name

stop() {  # EXIT_CODE LINE...
  local code=$1
  shift
  # Into the log, too, where it can have one.
  printf '%s\n' '' "$@" | if mkdir -p "$jobs" 2>/dev/null; then append_to_log; else cat; fi >&2
  exit "$code"
}

# Goes on when the job is told to end: the last words are still to come. Locks the log until they have.
append_to_log() {
  (trap '' TERM INT && { flock -s 9 2>/dev/null; exec tee -a "$LOG"; } 9>>"$LOG")
}

# log COMMAND...: runs it; what it says goes to the screen and into the log. The job ends with the first that fails.
log() {
  "$@" 2>&1 | append_to_log
  local code=${PIPESTATUS[0]}
  [ "$code" -eq 0 ] || exit "$code"
}

# The scheduler tells a job to end some seconds before it kills it: at its time limit, and after qdel or scancel.
on_termination() {
  # Bash may come here before it waits for the program that it has just started.
  flock -w 10 "$LOG" true 2>/dev/null
  echo "The scheduler ended this job: its time was over, or somebody removed it (qdel, scancel)." | append_to_log
  exit 143
}

# The log's last line: the last throughput over the first one.
log_speedup() {
  [ "$task:$N_GPUS" != multi_gpu:1 ] || log echo "The nodes of this cluster have one GPU each (GPUS_A_NODE=1 in $site): both trainings" \
    "of task 1 ran on one device, and comparing them shows no speedup. Task 2, on two nodes, shows one."
  log awk '/^Throughput:/ { rate[++n] = $2 }
           END { if (n < 2) { print "There are no two throughputs to compare."; exit 1 }
                 printf "Speedup: %.2f (%.1f / %.1f [images/sec.])\n", rate[n] / rate[1], rate[n], rate[1] }' "$LOG"
}

stop_at_unfilled_select_line() {
  local line blank number question
  line=$(grep -n '^#PBS .*PUT_YOUR_CODE' "$script" | cut -d: -f1)
  [ -n "$line" ] || return 0
  # Comment lines between "# BLANK n: " and the directive, in one line.
  blank=$(head -n $((line - 1)) "$script" | sed -n '/^# BLANK /,$ s/^# *//p' | tr '\n' ' ' | sed 's/ *$//')
  number=${blank#BLANK } number=${number%%:*}
  question=${blank#*: }
  stop 10 "The job script reached blank $number, which isn't filled in yet." \
    "  question: $question" \
    "  where:    $script:$line" \
    "  a hint:   ./odori hint $task $number" \
    "Replace PUT_YOUR_CODE there by your own text, and submit or run the script again."
}

. "$kit/lib/flags/command_line.sh"
take_language
. "$kit/cmake/build_folder.sh"
. "$kit/lib/flags/exercises.sh"
. "$kit/jobscripts/modules.sh"

# build_program NAME: builds it if its source has changed since, and stops at its first blank that isn't filled in,
# rather than after the baseline's run.
build_program() {
  local source
  source=$(echo "$kit/$kind"/*/"$1.cpp")
  [ -e "$build/CMakeCache.txt" ] || stop 20 "The kit isn't built yet: there is no $build." "Run ./odori setup in $kit."
  [ "$(configured_for "$build")" -ef "$kit" ] || stop 20 "$build was built from the kit in $(configured_for "$build"), and this one is in $kit." \
    "Run ./odori setup in $kit."
  if [ ! "$PROGRAMS/$1" -nt "$source" ]; then
    lock_build "$build"
    cmake --build "$build" --target "$1$suffix" || stop 12 "$source doesn't compile; see above."
    unlock_build
  fi
  ! sed 's,//.*,,' "$source" | grep -q PUT_YOUR_CODE || log "$PROGRAMS/$1" $FLAGS
}

# Was this Open MPI built for that scheduler ("tm" is PBS)? Then it asks it for the hosts, and starts processes there.
# Since Open MPI 5, prte_info tells.
open_mpi_knows() {
  { ompi_info --parsable; prte_info --parsable; } 2>/dev/null | grep -qE "^mca:(plm|ras):$1:"
}

# With a scheduler, its job says which hosts there are, and how many processes go to each. Without one, this machine plays
# the nodes of the select line.
set_mpirun_flags() {
  MPIRUN_FLAGS=${BINDING:---bind-to none}
  [ -z "$INTERFACE" ] ||
    MPIRUN_FLAGS+=" --mca btl_tcp_if_include $INTERFACE --mca oob_tcp_if_include $INTERFACE -x NCCL_SOCKET_IFNAME=$INTERFACE"
  [ -z "$MODULES" ] || MPIRUN_FLAGS+=" -x PATH -x LD_LIBRARY_PATH"
  unset OMPI_MCA_mca_base_env_list  # mpirun refuses -x beside it
  [ -z "${ODORI_LANG:-}" ] || MPIRUN_FLAGS+=" -x ODORI_LANG"
  MPIRUN_FLAGS+=${MPI_FLAGS:+ $MPI_FLAGS}
  [ "$(id -u)" -ne 0 ] || MPIRUN_FLAGS+=" --allow-run-as-root"
  if [ -n "$PBS_NODEFILE" ]; then
    compare_hosts PBS_NODEFILE
    # A profile may have set PATH anew, without PBS's own programs.
    local settings=${PBS_CONF_FILE:-/etc/pbs.conf}
    [ ! -r "$settings" ] || PATH+=:$(sed -n 's/^PBS_EXEC=//p' "$settings")/bin
    open_mpi_knows tm || use_hosts pbs_tmrsh <"$PBS_NODEFILE"
  elif [ -n "$PE_HOSTFILE" ]; then
    compare_hosts PE_HOSTFILE
    open_mpi_knows gridengine || use_hosts < <(places_on "$PE_HOSTFILE")
  elif [ -n "$PJM_O_NODEINF" ]; then
    compare_hosts PJM_O_NODEINF
    use_hosts < <(places_on "$PJM_O_NODEINF")
  elif [ -n "$SLURM_JOB_ID" ]; then
    open_mpi_knows slurm || log echo "This job's mpirun doesn't say that it was built for Slurm. If it finds too few" \
      "slots or only one node, load another Open MPI (MODULES= in $site)."
  else
    play_nodes
  fi
}

# compare_hosts VARIABLE: the file that it names holds the job's hosts, one a line or several times. Are they as many as the
# select line asks for?
compare_hosts() {
  local got wanted
  got=$(awk 'NF { print $1 }' "${!1}" | sort -u | wc -l)
  [ "$got" -gt 0 ] || stop 20 "The file of this job's hosts, ${!1} ($1), can't be read or is empty: mpirun would train on one node." \
    "Submit the job again. Where $1 was set by hand, or is another job's, unset it."
  wanted=$(processes_of_nodes | wc -l)
  [ "$wanted" -le "$got" ] || log echo "The job got $got host(s), although its select line asks for $wanted nodes:" \
    "the scheduler put several chunks onto one host. The line \`#PBS -l place=scatter\` keeps them apart."
}

# The first word of each line of a file, a host, as often as it has processes by the select line.
places_on() {
  awk -v processes="$(processes_of_nodes | head -n 1)" '{ for (i = 0; i < processes; ++i) print $1 }' "$1"
}

# use_hosts [COMMAND]: an Open MPI that doesn't know the scheduler gets a file of the hosts (one line per process), and starts its
# processes there by $LAUNCHER, or by COMMAND (which takes HOST COMMAND..., as ssh does) if there is one.
use_hosts() {
  local own
  own=$(mktemp -d "${TMPDIR:-/tmp}/odori_job.XXXXXX")
  # mpirun splits its flags at blanks.
  case $own in *[[:space:]]*) rmdir "$own" && own=$(mktemp -d /tmp/odori_job.XXXXXX) ;; esac
  trap 'rm -rf "'"$own"'"' EXIT
  cat >"$own/hosts"
  MPIRUN_FLAGS+=" --hostfile $own/hosts"
  if [ -z "$LAUNCHER" ] && [ -n "$1" ] && command -v "$1" >/dev/null; then
    LAUNCHER=$own/launcher.sh
    # On the other host nothing has loaded this job's modules.
    printf '#!/bin/sh\nhost=$1\nshift\nexec %q "$host" /bin/sh -c "PATH=%q LD_LIBRARY_PATH=%q; export PATH LD_LIBRARY_PATH; $*"\n' \
      "$(command -v "$1")" "$PATH" "$LD_LIBRARY_PATH" >"$LAUNCHER"
    chmod +x "$LAUNCHER"
  fi
  # Components that know a scheduler are left out: they would be taken first. The one that uses LAUNCHER has no common name:
  # rsh in Open MPI 4, ssh in 5.
  [ -z "$LAUNCHER" ] || MPIRUN_FLAGS+=" --mca plm ^alps,lsf,pals,slurm,tm --mca plm_rsh_agent $LAUNCHER"
}

# A scheduler that this file doesn't know is no machine without one: its job would run on one node, and say so nowhere.
refuse_unknown_scheduler() {
  local unknown=""
  [ -z "$LSB_JOBID" ] || unknown=LSF
  [ -z "$PE_HOSTFILE" ] || [ "$SCHEDULER" = age ] || unknown="Grid Engine"
  [ -z "$PJM_JOBID" ] || [ "$SCHEDULER" = pjm ] || unknown="Fujitsu's job operation software (pjsub)"
  [ -z "$unknown" ] || stop 20 "This job runs under $unknown, but $site doesn't say so (SCHEDULER=)." \
    "jobscripts/sites has examples for the schedulers that the kit knows: PBS, Slurm, Grid Engine (age) and pjsub (pjm)."
}

# ODORI_NODES gives the node of each process, and there are no more processes than cores, since the speedup would say
# nothing then.
play_nodes() {
  local layout nodes cores most
  . "$kit/lib/threads/cores.sh"
  cores=$(usable_cores)
  layout=$(processes_of_nodes)
  [ -n "$layout" ] || stop 2 "The select line of $script can't be read." \
    "It should read: #PBS -l select=NODES:mpiprocs=PROCESSES_A_NODE:ompthreads=THREADS_A_PROCESS"
  nodes=$(wc -l <<<"$layout")
  if [ "$(awk '{ all += $1 } END { print all }' <<<"$layout")" -gt "$cores" ]; then
    most=$((cores > 2 ? cores : 2))  # on one core too, task 2 has two nodes
    nodes=$((nodes < most ? nodes : most))
    layout=$(head -n "$nodes" <<<"$layout" |
      awk -v most=$((cores / nodes > 1 ? cores / nodes : 1)) '{ print $1 < most ? $1 : most }')
    log echo "This machine has $cores cores: it plays $nodes nodes with $(head -n 1 <<<"$layout") processes each."
  fi
  ODORI_NODES=$(awk '{ for (i = 0; i < $1; ++i) print NR - 1 }' <<<"$layout" | paste -sd,)
  export ODORI_NODES
  this_machine_alone mpirun
  MPIRUN_FLAGS+=" --oversubscribe -np $(tr , '\n' <<<"$ODORI_NODES" | wc -l)"
}

# One line a node: its processes. As PBS reads it: the first select counts, `+` joins chunks, a chunk without a number is one
# node, and a node without mpiprocs gets one process. Nothing, if it can't be read.
processes_of_nodes() {
  local answer=cat
  [ "$kind" != solutions ] || answer=for_this_site
  "$answer" <"$script" | sed -nE 's/^[[:blank:]]*#PBS.*-l[[:blank:]]*['\''"]?([^[:blank:]]*,)?select=([^,[:blank:]'\''"]*).*/\2/p' |
    head -n 1 | tr + '\n' | LC_ALL=C awk -F: '
      /[^!-~]/ { lines = ""; exit }  # a full-width colon
      { nodes = $1 ~ /=/ ? 1 : $1; processes = 1
        for (i = 1; i <= NF; ++i) if ($i ~ /^mpiprocs=/) processes = substr($i, 10)
        if (nodes !~ /^[1-9][0-9]*$/ || processes !~ /^[1-9][0-9]*$/) { lines = ""; exit }
        for (n = 0; n < nodes; ++n) lines = lines processes "\n" }
      END { printf "%s", lines }'
}

# PROFILE=1: PROGRAMS becomes a folder of wrappers, so that mpirun starts Nsight Systems around each process. %h and %p are
# nsys's own: the host and the process.
profile_programs() {
  [ "${PROFILE:-0}" != 0 ] || return 0
  command -v nsys >/dev/null || stop 20 "PROFILE=1 needs Nsight Systems, and there is no nsys in PATH." \
    "Load its module (often nsight-systems, or with cuda), or run the script without PROFILE."
  local program wrappers=$OUT/profiled
  mkdir -p "$wrappers"
  for program in "$PROGRAMS"/train_cifar_*; do
    printf '#!/bin/bash\nexec nsys profile --trace=cuda,nvtx,osrt --force-overwrite=true --output=%q_%%h_%%p %q "$@"\n' \
      "$OUT/${program##*/}" "$program" >"$wrappers/${program##*/}"
    chmod +x "$wrappers/${program##*/}"
  done
  PROGRAMS=$wrappers
}

. "$kit/jobscripts/site_in_force.sh"
N_GPUS=$(devices_of multi_gpu)
stop_at_unfilled_select_line
mkdir -p "$OUT" || stop 20 "$OUT can't be made. \$ODORI_OUT names another folder."
trap on_termination TERM
refuse_unknown_scheduler
echo "Job $id: $task on $(uname -n), $(date '+%Y-%m-%d %H:%M:%S')" | append_to_log
load_modules
build_program "$(program_of "$task")"
build_program train_cifar_single_gpu
if under_mpi "$task"; then
  . "$kit/lib/comm/mpirun.sh" || exit
  set_mpirun_flags
fi
profile_programs
