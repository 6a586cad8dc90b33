#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # `step` starts programs: a shell of their own expands the variables of some
# One command that proves the CUDA backend on the GPU at hand, within nine minutes: builds for it, runs everything that
# needs a GPU, and ends in a table.
#
#   lib/gpu_check.sh [--only STAGE,STAGE] [OUT]    writes OUT/result.json and OUT/log.txt (default: out/gpu_check)
#
# Stages, in this order: build, tests, bench, training, ranks, sanitizer. What fails stops none that comes after it; with
# --only, the others are left out (without build: what was built before is taken).
#
# Where the kit's libraries aren't installed and can't be, ODORI_GPU_PACKAGES names a folder of Debian packages (17 MB),
# which are unpacked beside the build and used from there. On a Debian 12 machine this fills it:
#   mkdir packages && cd packages && apt-get download $(sed -n 's/^# packages: //p' ../lib/gpu_check.sh)
# packages: libdnnl2 libdnnl-dev ocl-icd-libopencl1 libfmt9 libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev libkainjow-mustache-dev
# packages: zlib1g zlib1g-dev openmpi-bin openmpi-common libopenmpi3 libopenmpi-dev libhwloc15 libevent-core-2.1-7
# packages: libevent-pthreads-2.1-7 libpmix2 libfabric1 libpsm2-2 libpsm-infinipath1 libucx0 libibverbs1 librdmacm1
# packages: libnl-3-200 libnl-route-3-200 libltdl7 libmunge2 libnuma1 libudev1 libuuid1 libatomic1
#
# ODORI_GPU_MINUTES (9): what isn't through by then counts as not run. ODORI_BUILD names the build folder
# (build-gpu_check). PYTHON names a python3 with PyTorch, for the comparison (python3).
# Exit codes: 0 all passed, or what is missing is listed (INCOMPLETE); 1 something failed; 12 nothing of it could be
# run; 2 a flag or a setting is wrong; 20 there is no GPU, or something that the build needs; 128 + N signal N ended it:
# result.json then has what was run until then.
set -uo pipefail
unset CDPATH # with it, cd may go elsewhere, and says where
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
all_stages=build,tests,bench,training,ranks,sanitizer
stages=$all_stages

stop() { # EXIT_CODE SENTENCE
  printf 'gpu_check: %s\n' "$2" >&2
  exit "$1"
}

if [[ ${1:-} == --only ]]; then
  stages=${2:-}
  shift $(($# > 1 ? 2 : 1))
  for stage in ${stages//,/ }; do
    [[ ,$all_stages, == *",$stage,"* ]] || stop 2 "there is no stage \"$stage\". --only takes some of $all_stages."
  done
  [[ -n ${stages//,/} ]] || stop 2 "--only needs stages: some of $all_stages."
fi
[[ ${1:-} != -* && $# -le 1 ]] || stop 2 "it takes [--only STAGE,STAGE] [OUT], in this order, not \"$*\"."
minutes=${ODORI_GPU_MINUTES:-9}
[[ $minutes =~ ^[0-9]{1,4}$ ]] || stop 2 "ODORI_GPU_MINUTES is a whole number of minutes, not \"$minutes\"."
mkdir -p "${1:-$kit/out/gpu_check}" && out=$(cd "${1:-$kit/out/gpu_check}" && pwd) || exit 20
build=${ODORI_BUILD:-$kit/build-gpu_check}
[[ $build == /* ]] || build=$PWD/$build # tests run in other folders
deadline=$((SECONDS + 10#$minutes * 60))
python=${PYTHON:-python3}
scratch=$(mktemp -d) || exit 20
rows=() # here, not in a file: on a full disk a FAIL would be lost
verdict="NOT RUN" gpus="" unproven=() running=""
export kit build out scratch python
export GTEST_COLOR=no # mpirun gives ranks a terminal, and colours would stand in the rows
export PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin # compute-sanitizer lies beside nvcc, which is found there too
: >"$out/log.txt" || stop 20 "$out/log.txt can't be written."
command -v "$python" >/dev/null || stop 20 "$python is needed and isn't in PATH."

# After every step, too: what kills this may leave no time for a last word.
write_result() {
  "$python" -IS - "$(all_rows)" "$verdict" "$gpus" "$scratch" "$stages" "${unproven[@]}" <<'END' >"$out/result.json.new" && mv "$out/result.json.new" "$out/result.json"
import json, pathlib, sys, time
rows, verdict, gpus, scratch, stages, *unproven = sys.argv[1:]
def read(name):
    path = pathlib.Path(scratch, name)
    return json.loads(path.read_text()) if path.exists() else None
print(json.dumps({
    "verdict": verdict, "date": time.strftime("%Y-%m-%d %H:%M"), "gpus": gpus.splitlines(),
    "stages": stages.split(","), "not_proven": unproven,
    "steps": [dict(zip(("group", "what", "result", "seconds", "detail"), line.split("\t")))
              for line in rows.split("\n") if line],
    "doctor": read("doctor.json"), "pytorch": read("pytorch.json")}, indent=2))
END
}

at_end() {
  end_session
  write_result || echo "gpu_check: $out/result.json can't be written." >&2
  rm -rf "$scratch" "$out/result.json.new"
}
trap at_end EXIT
ended_by() { # SIGNAL
  stop $((128 + $(kill -l "$1"))) "ended by SIG$1; $out/result.json has what was run until then."
}
for signal in HUP INT TERM; do
  # shellcheck disable=SC2064 # which signal is known now
  trap "ended_by $signal" $signal
done

all_rows() { [[ ${#rows[@]} -eq 0 ]] || printf '%s\n' "${rows[@]}"; }

row() { # GROUP NAME STATUS SECONDS DETAIL
  local columns
  printf -v columns '%s\t' "${@//$'\t'/ }"
  rows+=("${columns%$'\t'}")
  printf '%-12s %-44s %-8s %4s s  %s\n' "$@"
  # Until the end is reached.
  [[ $verdict == FAILED ]] || verdict=INCOMPLETE
  [[ $3 != FAIL ]] || verdict=FAILED
  unproven=("what comes after the last step listed: the check was ended there")
  write_result
}

# What a step leaves behind would hold the GPU while the next one is measured: a training that hangs, a rank whose mpirun
# is gone. A step's processes are one session. A killed process holds the GPU a little longer, and one that hangs in the
# driver for ever: we wait ten seconds.
end_session() {
  local stat line fields left tries
  for ((tries = 0; ${running:-0} && tries < 100; tries++)); do
    left=()
    for stat in /proc/[0-9]*/stat; do
      { read -r line <"$stat"; } 2>/dev/null || continue
      read -ra fields <<<"${line##*) }" # state, parent, group, session
      [[ ${fields[3]} != "$running" || ${fields[0]} == Z ]] || left+=("${line%% *}")
    done
    [[ ${#left[@]} -gt 0 ]] || break
    kill -KILL "${left[@]}" 2>/dev/null
    sleep 0.1
  done
  wait "$running" 2>/dev/null
  running=""
}

# The last line before mpirun's own.
last_words() {
  sed '/^-----/,$d; /^\[/d; /^ *$/d' "$scratch/said" | tail -n 1 | cut -c1-120
}

# A session of its own, and the signals that a shell in the background, and Python, ignore are as usual again.
own_session='
import os, signal, sys
os.setsid()
for name in "SIGINT", "SIGQUIT", "SIGPIPE", "SIGXFSZ":
    signal.signal(getattr(signal, name), signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])'

# step GROUP NAME SECONDS COMMAND...: runs it within that time, and makes a row of how it ended. $detail, a pattern, finds
# the row's detail in what it says. Exit codes: 20 something is missing on this machine, 77 it doesn't concern it; but a GPU
# is here, as nvidia-smi said.
step() {
  local group=$1 name=$2 limit=$3 begin=$SECONDS code=0 status=PASS text="" left said_before cut_off
  shift 3
  left=$((deadline - SECONDS))
  if [[ $left -lt 5 ]]; then
    row "$group" "$name" "NOT RUN" 0 "no time was left"
    return 1
  fi
  printf '\n==== %s: %s: %s\n' "$group" "$name" "$*" >>"$out/log.txt"
  said_before=$(wc -c <"$out/log.txt")
  # Into the file, not a pipe: whoever is left behind would hold that open. `wait` hears signals.
  [[ $limit -le $left ]] && cut_off="" || limit=$left cut_off=yes
  "$python" -ISc "$own_session" timeout -k 5 "$limit" "$@" </dev/null >>"$out/log.txt" 2>&1 &
  running=$!
  wait "$running" 2>/dev/null || code=$? # bash would say that it was killed
  end_session
  tail -c "+$((said_before + 1))" "$out/log.txt" >"$scratch/said"
  [[ -z ${detail:-} ]] || text=$(grep -aoP "$detail" "$scratch/said" | tail -n 1)
  case $code in
    0) ;;
    124 | 137)
      status=FAIL text="not through after $((SECONDS - begin)) s"
      if [[ $((SECONDS - begin)) -lt $limit ]]; then
        text="killed: out of memory?"
      elif [[ -n $cut_off ]]; then
        status="NOT RUN" text="cut off after $((SECONDS - begin)) s: no time was left"
      fi
      ;;
    20) status="NOT RUN" text=$(last_words) ;;
    77)
      status=SKIPPED text=$(grep -aoP '[0-9]+: \Kneeds .*' "$scratch/said" | tail -n 1)
      [[ $text != "needs a GPU;"* ]] || status=FAIL
      ;;
    *) status=FAIL text="exit code $code: $(last_words)" ;;
  esac
  row "$group" "$name" "$status" $((SECONDS - begin)) "$text"
  return "$code"
}

# ---- What is here

find_gpu() {
  local visible
  command -v nvidia-smi >/dev/null || stop 20 "there is no nvidia-smi, so no NVIDIA GPU and nothing to check. Run this on a machine with one."
  gpus=$(timeout -k 5 30 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) ||
    stop 20 "nvidia-smi finds no GPU that works: ${gpus:-it gave no answer in 30 s}"
  n_gpus=$(wc -l <<<"$gpus")
  [[ -n $gpus ]] || stop 20 "nvidia-smi lists no GPU. In a job, ask for one."
  [[ -n ${CUDA_VISIBLE_DEVICES+set} ]] || return 0 # it hides GPUs from programs, and none from nvidia-smi
  IFS=, read -ra visible <<<"$CUDA_VISIBLE_DEVICES"
  [[ ${#visible[@]} -gt 0 && ${visible[0]} != -1 ]] || stop 20 "CUDA_VISIBLE_DEVICES is \"$CUDA_VISIBLE_DEVICES\", which leaves no GPU to check. Unset it, or name GPUs."
  n_gpus=$((${#visible[@]} < n_gpus ? ${#visible[@]} : n_gpus))
}

# What a reader of the log has to know of this machine.
describe_machine() {
  local tool
  {
    grep -h '^PRETTY_NAME=' /etc/os-release
    timeout -k 5 30 nvidia-smi --query-gpu=index,name,driver_version,memory.total,clocks.max.sm,mig.mode.current --format=csv
    for tool in cmake ninja "${CXX:-c++}" nvcc mpirun "$python" compute-sanitizer; do
      printf '%s: %s\n' "$tool" "$(command -v "$tool" >/dev/null && "$tool" --version 2>&1 | grep -m 1 '[0-9]\.[0-9]' || echo none)"
    done
    printf 'ssh: %s\n' "$(command -v ssh || echo none)"
    printf 'CUDA_VISIBLE_DEVICES: %s\n' "${CUDA_VISIBLE_DEVICES-unset}"
    # cuDNN compiles some of its engines with it; it is found beside cuDNN, too. Without it, they are left out.
    printf 'NVRTC: %s\n' "$(ldconfig -p 2>/dev/null | grep -m 1 -o 'libnvrtc[.]so.*' || echo "unknown to ldconfig")"
    printf 'OpenCL: %s\n' "$(ldconfig -p 2>/dev/null | grep -m 1 -o 'libOpenCL.*' || echo none)"
  } 2>&1 | tee -a "$out/log.txt"
}

# The packages become a folder like /usr, and Open MPI is told that it has moved there.
unpack_packages() {
  [[ -n ${ODORI_GPU_PACKAGES:-} ]] || return 0
  compgen -G "$ODORI_GPU_PACKAGES/*.deb" >/dev/null || stop 20 "ODORI_GPU_PACKAGES=$ODORI_GPU_PACKAGES has no .deb files; the head of $0 says how to fill it."
  local root=$build/packages of_machine libraries package
  rm -rf "$root" && mkdir -p "$root"
  for package in "$ODORI_GPU_PACKAGES"/*.deb; do
    dpkg -x "$package" "$root" || stop 20 "$package can't be unpacked."
  done
  of_machine=$(uname -m)-linux-gnu
  libraries=$root/usr/lib/$of_machine
  ln -sf "$(find "$root" -name 'libz.so.1.*' | head -n 1)" "$libraries/libz.so" # it is an absolute link in the package
  ln -sf mpirun.openmpi "$root/usr/bin/mpirun"
  ln -sf mpicxx.openmpi "$root/usr/bin/mpicxx"
  # Debian's settings for Open MPI, which leave out networks that aren't here, are looked for beside it.
  ln -sfn ../etc/openmpi "$root/usr/etc"
  printf '\nmca_base_component_show_load_errors = 0\n' >>"$root/etc/openmpi/openmpi-mca-params.conf"
  export PMIX_MCA_pcompress_base_silence_warning=1 # its plug-in for zlib isn't found there, and isn't missed
  export OPAL_PREFIX=$root/usr PATH=$root/usr/bin:$PATH OMPI_MCA_mca_base_param_files=$root/usr/etc/openmpi-mca-params.conf
  export PMIX_INSTALL_PREFIX=$libraries/pmix2 PMIX_MCA_mca_base_component_path=$libraries/pmix2/lib/pmix
  export LD_LIBRARY_PATH=$libraries:$root/lib/$of_machine${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  options+=("-DCMAKE_PREFIX_PATH=$root/usr" "-DMPI_CXX_COMPILER=$root/usr/bin/mpicxx"
    "-DMPIEXEC_EXECUTABLE=$root/usr/bin/mpirun")
}

# ---- Building

# The tests that need a GPU: kernels first, then operations and networks, then all that stands on them.
names_of_tests() { # [-v] PATTERN
  ctest --test-dir "$build" -N -L '^gpu$' | sed -n 's/^ *Test *#[0-9]*: //p' | grep -E "$@" |
    awk '{ print ($0 ~ /^cuda_/ ? 1 : $0 ~ /^backend_/ ? 2 : 3) " " $0 }' | sort -n -s -k1,1 | cut -d' ' -f2
}

configure_and_build() {
  local tool generator=() go_on=-k
  for tool in cmake ctest "${CXX:-c++}" "$python"; do
    command -v "$tool" >/dev/null || stop 20 "$tool is needed and isn't in PATH."
  done
  ! command -v ninja >/dev/null || { generator=(-G Ninja) && go_on=-k0; }
  step build configure 240 cmake -S "$kit" -B "$build" "${generator[@]}" -DODORI_CUDA=ON -DODORI_GRADER=OFF "${options[@]}" || {
    tail -n 30 "$out/log.txt" >&2
    verdict="NOT RUN"
    stop 20 "the kit can't be configured here; CMake's words are above. Libraries that can't be installed: see the head of $0."
  }
  # What doesn't build keeps the rest from nothing.
  step build "compile" 300 cmake --build "$build" --parallel "$(nproc)" --target gpu_tests bench_vgg bench_allreduce \
    odori_make_synthetic odori_doctor train_cifar_single_gpu train_cifar_multi_gpu train_cifar_multi_node nccl_gpu -- $go_on ||
    grep -aE -A5 'error|FAILED' "$out/log.txt" | head -n 40 >&2
}

# ---- What is run

# One of ctest's, by itself: so it has its row as soon as it has ended, whatever the next one does.
one_test() { # NAME
  local how where
  ctest --test-dir "$build" -R "^$1\$" -V --output-log "$scratch/ctest" || {
    ! grep -q '[*]Not Run' "$scratch/ctest" || { echo "its program was not built" && return 20; }
    # How ("Subprocess aborted***Exception:"), and where: the case that failed first; the last that began, if it ended there;
    # its last words, if none began.
    how=$(grep -aoP '\.{3} *\K[^.]*[*]{3}.*?(?=:? +[0-9.]+ sec)' "$scratch/ctest" | tail -n 1)
    where=$(grep -aoP '\[ RUN      \] \K.*' "$scratch/ctest" | tail -n 1)
    [[ $how != '***Failed'* ]] || where=$(grep -aoP '\[  FAILED  \] \K[\w./]+' "$scratch/ctest" | head -n 1)
    [[ -z $where ]] && where=": $(grep -aoP '^[0-9]+: \K.*\w.*' "$scratch/ctest" | tail -n 1)" || where=" in $where"
    how=${how#'***'}
    printf '%s%s\n' "${how/'***'/: }" "$where"
    return 1
  }
  ! grep -q '[*]Skipped' "$scratch/ctest" || return 77
}

run_tests() { # [-v] PATTERN
  local name names
  names=$(names_of_tests "$@")
  [[ -n $names ]] || row tests "those that need a GPU" "NOT RUN" 0 "ctest lists none in $build: build them first, without --only"
  for name in $names; do
    step tests "$name" 300 bash -c 'one_test "$0"' "$name" || [[ $name != *_ranks_gpu ]] || ranks_proven=no
  done
}

mpi() { # RANKS COMMAND...
  local root=()
  [[ $EUID -ne 0 ]] || root=(--allow-run-as-root)
  "$kit/lib/comm/mpirun.sh" mpirun "${root[@]}" --oversubscribe --bind-to none -np "$@"
}

# Learns the synthetic images: with this many epochs every network that works is above 0.8.
learned() { # FOLDER
  "$python" -c '
import json, sys
accuracy = json.load(open(sys.argv[1] + "/result.json"))["log"][-1]["validation/main/accuracy"]
print(f"test accuracy {accuracy:.3f}")
sys.exit(accuracy < 0.8)' "$1"
}

# In some virtual machines a GPU can be used, but not watched.
watched() { # TOOL PROGRAM...
  ODORI_TEST_DEVICE=cuda compute-sanitizer --tool "$1" --kernel-regex kns=odori --error-exitcode 1 "${@:2}" 2>&1 | tee "$scratch/watched"
  local code=${PIPESTATUS[0]}
  ! grep -q 'Device not supported' "$scratch/watched" || { echo "compute-sanitizer does not support this machine's GPU" && return 20; }
  return "$code"
}

export -f mpi learned one_test watched

train_end_to_end() {
  local detail='test accuracy.*|[0-9.]+ \[images/sec.\]'
  step training "one device" 60 bash -c '"$build/bin/solutions/train_cifar_single_gpu" "$@" --out "$scratch/1" && learned "$scratch/1"' - "${flags[@]}"
  step training "one device, bf16, --autotune" 90 bash -c '"$build/bin/solutions/train_cifar_single_gpu" "$@" --precision bf16 --autotune --show-algorithms --out "$scratch/2" && learned "$scratch/2"' - "${flags[@]}"
  step training "task 1: two devices, one process" 60 bash -c '"$build/bin/solutions/train_cifar_multi_gpu" "$@" --n-gpus 2 --out "$scratch/3" && learned "$scratch/3"' - "${flags[@]}"
}

# Several ranks on one GPU are as good as several hosts to NCCL, which then speaks through the loopback device.
check_ranks() {
  local name
  local -x NCCL_SOCKET_IFNAME=lo
  run_tests '_ranks_gpu$'
  local detail='test accuracy.*|[0-9.]+ \[images/sec.\]'
  for name in 2 4; do
    step training "task 2: $name ranks, pure_nccl" 90 bash -c 'mpi "$0" "$build/bin/solutions/train_cifar_multi_node" "$@" --communicator pure_nccl --out "$scratch/ranks" && learned "$scratch/ranks"' $name "${flags[@]}" ||
      ranks_proven=no
  done
  for name in 1 2; do
    detail='right on every rank' step training "task 7: $name ranks, CUDA and NCCL" 60 bash -c 'said=$(mpi "$0" "$build/bin/solutions/nccl_gpu" 2>&1); echo "$said"; [[ $said == *"right on every rank"*"right on every GPU"* ]]' $name
  done
  profile_streams
  detail='[0-9.]+ GB/s' step benchmark "all-reduce, 2 ranks" 40 bash -c 'mpi 2 "$build/bin/bench_allreduce" --device cuda --share-devices --rounds 5'
}

# The streams of task 7 as Nsight Systems sees them: a file for its window, and the sums by kernel in the log.
profile_streams() {
  if ! command -v nsys >/dev/null; then
    row benchmark "task 7 under Nsight Systems" "NOT RUN" 0 "there is no nsys in PATH"
    return
  fi
  detail='Written: .*' step benchmark "task 7 under Nsight Systems" 90 bash -c 'nsys profile --force-overwrite true --trace cuda,nvtx \
    --output "$out/nccl_streams" "$build/bin/solutions/nccl_gpu" && nsys stats --force-export true --report cuda_gpu_kern_sum \
    "$out/nccl_streams.nsys-rep" && echo "Written: $out/nccl_streams.nsys-rep"'
}

# The kit's own kernels alone: cuDNN's and cuBLAS's take hours, and aren't ours. The other tools than memcheck watch the kernels'
# own tests: under racecheck (2025.3) a kernel of cuDNN's fails on an H100, also where none is watched.
sanitize() {
  local tool tests detail='[A-Z]+ SUMMARY: .*'
  if ! command -v compute-sanitizer >/dev/null; then
    row sanitizer "memcheck, racecheck" "NOT RUN" 0 "there is no compute-sanitizer in PATH"
    return
  fi
  "$build/bin/odori_make_synthetic" --train 64 --test 32 --out "$scratch/few" >>"$out/log.txt" 2>&1
  step sanitizer "memcheck, a small training" 120 bash -c 'watched memcheck "$@"' - "$build/bin/solutions/train_cifar_single_gpu" \
    --dataset "$scratch/few" --device cuda --model tiny --epoch 1 --batchsize 16 --augment --no-snapshot --out "$scratch/sanitized"
  tests=$(names_of_tests '^cuda_.*_gpu$')
  for tool in racecheck initcheck synccheck; do
    step sanitizer "$tool, the kernels' tests" 120 bash -c '[[ -n $1 ]] || { echo "ctest lists none" && exit 20; }
      for name in $1; do watched "$0" "$build/tests/${name%_gpu}" || exit; done' "$tool" "$tests"
  done
}

benchmark() {
  local -x ODORI_BUILD=$build
  local precision
  for precision in bf16 tf32 fp32; do
    detail='[0-9.]+ images/s' step benchmark "VGG, batch 128, $precision" 60 "$build/bin/bench_vgg" --device cuda \
      --precision $precision --batchsize 128 --iterations 50 --rounds 3
  done
  detail='[0-9.]+ images/s' step benchmark "VGG, batch 128, bf16, --autotune" 90 "$build/bin/bench_vgg" --device cuda \
    --precision bf16 --batchsize 128 --iterations 50 --rounds 3 --autotune
  detail='kit bf16 / PyTorch.*' step benchmark "VGG beside PyTorch" 150 "$python" "$kit/lib/bench/compare_pytorch_gpu.py" \
    --settings 32x128 32x512 --precisions bf16 --rounds 3 --seconds 0.5 --rivals eager graph --json "$scratch/pytorch.json"
  detail='busy [0-9]+ %' step benchmark "doctor: GPU use in a training" 60 \
    bash -c '"$build/bin/odori_doctor" --lang en --json "$scratch/doctor.json" || exit 1' # what it misses isn't missed here
}

# ---- The end

conclude() {
  [[ $verdict == FAILED ]] || verdict=PASSED
  unproven=()
  if [[ $verdict == PASSED ]] && { ! all_rows | cut -f1,3 | grep -qx $'tests\tPASS' || [[ $stages != "$all_stages" ]] ||
    [[ $ranks_proven != yes ]] || all_rows | grep -v '^benchmark' | cut -f3 | grep -qx 'NOT RUN'; }; then
    verdict=INCOMPLETE
  fi
  [[ $ranks_proven == yes && ,$stages, == *,ranks,* ]] || unproven+=("NCCL between ranks")
  [[ $n_gpus -gt 1 ]] || unproven+=("several GPUs in one process over NCCL (needs two GPUs)" "NVLink and PCIe between GPUs")
  [[ $stages == "$all_stages" ]] || unproven+=("the stages that --only leaves out")
  ! all_rows | cut -f3 | grep -qE 'NOT RUN|SKIPPED' || unproven+=("what is NOT RUN or SKIPPED above")
  printf '\n%-12s %-44s %-8s %6s  %s\n' group what result time detail
  all_rows | awk -F'\t' '{ printf "%-12s %-44s %-8s %4s s  %s\n", $1, $2, $3, $4, $5 }'
  [[ ! -f $scratch/pytorch.json ]] || sed -n '/^VGG [0-9]*x/,/TFLOP/p' "$out/log.txt"
  [[ ${#unproven[@]} -eq 0 ]] || printf 'Not proven here: %s\n' "${unproven[@]}"
  printf '%s, on %s\n' "$verdict" "$(head -n 1 <<<"$gpus")"
  printf 'Written: %s and %s\n' "$out/result.json" "$out/log.txt"
  [[ $verdict != FAILED ]] || return
  [[ $stages == build ]] || all_rows | grep -v '^build' | cut -f3 | grep -qx PASS || stop 12 "nothing of it could be run; what is known of why is above, all is in $out/log.txt."
}

wanted() { [[ ,$stages, == *",$1,"* ]]; }

options=()
ranks_proven=yes
find_gpu
describe_machine
unpack_packages
! wanted build || configure_and_build
[[ -x $build/bin/odori_make_synthetic ]] && "$build/bin/odori_make_synthetic" --train 10000 --test 2000 --out "$scratch/data" >>"$out/log.txt" 2>&1
flags=(--dataset "$scratch/data" --device cuda --share-devices --model mid --epoch 3 --batchsize 64 --no-snapshot)
! wanted tests || run_tests -v '_ranks_gpu$'
! wanted bench || benchmark
! wanted training || train_end_to_end
! wanted ranks || check_ranks
! wanted sanitizer || sanitize
conclude
