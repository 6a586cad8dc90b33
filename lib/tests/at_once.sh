#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs several of a GoogleTest program's cases at the same time, for those that mostly wait: each of n processes has every n-th, and
# its number before its lines.
#   at_once.sh N PROGRAM
set -uo pipefail
export GTEST_TOTAL_SHARDS=$1
for ((i = 0; i < GTEST_TOTAL_SHARDS; ++i)); do
  GTEST_SHARD_INDEX=$i "$2" 2>&1 | sed -u "s/^/$i: /" &
  processes[i]=$!
done
failed=0
for process in "${processes[@]}"; do
  wait "$process" || failed=1
done
exit $failed
