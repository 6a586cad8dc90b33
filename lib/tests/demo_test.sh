#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo as a whole, on a set of a few hundred images; a training that fails; an interrupt.
#   demo_test.sh ODORI BUILD
set -euo pipefail
odori=$1
export ODORI_BUILD=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  printf 'FAILED: %s\n' "$1"
  exit 1
}

"$ODORI_BUILD/bin/odori_make_synthetic" --train 320 --test 100 --out "$scratch/tiny" >log
demo=("$ODORI_BUILD/bin/odori_demo" --device cpu --dataset "$scratch/tiny" --epoch 1 --out out)

ODORI_DRIVER=$odori "${demo[@]}" >log 2>&1 || { cat log; fail "the demo ended with an error"; }
timed=$(grep -c '"images_per_second"' out/result.json) || true
throughputs=$(grep -c '^Throughput: ' log) || true
. "$(dirname "$odori")/lib/threads/cores.sh"
cores=$(usable_cores) expected=$((cores >= 4 ? 4 : cores >= 2 ? 3 : 1))
[[ $timed -eq $expected ]] || { cat log; fail "$timed trainings were timed, not $expected"; }
# The first one three times, in between the others; the headline's too, so that it has a range.
# Before them, the warm-up.
repeats=$((expected > 1 ? 4 : 2))
[[ $throughputs -eq $((1 + expected + repeats)) ]] || { cat log; fail "$throughputs trainings showed their throughput, not $((1 + expected + repeats))"; }
grep -q '^A short warm-up, to choose how many images the runs train on:$' log || { cat log; fail "no warm-up is announced"; }
grep -q '^Each run trains on 320 images for 1 epoch\.$' log || { cat log; fail "it doesn't say on how many images it trains"; }
grep -q '^The baseline, one device, was timed 3 times, in between the others, at ' log || { cat log; fail "the first run wasn't timed in between"; }
[[ $expected -eq 1 ]] || grep -q 'task 1: 1 process x 2 devices was [0-9.]* to [0-9.]* times as fast in 3 rounds' log || { cat log; fail "the headline has no range"; }
[[ $(grep -c '^\[[0-9]/[0-9]\] .* (about [0-9]* s left)$' log) -ge 5 ]] || { cat log; fail "it doesn't say how long is left"; }
grep -q '^epoch  *main/loss  *validation/main/loss' log || { cat log; fail "no epoch table was shown"; }
grep -q '^one device  *1  *1  *-  *[0-9]*  *1.00  *100 %' log || { cat log; fail "no table compares the trainings"; }
[[ $expected -eq 4 ]] || grep -q '^Not timed: .* would have to share' log || fail "it hides what it did not time"
grep -q '<canvas id="speedup"' out/report.html || fail "the page has no speedup chart"

# With a part of the data set that is asked for, there is no warm-up, and the time is estimated from the first run.
rm -r out
ODORI_DRIVER=$odori "${demo[@]}" --fraction 0.5 >log 2>&1 || { cat log; fail "the demo ended with an error"; }
grep -q '^Each run trains on 160 images for 1 epoch\.$' log && ! grep -q 'warm-up' log || { cat log; fail "--fraction doesn't choose the images"; }
grep -q '^\[2/[0-9]\] .* (about [0-9]* s left)$' log || { cat log; fail "it doesn't say how long is left after the first run"; }

# A training that fails is named, and no result is left that looks like a whole one.
printf '#!/bin/sh\nexit 3\n' >driver
chmod +x driver
rm -r out
if ODORI_DRIVER=$PWD/driver "${demo[@]}" >log 2>&1; then fail "a failing training passed"; fi
grep -q "driver run single_gpu .*--fraction" log || { cat log; fail "it does not say what failed"; }
grep -q "exit code 3" log || { cat log; fail "it does not say how it failed"; }
[[ ! -e out/result.json ]] || fail "a failed demo wrote a result"

# An interrupt ends the running training too.
printf '#!/bin/sh\necho $$ >child\nexec sleep 100\n' >driver
ODORI_DRIVER=$PWD/driver "${demo[@]}" >log 2>&1 &
pid=$!
for _ in {1..100}; do
  [[ ! -s child ]] || break
  sleep 0.1
done
kill -TERM $pid
code=0
wait $pid || code=$?
[[ $code -eq 130 ]] || { cat log; fail "interrupted, it ended with exit code $code"; }
! kill -0 "$(<child)" 2>/dev/null || fail "the training goes on without the demo"
echo "The demo does what it says."
