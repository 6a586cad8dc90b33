#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # `step` starts programs: a shell of their own expands the variables of some
# One command that proves the CUDA backend on the GPU at hand, within nine minutes: builds for it, runs everything that
# needs a GPU, and ends in a table.
#
#   lib/gpu_check.sh [--only STAGE,STAGE] [OUT]    writes OUT/result.json and OUT/log.txt (default: out/gpu_check)
#
# Stages, in this order: build, tests, bench, training, ranks, sanitizer. What fails stops none that comes after it; with
# --only, the others are left out (without build: what was built before is taken). lib/gpu_check/stages.sh says what each runs.
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
# result.json then has what was run until then. Where nothing was run, as without a GPU, it is left as it is.
set -uo pipefail
unset CDPATH # with it, cd may go elsewhere, and says where
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
all_stages=build,tests,bench,training,ranks,sanitizer
stages=$all_stages

stop() { # EXIT_CODE SENTENCE
  printf 'gpu_check: %s\n' "$2" >&2
  exit "$1"
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed -n '4,/^set /{/^#/!d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  exit 0
fi
if [[ ${1:-} == --only ]]; then
  stages=${2:-}
  shift $(($# > 1 ? 2 : 1))
  [[ -n ${stages//,/} ]] || stop 2 "--only needs stages: some of $all_stages."
  IFS=, read -rd '' -a names <<<"$stages," # the comma takes the end of the line from the last name
  unset "names[-1]"
  for stage in "${names[@]}"; do
    [[ ,$all_stages, == *",$stage,"* && -n $stage ]] || stop 2 "there is no stage \"$stage\". --only takes some of $all_stages, joined by commas."
  done
fi
[[ ${1:-} != -* && $# -le 1 ]] || stop 2 "it takes [--only STAGE,STAGE] [OUT], in this order, not \"$*\"."
minutes=${ODORI_GPU_MINUTES:-9}
[[ $minutes =~ ^[0-9]{1,4}$ && 10#$minutes -gt 0 ]] || stop 2 "ODORI_GPU_MINUTES is a whole number of minutes from 1 to 9999, not \"$minutes\"."
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
command -v "$python" >/dev/null || stop 20 "$python is needed and isn't in PATH."

# shellcheck source=lib/gpu_check/steps.sh
. "$kit/lib/gpu_check/steps.sh"
# shellcheck source=lib/gpu_check/stages.sh
. "$kit/lib/gpu_check/stages.sh"

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
  ! has_run || printf 'Written: %s and %s\n' "$out/result.json" "$out/log.txt"
  [[ $verdict != FAILED ]] || return
  [[ $stages == build ]] || all_rows | grep -v '^build' | cut -f3 | grep -qx PASS || stop 12 "nothing of it could be run; what is known of why is above, all is in $out/log.txt."
}

wanted() { [[ ,$stages, == *",$1,"* ]]; }

options=()
ranks_proven=yes
find_gpu
: >"$out/log.txt" || stop 20 "$out/log.txt can't be written."
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
