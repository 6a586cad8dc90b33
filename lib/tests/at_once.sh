#!/bin/bash
# Runs several of a GoogleTest program's cases at the same time, for those that mostly wait: each of n processes has every n-th.
#   at_once.sh N PROGRAM
set -u
folder=$(mktemp -d) || exit
trap 'rm -r "$folder"' EXIT
export GTEST_TOTAL_SHARDS=$1
for ((i = 0; i < GTEST_TOTAL_SHARDS; ++i)); do
  GTEST_SHARD_INDEX=$i "$2" >"$folder/$i" 2>&1 &
  processes[i]=$!
done
failed=0
for ((i = 0; i < GTEST_TOTAL_SHARDS; ++i)); do
  wait "${processes[i]}" || failed=1
  cat "$folder/$i"
done
exit $failed
