#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program behind `./odori data synthetic`, and the words of `./odori data`: exit codes, sentences, and that a failure
# leaves what was there as it was.
# shellcheck disable=SC2317 # `expect` calls the functions
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
export ODORI_DATA=$scratch/cache
failures=0

# expect CODE TEXT COMMAND...: its exit code, and a text that its output holds.
expect() {
  local code=0 output
  output=$("${@:3}" 2>&1) || code=$?
  if ((code != $1)) || [[ $output != *"$2"* ]]; then
    printf 'FAILED: %s\n  expected: exit code %s and "%s"\n  seen:     exit code %s and "%s"\n' "${*:3}" "$1" "$2" "$code" "$output"
    failures=$((failures + 1))
  fi
}
# expect_files FOLDER NAMES: nothing else lies in it.
expect_files() { expect 0 "holds [$2]" bash -c "echo holds [\$(ls -A '$1' | xargs)]"; }
data() { "$here/../data.sh" "$@"; }

expect 0 "synthetic  not there: ./odori data synthetic" data list
expect 0 "Wrote the synthetic set: $ODORI_DATA/synthetic (20 training and 10 test images, seed 0)" \
  data synthetic --train 20 --test 10
expect_files "$ODORI_DATA" "synthetic"
expect 0 "synthetic  there: $ODORI_DATA/synthetic" data list
before=$(md5sum "$ODORI_DATA"/synthetic/*; stat -c %Y "$ODORI_DATA"/synthetic/*)
expect 0 "is there already" data synthetic
expect 0 "is there already" data synthetic --train 20 --seed 0
expect 1 "holds another synthetic set (20 training and 10 test images, seed 0). Nothing was changed." data synthetic --seed 1
expect 0 "$before" bash -c "md5sum '$ODORI_DATA'/synthetic/*; stat -c %Y '$ODORI_DATA'/synthetic/*"
expect 0 "Wrote the synthetic set" data synthetic --train 20 --test 10 --seed 1 --force
expect_files "$ODORI_DATA" "synthetic"
expect 1 "" bash -c "md5sum --check --status <<<'$before'"

mkdir "$scratch/mine"
echo precious >"$scratch/mine/thesis.txt"
expect 1 "is there, but isn't a complete synthetic set. Nothing was changed." data synthetic --force --out "$scratch/mine"
expect 0 precious cat "$scratch/mine/thesis.txt"

expect 1 "can't be made" data synthetic --out "$scratch/mine/thesis.txt/set"
expect 1 "/proc can't be written to" data synthetic --out /proc/set
expect 2 "--train" data synthetic --train 4 --out "$scratch/new"
expect 2 "--train" data synthetic --train many --out "$scratch/new"
expect 2 "--seed" data synthetic --seed -1 --out "$scratch/new"
expect 2 "there is no \`./odori data dance\`" data dance
expect 0 "usage: ./odori data" data --help
expect 0 "./odori setup" bash -c "ODORI_BUILD=$scratch/nowhere '$here/../data.sh' synthetic || true"

# A limit on the size of a file stands for a full disk.
full_disk() { (trap '' XFSZ; ulimit -f 100; data synthetic --train 1000 --test 10 "$@"); }
expect 1 "can't be written: File too large. Nothing was kept" full_disk --out "$scratch/full/set"
expect_files "$scratch/full" ""
kept=$(md5sum "$ODORI_DATA"/synthetic/*)
expect 1 "can't be written" full_disk --force
expect 0 "" md5sum --check --status <<<"$kept"
expect_files "$ODORI_DATA" "synthetic"

# Ctrl-C: nothing stays.
interrupted() {
  "${ODORI_BUILD:?}/bin/odori_make_synthetic" --train 1000000 --out "$scratch/interrupted/set" &
  local program=$!
  until compgen -G "$scratch/interrupted/.set.*/new/data_batch_1.bin" >/dev/null; do sleep 0.05; done
  kill -TERM "$program"
  wait "$program"
}
expect 130 "Interrupted. Nothing was kept of the set." interrupted
expect_files "$scratch/interrupted" ""

((failures == 0)) && echo "All as expected."
exit $((failures > 0))
