# What the job scripts share: `. ./job.sh TASK`, in their folder. Nothing to fill in here.
#
# Sets PROGRAMS (the folder of the built programs), OUT (for results), MPIRUN_FLAGS, and a log with a dated name. Stops
# with the kit's exit codes: 2 a select line that can't be read, 10 a blank that isn't filled in, 12 an exercise that
# doesn't compile, 20 a kit that isn't built.

task=$1
script=$PWD/run_${task}_training.sh
case $PWD in
  */solutions/jobscripts) kit=$(cd ../.. && pwd) kind=solutions suffix="" ;;
  *) kit=$(cd .. && pwd) kind=exercises suffix=_exercise ;;
esac
build=${ODORI_BUILD:-$kit/build}
PROGRAMS=$build/bin/$kind
export TERM=dumb  # no progress bar in a log, although mpirun gives its processes a terminal
OUT=${ODORI_OUT:-$kit/out/jobs}

stop() {  # EXIT_CODE LINE...
  local code=$1
  shift
  printf '\n' >&2
  printf '%s\n' "$@" >&2
  exit "$code"
}

# log COMMAND...: runs it; what it says goes to the screen and into the log. The job ends with the first that fails.
log() {
  "$@" 2>&1 | tee -a "$LOG"
  local code=${PIPESTATUS[0]}
  [ "$code" -eq 0 ] || exit "$code"
}

# The log's last line: the last throughput over the first one.
log_speedup() {
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

# build_program NAME: builds it if its source has changed since, and stops at its first blank that isn't filled in,
# rather than after the baseline's run.
build_program() {
  local source
  source=$(echo "$kit/$kind"/*/"$1.cpp")
  [ -e "$build/CMakeCache.txt" ] || stop 20 "The kit isn't built yet: there is no $build." "Run ./odori setup in $kit."
  if [ ! "$PROGRAMS/$1" -nt "$source" ]; then
    cmake --build "$build" --target "$1$suffix" || stop 12 "$source doesn't compile; see above."
  fi
  ! sed 's,//.*,,' "$source" | grep -q PUT_YOUR_CODE || log "$PROGRAMS/$1" $FLAGS
}

# The scheduler says which hosts, one line a process. Without one, this machine plays the nodes of the select line:
# ODORI_NODES gives the node of each process, and there are no more processes than cores, since the speedup would say
# nothing then.
set_mpirun_flags() {
  local nodes processes cores=$(nproc) node process
  read -r nodes processes <<<"$(sed -nE 's/^#PBS -l select=([1-9][0-9]*):mpiprocs=([1-9][0-9]*).*/\1 \2/p' "$script")"
  [ -n "$processes" ] || stop 2 "The select line of $script can't be read." \
    "It should read: #PBS -l select=NODES:mpiprocs=PROCESSES_A_NODE:ompthreads=THREADS_A_PROCESS"
  MPIRUN_FLAGS="--bind-to none"
  [ "$(id -u)" -ne 0 ] || MPIRUN_FLAGS+=" --allow-run-as-root"
  if [ -n "$PBS_NODEFILE" ]; then
    MPIRUN_FLAGS+=" --hostfile $PBS_NODEFILE"
    return
  fi
  if [ $((nodes * processes)) -gt "$cores" ]; then
    processes=$((cores / nodes > 1 ? cores / nodes : 1))
    log echo "This machine has $cores cores: it plays $nodes nodes with $processes processes each."
  fi
  ODORI_NODES=$(for ((node = 0; node < nodes; ++node)); do
    for ((process = 0; process < processes; ++process)); do echo "$node"; done
  done | paste -sd,)
  export ODORI_NODES
  MPIRUN_FLAGS+=" --oversubscribe -np $((nodes * processes))"
}

stop_at_unfilled_select_line
mkdir -p "$OUT" || stop 20 "$OUT can't be made. \$ODORI_OUT names another folder."
LOG=$OUT/${task}_log_$(date +%Y%m%d_%H%M%S).txt
build_program "train_cifar_$task"
build_program train_cifar_single_gpu
set_mpirun_flags
