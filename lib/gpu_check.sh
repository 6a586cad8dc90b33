#!/usr/bin/env bash
# shellcheck disable=SC2016 # `step` starts programs: a shell of their own expands the variables of some
# One command that proves the CUDA backend on the GPU at hand, within nine minutes: builds for it, runs everything that
# needs a GPU, and ends in a table.
#
#   lib/gpu_check.sh [OUT]        writes OUT/result.json and OUT/log.txt (default: out/gpu_check)
#
# Where the kit's libraries aren't installed and can't be, ODORI_GPU_PACKAGES names a folder of Debian packages (17 MB),
# which are unpacked beside the build and used from there. On a Debian 12 machine this fills it:
#   mkdir packages && cd packages && apt-get download $(sed -n 's/^# packages: //p' ../lib/gpu_check.sh)
# packages: libdnnl2 libdnnl-dev libfmt9 libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev zlib1g zlib1g-dev
# packages: openmpi-bin openmpi-common libopenmpi3 libopenmpi-dev libhwloc15 libevent-core-2.1-7 libevent-pthreads-2.1-7
# packages: libpmix2 libfabric1 libpsm2-2 libpsm-infinipath1 libucx0 libibverbs1 librdmacm1 libnl-3-200 libnl-route-3-200
# packages: libltdl7 libmunge2 libnuma1 libudev1 libuuid1 libatomic1
#
# ODORI_GPU_MINUTES (9): what has not begun by then counts as not run. ODORI_BUILD names the build folder
# (build-gpu_check). PYTHON names a python3 with PyTorch, for the comparison (python3).
# Exit codes: 0 all passed, or what is missing is listed (INCOMPLETE); 1 something failed; 12 doesn't build; 20 there is
# no GPU, or something that the build needs.
set -uo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-$kit/out/gpu_check}" && out=$(cd "${1:-$kit/out/gpu_check}" && pwd) || exit 20
build=${ODORI_BUILD:-$kit/build-gpu_check}
deadline=$((SECONDS + ${ODORI_GPU_MINUTES:-9} * 60))
python=${PYTHON:-python3}
rows=$(mktemp) && scratch=$(mktemp -d) || exit 20
trap 'rm -rf "$rows" "$scratch"' EXIT
export kit build scratch python
: >"$out/log.txt"

stop() { # EXIT_CODE SENTENCE
  printf 'gpu_check: %s\n' "$2" >&2
  exit "$1"
}

row() { # GROUP NAME STATUS SECONDS DETAIL
  printf '%s\t%s\t%s\t%s\t%s\n' "$@" >>"$rows"
  printf '%-12s %-44s %-8s %4s s  %s\n' "$1" "$2" "$3" "$4" "$5"
}

# The last line before mpirun's own.
last_words() {
  sed '/^-----/,$d; /^\[/d; /^ *$/d' "$scratch/said" | tail -n 1 | cut -c1-120
}

# step GROUP NAME SECONDS COMMAND...: runs it within that time, and makes a row of how it ended. $detail, a pattern, finds
# the row's detail in what it says.
step() {
  local group=$1 name=$2 limit=$3 begin=$SECONDS code=0 status=PASS text="" left
  shift 3
  left=$((deadline - SECONDS))
  if [[ $left -lt 5 ]]; then
    row "$group" "$name" "NOT RUN" 0 "no time was left"
    return 1
  fi
  printf '\n==== %s: %s: %s\n' "$group" "$name" "$*" >>"$out/log.txt"
  timeout -k 5 "$((limit < left ? limit : left))" "$@" >"$scratch/said" 2>&1 </dev/null || code=$?
  cat "$scratch/said" >>"$out/log.txt"
  [[ -z ${detail:-} ]] || text=$(grep -aoP "$detail" "$scratch/said" | tail -n 1)
  case $code in
    0) ;;
    124 | 137) status=FAIL text="not through after $((SECONDS - begin)) s" ;;
    20) status="NOT RUN" text=$(last_words) ;; # something is missing on this machine
    *) status=FAIL text="exit code $code: $(last_words)" ;;
  esac
  row "$group" "$name" "$status" $((SECONDS - begin)) "$text"
  return $code
}

# ---- What is here

find_gpu() {
  command -v nvidia-smi >/dev/null || stop 20 "there is no nvidia-smi, so no NVIDIA GPU and nothing to check. Run this on a machine with one."
  gpus=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) ||
    stop 20 "nvidia-smi finds no GPU that works: $gpus"
  n_gpus=$(wc -l <<<"$gpus")
  [[ -n $gpus ]] || stop 20 "nvidia-smi lists no GPU. In a job, ask for one."
}

# The packages become a folder like /usr, and Open MPI is told that it has moved there.
unpack_packages() {
  [[ -n ${ODORI_GPU_PACKAGES:-} ]] || return 0
  compgen -G "$ODORI_GPU_PACKAGES/*.deb" >/dev/null || stop 20 "ODORI_GPU_PACKAGES=$ODORI_GPU_PACKAGES has no .deb files; the head of $0 says how to fill it."
  local root=$build/packages libraries package
  rm -rf "$root" && mkdir -p "$root"
  for package in "$ODORI_GPU_PACKAGES"/*.deb; do
    dpkg -x "$package" "$root" || stop 20 "$package can't be unpacked."
  done
  libraries=$root/usr/lib/x86_64-linux-gnu
  ln -sf "$(find "$root" -name 'libz.so.1.*' | head -n 1)" "$libraries/libz.so" # it is an absolute link in the package
  ln -sf mpirun.openmpi "$root/usr/bin/mpirun"
  ln -sf mpicxx.openmpi "$root/usr/bin/mpicxx"
  export OPAL_PREFIX=$root/usr PATH=$root/usr/bin:$PATH OMPI_MCA_mca_base_component_show_load_errors=0
  export PMIX_INSTALL_PREFIX=$libraries/pmix2 PMIX_MCA_mca_base_component_path=$libraries/pmix2/lib/pmix
  export LD_LIBRARY_PATH=$libraries:$root/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  options+=("-DCMAKE_PREFIX_PATH=$root/usr" "-DMPI_CXX_COMPILER=$root/usr/bin/mpicxx"
    "-DMPIEXEC_EXECUTABLE=$root/usr/bin/mpirun")
}

# ---- Building

configure_and_build() {
  local tool generator=()
  for tool in cmake "${CXX:-c++}" "$python"; do
    command -v "$tool" >/dev/null || stop 20 "$tool is needed and isn't in PATH."
  done
  ! command -v ninja >/dev/null || generator=(-G Ninja)
  step build configure 120 cmake -S "$kit" -B "$build" "${generator[@]}" -DODORI_CUDA=ON "${options[@]}" || {
    tail -n 30 "$out/log.txt" >&2
    stop 20 "the kit can't be configured here; CMake's words are above. Libraries that can't be installed: see the head of $0."
  }
  # The tests' programs, by the tests that need a GPU.
  mapfile -t targets < <(ctest --test-dir "$build" -L '^gpu$' --show-only=json-v1 | "$python" -c '
import json, os, sys
commands = [word for test in json.load(sys.stdin)["tests"] for word in test.get("command", [])]
print(*sorted({os.path.basename(word) for word in commands if "/tests/" in word}), sep="\n")')
  [[ ${#targets[@]} -gt 1 ]] || stop 12 "there is no test that needs a GPU."
  step build "compile, ${#targets[@]} test programs" 300 cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" \
    bench_vgg bench_allreduce odori_make_synthetic odori_doctor train_cifar_single_gpu train_cifar_multi_gpu \
    train_cifar_multi_node || {
    grep -aE -A5 'error|FAILED' "$out/log.txt" | head -n 40 >&2
    stop 12 "the kit doesn't build here; the first errors are above, all is in $out/log.txt."
  }
}

# ---- What is run

# Every operation against the CPU and double precision, whole-network gradients, devices, ranks: the tests that need a
# GPU, one row each.
run_tests() {
  local name
  ctest --test-dir "$build" -L '^gpu$' --output-on-failure --output-junit "$scratch/tests.xml" \
    --stop-time "$(date -d '+200 seconds' +%T)" </dev/null >>"$out/log.txt" 2>&1
  "$python" - "$scratch/tests.xml" <<'END' >"$scratch/tests"
import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).getroot().iter("testcase"):
    skipped = case.find("skipped")
    status = {"run": "PASS", "fail": "FAIL"}.get(case.get("status"), "FAIL")
    if skipped is not None and "SKIP_RETURN_CODE" in skipped.get("message", ""):
        status = "SKIPPED"
    said = (case.findtext("system-out") or "").strip().splitlines()
    print(case.get("name"), status, round(float(case.get("time", 0))), said[0] if status == "SKIPPED" and said else "-", sep="\t")
END
  while IFS=$'\t' read -r name status seconds text; do
    [[ $name != *_ranks_gpu || $status == PASS ]] || ranks_proven=no
    row tests "$name" "$status" "$seconds" "${text#-}"
  done <"$scratch/tests"
  grep -q '_ranks_gpu' "$scratch/tests" || ranks_proven=no
}

mpi() { # RANKS COMMAND...
  local root=()
  [[ $EUID -ne 0 ]] || root=(--allow-run-as-root)
  "$kit/lib/comm/mpirun.sh" mpirun "${root[@]}" --oversubscribe --bind-to none -np "$@"
}

# Learns the synthetic pictures: with this many epochs every network that works is above 0.8.
learned() { # FOLDER
  "$python" -c '
import json, sys
accuracy = json.load(open(sys.argv[1] + "/result.json"))["log"][-1]["validation/main/accuracy"]
print(f"test accuracy {accuracy:.3f}")
sys.exit(accuracy < 0.8)' "$1"
}

export -f mpi learned

train_end_to_end() {
  local name flags detail='test accuracy.*|[0-9.]+ \[images/sec.\]'
  "$build/bin/odori_make_synthetic" --train 10000 --test 2000 --out "$scratch/data" >>"$out/log.txt" 2>&1
  flags=(--dataset "$scratch/data" --device cuda --share_devices --model mid --epoch 3 --batchsize 64 --no_snapshot)
  step training "one device" 60 bash -c '"$build/bin/solutions/train_cifar_single_gpu" "$@" --out "$scratch/1" && learned "$scratch/1"' - "${flags[@]}"
  step training "one device, bf16" 60 bash -c '"$build/bin/solutions/train_cifar_single_gpu" "$@" --precision bf16 --out "$scratch/2" && learned "$scratch/2"' - "${flags[@]}"
  step training "task 1: two devices, one process" 60 bash -c '"$build/bin/solutions/train_cifar_multi_gpu" "$@" --n_gpus 2 --out "$scratch/3" && learned "$scratch/3"' - "${flags[@]}"
  for name in 2 4; do
    step training "task 2: $name ranks, pure_nccl" 90 bash -c 'mpi "$0" "$build/bin/solutions/train_cifar_multi_node" "$@" --communicator pure_nccl --out "$scratch/ranks" && learned "$scratch/ranks"' $name "${flags[@]}" ||
      ranks_proven=no
  done
}

sanitize() {
  local tool
  if ! command -v compute-sanitizer >/dev/null; then
    row sanitizer "memcheck, racecheck" "NOT RUN" 0 "there is no compute-sanitizer in PATH"
    return
  fi
  "$build/bin/odori_make_synthetic" --train 64 --test 32 --out "$scratch/few" >>"$out/log.txt" 2>&1
  for tool in memcheck racecheck; do
    detail='ERROR SUMMARY.*|RACECHECK SUMMARY.*' step sanitizer "$tool, a small training" 90 compute-sanitizer --tool $tool \
      --error-exitcode 1 "$build/bin/solutions/train_cifar_single_gpu" --dataset "$scratch/few" --device cuda --model tiny \
      --epoch 1 --batchsize 16 --augment --no_snapshot --out "$scratch/sanitized"
  done
}

benchmark() {
  local -x ODORI_BUILD=$build
  detail='[0-9.]+ GB/s' step benchmark "all-reduce, 2 ranks" 40 bash -c 'mpi 2 "$build/bin/bench_allreduce" --device cuda --share_devices --rounds 5'
  detail='busy [0-9]+ %' step benchmark "doctor: GPU use in a training" 90 "$build/bin/odori_doctor" --json "$scratch/doctor.json"
  detail='kit bf16 / PyTorch.*' step benchmark "VGG beside PyTorch" 240 "$python" "$kit/lib/bench/compare_pytorch_gpu.py" \
    --rounds 3 --seconds 0.5 --rivals eager graph --json "$scratch/pytorch.json" && return
  for precision in fp32 tf32 bf16; do
    detail='[0-9.]+ images/s' step benchmark "VGG, batch 128, $precision" 30 "$build/bin/bench_vgg" --device cuda \
      --precision $precision --batchsize 128 --iterations 50 --rounds 3
  done
}

# ---- The end

conclude() {
  local verdict=PASSED unproven=()
  ! cut -f3 "$rows" | grep -qx FAIL || verdict=FAILED
  [[ $ranks_proven == yes ]] || unproven+=("NCCL between ranks")
  [[ $n_gpus -gt 1 ]] || unproven+=("several GPUs in one process over NCCL (needs two GPUs)" "NVLink and PCIe between GPUs")
  ! cut -f3 "$rows" | grep -qE 'NOT RUN|SKIPPED' || unproven+=("what is NOT RUN or SKIPPED above")
  if [[ $verdict == PASSED ]] && { [[ $ranks_proven != yes ]] || grep -v '^benchmark' "$rows" | cut -f3 | grep -qx 'NOT RUN'; }; then
    verdict=INCOMPLETE
  fi
  printf '\n%-12s %-44s %-8s %6s  %s\n' group what result time detail
  awk -F'\t' '{ printf "%-12s %-44s %-8s %4s s  %s\n", $1, $2, $3, $4, $5 }' "$rows"
  [[ ! -f $scratch/pytorch.json ]] || sed -n '/^VGG [0-9]*x/,/TFLOP/p' "$out/log.txt"
  printf 'Not proven here: %s\n' "${unproven[@]}"
  printf '%s, on %s\n' "$verdict" "$(head -n 1 <<<"$gpus")"
  "$python" - "$rows" "$verdict" "$gpus" "$scratch" "${unproven[@]}" <<'END' >"$out/result.json"
import json, pathlib, subprocess, sys, time
rows, verdict, gpus, scratch, *unproven = sys.argv[1:]
def read(name):
    path = pathlib.Path(scratch, name)
    return json.loads(path.read_text()) if path.exists() else None
print(json.dumps({
    "verdict": verdict, "date": time.strftime("%Y-%m-%d %H:%M"), "gpus": gpus.splitlines(), "not_proven": unproven,
    "steps": [dict(zip(("group", "what", "result", "seconds", "detail"), line.split("\t")))
              for line in pathlib.Path(rows).read_text().splitlines()],
    "doctor": read("doctor.json"), "pytorch": read("pytorch.json")}, indent=2))
END
  printf 'Written: %s and %s\n' "$out/result.json" "$out/log.txt"
  [[ $verdict != FAILED ]]
}

options=()
ranks_proven=yes
find_gpu
unpack_packages
configure_and_build
run_tests
train_end_to_end
sanitize
benchmark
conclude
