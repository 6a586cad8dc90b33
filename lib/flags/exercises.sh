# SPDX-License-Identifier: Apache-2.0
# Which exercises there are, for the driver and its scripts: a folder of solutions/ each (solutions/README.md).
# To be sourced; `kit` is the kit's folder. grader/blanks/task.h does the same for programs.

# All of them, in order: single_gpu multi_gpu multi_node. With blanks alone: exercises_with_blanks.
exercises() {
  local folder
  for folder in "$kit"/solutions/*/exercise.json; do
    folder=${folder%/*}
    folder=${folder##*/}
    echo "${folder#*_}"
  done
}

exercises_with_blanks() {
  local name
  for name in $(exercises); do
    ! has_blanks "$name" || echo "$name"
  done
}
has_blanks() { grep -q '// BLANK 1:' "$(solution_folder "$1")"/*.cpp; }

exercises_with_a_job() {
  local name
  for name in $(exercises); do [[ ! -e $(solution_folder "$name")/run_${name}_training.sh ]] || echo "$name"; done
}

# Those whose support code can run a learner's function on simulated ranks.
exercises_that_simulate() {
  local name
  for name in $(exercises); do
    ! grep -qs 'asked_simulation()' "$kit"/exercises/[0-9][0-9]_"$name"/support/*.cpp || echo "$name"
  done
}

# NAME -> KIT/solutions/01_NAME. "gpu" is not 01_multi_gpu.
solution_folder() { echo "$kit"/solutions/[0-9][0-9]_"$1"; }

# NAME -> the program's name: train_cifar_multi_gpu, also that of its target; its exercise's is .../train_cifar_multi_gpu_exercise.
program_of() {
  local file
  file=$(echo "$(solution_folder "$1")"/*.cpp)
  file=${file##*/}
  echo "${file%.cpp}"
}

# 1, task1 or "Task 1", as pages call it -> multi_gpu. Any other word stays as it is.
task_of() {
  local name folder
  if [[ $1 =~ ^([Tt]ask[\ _-]?)?([0-9]{1,4})$ ]]; then
    for name in $(exercises); do
      folder=$(solution_folder "$name") folder=${folder##*/}
      [[ 10#${folder%%_*} -ne 10#${BASH_REMATCH[2]} ]] || { echo "$name" && return; }
    done
  fi
  echo "$1"
}

# Does it run as ranks, under mpirun?
under_mpi() { grep -q '"launch": *"mpi"' "$(solution_folder "$1")/exercise.json"; }

# For ./odori COMMAND TASK: refuses a task that isn't one of these.
require_task() { # COMMAND TASK KNOWN...
  [[ -n $2 && " ${*:3} " == *" $2 "* ]] || refuse_task "$@"
}
