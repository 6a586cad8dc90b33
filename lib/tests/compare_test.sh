#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./odori compare as a whole: two ranks over a simulated link, and one node.
#   compare_test.sh ODORI BUILD
set -euo pipefail
odori=$1
export ODORI_BUILD=$2 ODORI_READY=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  printf 'FAILED: %s\n' "$1"
  cat log
  exit 1
}
# has FILE TEXT WHAT
has() { grep -qE -- "$2" "$1" || fail "$3: no $2 in $1"; }

compare=("$odori" compare --device cpu --model mid --batchsize 4 --rounds 1)
"${compare[@]}" --link 100mbit,1ms --json copy.json >log 2>&1 || fail "it ended with an error"
for name in naive flat hierarchical two_dimensional single_node non_cuda_aware ring tree pure_nccl dummy ParallelUpdater; do
  has log "^$name " "every way has a line"
  has out/compare/result.json "\"name\": \"$name\"" "and is in the result"
  has out/compare/report.html "<td>$name</td>" "and on the page"
done
has log '^Measuring 10 communicators between 2 ranks, 1 round ' "it says first what it does"
has log '^Not measured: single_node: The communicator single_node works within one node' "what is refused says why"
has out/compare/report.html '計測なし：single_node は 1 ノード内で動きますが、ランクが 2 ノードにあります。' "and in Japanese on the page"
for file in log out/compare/report.html; do has $file '2 ranks on 2 nodes, over a simulated link of 100 Mbit/s, 1 ms' "the link is named"; done
has out/compare/result.json '"simulated_link": "100 Mbit/s, 1 ms"' "the link is named"
cmp out/compare/result.json copy.json >>log || fail "--json has another result"

# What the table says of each: E bytes go to the other node, and take as long as the link does.
python3 - <<'END' >>log 2>&1 || fail "the figures are not those of the link"
import json
result = json.load(open("out/compare/result.json"))
size = result["gradient_bytes"]
for way in result["exchanges"]:
    if "refused" in way or way["name"] == "ParallelUpdater":
        continue
    least = 0 if way["name"] == "dummy" else size
    sent, ms = way["sent_to_other_nodes"]["bytes"], way["milliseconds"]["median"]
    assert abs(sent - least) <= 0.001 * size, (way["name"], sent, size)
    assert ms >= least * 8 / 100e6 * 1e3 * 0.999, (way["name"], ms)
END

"${compare[@]}" --nodes 1 --out one >log 2>&1 || fail "it ended with an error on one node"
has log '^2 ranks on 1 node, devices: ' "no link is named where there is none"
! grep -q simulated_link one/result.json || fail "no link is named where there is none"

code=0
"${compare[@]}" --link fast >log 2>&1 || code=$?
[[ $code -eq 2 ]] || fail "a link that can't be ended with $code"
has log 'A link can.t be "fast"' "and a sentence"
! grep -q '^Gradients' log || fail "a link that can't be is refused after task 1 was measured"
echo "The comparison does what it says."
