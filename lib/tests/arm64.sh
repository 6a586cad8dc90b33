#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kit for arm64, the processors of GH200: configures it against Debian's arm64 packages, builds the training programs
# and the grader, and trains with one process and with two ranks, each under qemu.
#
#   lib/tests/arm64.sh [FOLDER] [CMAKE OPTION...]     all of it in FOLDER (default: build-arm64; 1 GB)
#
# On a Debian machine with another processor, with a network. Nothing is installed; needed are a cross compiler and qemu:
#   apt-get install g++-aarch64-linux-gnu qemu-user-static
# Exit codes: 0 all went well; 1 something failed; 20 something is missing here.
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "${1:-$kit/build-arm64}" && folder=$(cd "${1:-$kit/build-arm64}" && pwd)
root=$folder/root libraries=$folder/root/usr/lib/aarch64-linux-gnu
packages=(libstdc++-12-dev libc6-dev libopenmpi-dev libdnnl-dev libcli11-dev libfmt-dev libgtest-dev nlohmann-json3-dev
  zlib1g-dev libarchive-dev libicu-dev libssl-dev libkainjow-mustache-dev)

for tool in apt-get dpkg-deb cmake ninja mpirun python3 aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v $tool >/dev/null || {
    echo "arm64.sh: $tool is needed and isn't in PATH; the head of $0 says what to install." >&2
    exit 20
  }
done

# With a list of installed packages of their own, which is empty: so apt-get fetches all that they need.
apt_of_arm64() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 \
    -o Dir::State="$folder/apt" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt" "$@"
}
if [[ ! -e $root/complete ]]; then
  mkdir -p "$folder/apt"/{lists,archives}/partial "$root/usr/lib"
  : >"$folder/apt/status"
  apt_of_arm64 update
  apt_of_arm64 install -y --download-only --no-install-recommends "${packages[@]}"
  ln -sfn usr/lib "$root/lib"
  for package in "$folder"/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
  done
  # Links from the root of a file system would lead into this machine's.
  find "$root" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$root$target")" "$link"
  done
  touch "$root/complete"
fi

# FindMPI would ask this machine's pkg-config, and its compiler wrapper.
PKG_CONFIG_LIBDIR=$folder/none cmake -S "$kit" -B "$folder/build" -G Ninja -DODORI_CUDA=OFF -DODORI_WERROR=ON \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_SYSROOT="$root" \
  -DCMAKE_FIND_ROOT_PATH_MODE_{LIBRARY,INCLUDE,PACKAGE}=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
  "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64-static;-L;$root" -DMPI_SKIP_COMPILER_WRAPPER=ON -DMPI_CXX_SKIP_MPICXX=ON \
  -DMPI_CXX_HEADER_DIR="$libraries/openmpi/include" -DMPI_CXX_LIB_NAMES=mpi \
  -DMPI_mpi_LIBRARY="$libraries/openmpi/lib/libmpi.so" "${@:2}"
cmake --build "$folder/build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" --target \
  odori_make_synthetic odori_grader_program train_cifar_single_gpu train_cifar_multi_node

# learns OUT COMMAND...: a training whose loss falls from the first epoch to the last.
learns() {
  "${@:2}" --dataset "$folder/data" --device cpu --model tiny --epoch 3 --batchsize 16 --no-snapshot --out "$folder/$1"
  python3 -c '
import json, sys
losses = [epoch["main/loss"] for epoch in json.load(open(sys.argv[1] + "/result.json"))["log"]]
sys.exit(0 if losses[-1] < losses[0] else f"arm64.sh: the loss does not fall: {losses}")' "$folder/$1"
}
emulated=(qemu-aarch64-static -L "$root") programs=$folder/build/bin
"${emulated[@]}" "$programs/odori_make_synthetic" --train 320 --test 32 --out "$folder/data"
learns single "${emulated[@]}" "$programs/solutions/train_cifar_single_gpu"
export OMPI_MCA_btl_vader_single_copy_mechanism=none # qemu has no process_vm_readv
as_root=()
[[ $EUID -ne 0 ]] || as_root=(--allow-run-as-root)
learns ranks "$kit/lib/comm/mpirun.sh" mpirun "${as_root[@]}" --oversubscribe --bind-to none -np 2 "${emulated[@]}" \
  "$programs/solutions/train_cifar_multi_node" --communicator naive
"${emulated[@]}" "$programs/odori_grader" --help >/dev/null
echo "The kit builds for arm64, and trains there."
