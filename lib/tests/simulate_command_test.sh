#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./odori simulate as a whole: the kit's answers on simulated ranks, a straggler, and what it refuses.
#   simulate_command_test.sh ODORI BUILD
set -euo pipefail
odori=$1
export ODORI_BUILD=$2 ODORI_READY=1 LC_ALL=C.UTF-8
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
# simulate CODE TASK FLAG...
simulate() {
  local code=0 expected=$1
  shift
  "$odori" simulate "$1" --solution --timings 16:0.02,64:0.05 "${@:2}" >log 2>&1 || code=$?
  [[ $code -eq $expected ]] || fail "$* ended with $code, not $expected"
}

simulate 0 ring --ranks 64 --gpus-per-node 8 --network 100gbit,5us --straggler 7:1.5
has log '^The kit.s all-reduce on 64 ranks \(8 nodes of 8\)$' "it names the cluster"
has log '^100 Gbit/s, 5 us between nodes; 200 Gbit/s, 2 us within them. 59.9[0-9]* MB of gradients \(vgg\)' "and its links"
has log '^messages that the busiest rank sends +126 +126$' "a ring sends 2 (n - 1) messages"
has log '^ *64 ' "the curve ends at all ranks"
has out/simulate/ring.html '<h1><span lang="en">The kit.*s all-reduce on 64 ranks' "the page has the title"
has out/simulate/ring.html 'lang="ja">模範解答の all-reduce' "in Japanese too"
# The ring's time is its closed form; the straggler's computation is waited for.
python3 - <<'END' >>log 2>&1 || fail "the figures are not those of the closed form"
import json, re
page = open("out/simulate/ring.html").read()
assert not {"{{", "src="} & set(re.findall(r"{{|src=", page.split("<script")[0]))
scaling = json.loads(re.search(r'id="scaling">(.*?)</script>', page).group(1))
curves = {curve["name"]["en"]: {point["x"]: point["y"] for point in curve["points"]} for curve in scaling["curves"]}
assert sorted(curves["the kit's answer"]) == [2, 4, 8, 16, 32, 64], curves
for n, ms in curves["the kit's answer"].items():
    formula = curves["ring, formula"][n]
    assert abs(ms / formula - 1) < 1e-6, (n, ms, formula)
    assert curves["the kit's ring"][n] == ms, (n, ms, curves["the kit's ring"])
    # The formula has all ranks begin each of the tree's steps at once. Here a node's card begins some earlier.
    tree, of_formula = curves["the kit's tree"][n], curves["tree, formula"][n]
    assert 0.99 < tree / of_formula < 1 + 1e-6, (n, tree, of_formula)
rows = {name: (float(a), float(b)) for name, a, b in
        re.findall(r'<td><span lang="en">([^<]*)</span>.*?</td><td>([\d.]+) ms</td><td>([\d.]+) ms', page)}
simulated, formula = rows["an iteration"]
assert abs(simulated - formula) < 0.01 and simulated > 1.5 * 30, rows
data = json.loads(re.search(r'id="data">(.*?)</script>', page).group(1))
ranks = [row["rank"] for row in data["rows"]]
assert len(ranks) == 8 and {0, 6, 7, 8, 63} <= set(ranks), ranks
waits = {row["rank"]: row["waiting"] for row in data["rows"]}
assert waits[7] < 1e3 < 14e3 < waits[0], waits
END

simulate 0 3 --ranks 6 --gpus-per-node 8 --full-size --model tiny --lang ja --out other
has log '^模範解答の all-reduce：1 ノードの 6 ランク$' "by the task's number, in Japanese"
has other/ring.html '<title>Odori: 模範解答の all-reduce' "the page under --out has a title in the language"

simulate 0 pipeline --ranks 16 --gpus-per-node 4 --microbatches 8
has log '^micro-batches held at most, 1F1B +8 +8$' "1F1B holds as many micro-batches as there are stages, or all"
has log '^micro-batches held at most, GPipe +8 +8$' "GPipe holds all"
has out/simulate/pipeline.html 'The kit.*s pipeline on 16 ranks' "the page has the title"

# A straggler slows down both schedules, and no formula is of it. 32 micro-batches, each 4 times as long on one of 8 ranks.
simulate 0 pipeline --ranks 8 --straggler 3:4 --timings 32:0.05,64:0.09
has log '^an iteration, 1F1B +25[.0-9]* ms +-$' "the straggler computes for 25 ms"
has log '^an iteration, GPipe +2[56][.0-9]* ms +-$' "by both schedules"
has log '^Without stragglers: 1F1B takes' "the curve is without stragglers"

simulate 2 ring --ranks 12 --gpus-per-node 8
has log '12 ranks do not fill nodes of 8' "nodes are full"
simulate 2 ring --straggler 7
has log '\-\-straggler takes a rank from 0 to 1023 and a factor above 0, as in 7:1.5, not "7"' "a straggler has a factor"
simulate 1 pipeline --ranks 4 --microbatches 5
has log "32 images can't be split into 5 micro-batches" "micro-batches divide the images"
simulate 1 pipeline --ranks 4 --microbatches 5 --lang ja
has log '32 枚の画像は 5 個のマイクロバッチに分割できません' "the program speaks the language that was asked for"
simulate 2 ring --straggler 7 --lang ja
has log '指定された値は「7」' "and so does the command"
simulate 2 overlap
has log "./odori simulate isn't for overlap. It takes ring pipeline." "a task without a simulation is refused"
echo "The simulation does what it says."
