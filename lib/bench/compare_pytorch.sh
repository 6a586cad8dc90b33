#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kit's VGG beside PyTorch's: one run of each in turn, round after round, so that a busy machine slows both.
#   compare_pytorch.sh [BATCHSIZE [THREADS [ROUNDS]]]        (default: 64 1 9; the kit built in build/, python3-torch)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
batch=${1:-64} threads=${2:-1} rounds=${3:-9}
bin=${ODORI_BUILD:-$here/../../build}/bin

rate() { grep -oP '[0-9.]+(?= images/s)'; }
for ((round = 1; round <= rounds; ++round)); do
  kit=$("$bin/bench_vgg" --batchsize "$batch" --threads "$threads" --rounds 3 | rate)
  pytorch=$(/usr/bin/python3 "$here/bench_pytorch.py" --batchsize "$batch" --threads "$threads" --rounds 3 | rate)
  echo "$kit $pytorch"
done | awk -v batch="$batch" -v threads="$threads" '
  { ratio[NR] = $1 / $2; printf "round %d: kit %.1f, PyTorch %.1f images/s: %.2f x\n", NR, $1, $2, ratio[NR]; fflush() }
  END {
    for (i = 2; i <= NR; ++i)
      for (j = i; j > 1 && ratio[j - 1] > ratio[j]; --j) { t = ratio[j]; ratio[j] = ratio[j - 1]; ratio[j - 1] = t }
    printf "VGG, batch %d, %d thread(s): %.2f x PyTorch (median of %d rounds; %.2f .. %.2f)\n", batch, threads,
           ratio[int(NR / 2) + 1], NR, ratio[1], ratio[NR]
  }'
