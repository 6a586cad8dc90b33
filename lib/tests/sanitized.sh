#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test on the training library that has a sanitizer, in the place of its own.
#   sanitized.sh address|thread FOLDER_OF_THE_LIBRARY [MPIRUN ... --] PROGRAM
set -euo pipefail
sanitizer=$1 folder=$2
shift 2
launcher=()
if [[ " $* " == *" -- "* ]]; then
  while [[ $1 != -- ]]; do launcher+=("$1") && shift; done
  shift
fi
environment=(LD_LIBRARY_PATH="$folder")
# Without the one or the other, all would pass unseen.
nm -D "$folder/libodori.so" | grep "__[at]san_init" >/dev/null || { echo "$folder/libodori.so has no sanitizer."; exit 1; }
env "${environment[@]}" ldd "$1" | grep -F "=> $folder/libodori.so" >/dev/null || { echo "$1 takes another library."; exit 1; }
if [[ $sanitizer == address ]]; then
  # The program has none itself: its memory is checked by what comes before all libraries.
  environment+=(LD_PRELOAD="$("${CXX:-g++}" -print-file-name=libasan.so)")
  # Memory that Open MPI doesn't give back at its end is its own affair.
  [[ ${#launcher[@]} -eq 0 ]] || environment+=(ASAN_OPTIONS=detect_leaks=0)
else
  # GCC 12's thread sanitizer finds no room where the kernel spreads addresses widely. Not everywhere may that be turned off.
  ! setarch -R true 2>/dev/null || launcher+=(setarch -R)
  environment+=(TSAN_OPTIONS=halt_on_error=1)
  # UCX, which newer Open MPIs load, starts a thread that it never joins: for a file system of its own counters.
  environment+=(UCX_VFS_ENABLE=n)
fi
exec "${launcher[@]}" env "${environment[@]}" "$@"
