#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kit where it is not at home: each place stands alone, and is left as it was found.
#   odd_places.sh KIT BUILD [--only NAME]     those places that need no build of their own (ctest runs them)
#   odd_places.sh KIT BUILD --all             the others as well: half an hour on two cores
# What is built elsewhere is a small kit, of the library and the training programs, not optimised; ccache is used where it is.
set -uo pipefail
kit=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
shift 2
cheap=(lang_c no_home no_such_home one_core slurm_job pbs_job open_mpi_settings symlink)
dear=(plain_cmake clang spaces_and_japanese tarball worktree no_packages)
places=("${cheap[@]}")
[[ ${1:-} != --all ]] || places+=("${dear[@]}")
[[ ${1:-} != --only ]] || places=("$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/odori_odd.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset ODORI_SITE
export ODORI_DATA=$scratch/data ODORI_STATE=$scratch/state ODORI_OUT=$scratch/jobs
flags=(--device cpu --model tiny --epoch 1 --batchsize 16 --no-snapshot --dataset "$scratch/data/synthetic" --out "$scratch/out")
failures=0

fail() { printf 'FAILED: %s\n' "$*" && failures=$((failures + 1)); }

# does CODE TEXT COMMAND...: the command ends so and says so.
does() {
  local code=$1 text=$2 ended=0
  shift 2
  "$@" >"$scratch/said" 2>&1 </dev/null || ended=$?
  [[ $ended -eq $code ]] && grep -qF -- "$text" "$scratch/said" ||
    fail "$place: $* ended with $ended, not $code, or doesn't say \"$text\":"$'\n'"$(tail -n 30 "$scratch/said")"
}

# Both tasks as the driver of the kit in folder $1 runs them; the rest is set before it: env NAME=VALUE, taskset, ...
trains() {
  local kit=$1
  shift
  does 0 "Throughput: " "$@" "$kit/odori" run multi_gpu --solution "${flags[@]}"
  does 0 "Throughput: " "$@" "$kit/odori" run multi_node --solution --ranks 2 --nodes 2 "${flags[@]}"
}

# The kit's own answer to one task, judged, and what says so in plain words.
judges() {
  local kit=$1 task=$2 solution
  shift 2
  solution=$(echo "$kit"/solutions/*_"$task")
  does 0 "80 of 100 points" "$@" "$kit/odori" check "$task" --no-speedup --lang en --program "$solution/train_cifar_$task.cpp" \
    --script "$solution/run_${task}_training.sh"
}

# As it stands, all built: nothing is installed or built anew.
as_built() {
  export ODORI_READY=yes ODORI_BUILD=$build
  trains "$kit" "$@"
  judges "$kit" multi_node "$@"
  does 0 "hint 1 of 3" "$@" "$kit/odori" hint multi_gpu 1 --lang en
  rm -f "$ODORI_STATE"
  unset ODORI_READY ODORI_BUILD
}

lang_c() { as_built env LC_ALL=C LANG=C; }
no_home() { as_built env -u HOME; }
no_such_home() { as_built env HOME=/nonexistent; }
one_core() { as_built taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"; }
slurm_job() {
  as_built env SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NODELIST='node[1-2]' SLURM_JOB_NODELIST='node[1-2]' SLURM_NNODES=2 \
    SLURM_JOB_NUM_NODES=2 SLURM_TASKS_PER_NODE='1(x2)' SLURM_NTASKS=2 SLURM_CPUS_ON_NODE=2 SLURM_PROCID=0 SLURM_LOCALID=0
}
pbs_job() {
  printf 'node1\nnode2\n' >"$scratch/hosts"
  as_built env PBS_JOBID=7.head PBS_NODEFILE="$scratch/hosts" PBS_ENVIRONMENT=PBS_INTERACTIVE PBS_O_WORKDIR=/
}
open_mpi_settings() {
  mkdir -p "$scratch/home/.openmpi"
  printf 'btl = self,sm,openib\nplm_rsh_agent = nowhere\norte_default_hostfile = /nowhere\n' >"$scratch/home/.openmpi/mca-params.conf"
  as_built env HOME="$scratch/home"
}
symlink() {
  ln -sfn "$kit" "$scratch/link"
  local kit=$scratch/link
  as_built env
}

# ---- With a build of their own

small=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DODORI_CUDA=OFF -DODORI_TESTS=OFF)
! command -v ccache >/dev/null || small+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

# copy FOLDER: the kit's files, without what was built and downloaded.
copy() {
  mkdir -p "$1"
  git -C "$kit" ls-files -z --cached --others --exclude-standard | tar -C "$kit" --null -T - -c | tar -C "$1" -x
}

# builds FOLDER [COMMAND...]: the kit there, by its driver, and both tasks.
builds() {
  local folder=$1
  shift
  export ODORI_INSTALL=no ODORI_BUILD=$folder/build
  does 0 "" cmake --preset release -S "$folder" -B "$folder/build" -G Ninja "${small[@]}" "$@"
  # The driver takes the folder as configured.
  bash -c "$(sed -n '/^packages=/,/)$/p' "$folder/odori"); echo \"\${packages[*]}\"" >"$folder/build/odori_packages"
  trains "$folder"
  unset ODORI_INSTALL ODORI_BUILD
}

plain_cmake() {
  copy "$scratch/plain"
  does 0 "" cmake -S "$scratch/plain" -B "$scratch/plain/build" "${small[@]}"
  does 0 "" cmake --build "$scratch/plain/build" --parallel "$(nproc)" --target train_cifar_multi_gpu
  does 0 "Throughput: " "$scratch/plain/build/bin/solutions/train_cifar_multi_gpu" "${flags[@]}"
}
clang() { copy "$scratch/clang" && builds "$scratch/clang" -DCMAKE_CXX_COMPILER=clang++; }
spaces_and_japanese() {
  local folder="$scratch/my kit's 踊り"
  copy "$folder" && builds "$folder"
  export ODORI_BUILD=$folder/build
  does 0 "Speedup: " env FLAGS="--device cpu --model tiny --epoch 1 --batchsize 16 --no-snapshot --dataset $scratch/data/synthetic" \
    bash "$folder/solutions/02_multi_node/run_multi_node_training.sh"
  does 0 "" cmake --build "$folder/build" --parallel "$(nproc)" --target odori_grader_program
  judges "$folder" multi_gpu
  unset ODORI_BUILD
}
tarball() {
  mkdir -p "$scratch/tarball" && git -C "$kit" archive HEAD | tar -C "$scratch/tarball" -x
  does 0 "" cmake -S "$scratch/tarball" -B "$scratch/tarball/build" "${small[@]}"
  rm -f "$ODORI_STATE"
  does 0 "hint 1 of 3" "$scratch/tarball/odori" hint multi_gpu 1 --lang en
}
worktree() {
  git -C "$kit" worktree add -q --detach "$scratch/worktree" || { fail "no worktree could be made" && return; }
  does 0 "" cmake -S "$scratch/worktree" -B "$scratch/worktree/build" "${small[@]}"
  rm -f "$ODORI_STATE"
  does 0 "hint 1 of 3" "$scratch/worktree/odori" hint multi_gpu 1 --lang en
  git -C "$kit" worktree remove --force "$scratch/worktree"
}

# COMMAND for an ordinary user of that Debian, with /proc and /dev, which a chroot alone hasn't.
in_debian() {
  unshare -m bash -c 'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot --userspec=1000:1000 "$0" "$@"' \
    "$scratch/debian" env -i PATH=/usr/bin:/bin HOME=/home ODORI_STATE=/tmp/state bash /home/kit/odori "$@"
}

# An ordinary user of a Debian 12 that has nothing else, without sudo. Needs root, mmdebstrap and Debian's packages.
no_packages() {
  mkdir "$scratch/debian"
  mmdebstrap --quiet --variant=apt bookworm "$scratch/debian" || { fail "mmdebstrap made no Debian" && return; }
  copy "$scratch/debian/home/kit" && chown -R 1000:1000 "$scratch/debian/home/kit"
  local word
  for word in "run multi_gpu" demo "check multi_gpu" setup; do
    # shellcheck disable=SC2086 # a word and its task
    does 20 "Nothing was installed: you are not root and may not use sudo. Missing packages: g++ cmake ninja-build" in_debian $word
  done
  does 0 "hint 1 of 3" in_debian hint multi_gpu 1 --lang en
}

"$build/bin/odori_make_synthetic" --train 640 --test 160 --out "$scratch/data/synthetic" >/dev/null || exit
for place in "${places[@]}"; do
  before=$failures begin=$SECONDS
  declare -F "$place" >/dev/null || { fail "there is no place $place; there are ${cheap[*]} ${dear[*]}" && break; }
  "$place"
  [[ $failures -gt $before ]] || echo "$place: as at home, after $((SECONDS - begin)) s"
done
exit $((failures > 0))
