#!/usr/bin/env bash
# Makes the pictures of README.md and README.ja.md: `./odori watch` on a terminal, and the timeline of a short training on two nodes.
#   slides/pictures/readme/make.sh [watch|timeline]
# Needs a built Odori, npm and chromium. Both pictures are of this machine, on which nothing else should run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kit=$(cd "$here/../../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

watch() {
  local language=$1 picture=$2
  python3 "$here/record_watch.py" "$kit" "$language" >"$scratch/watch.cast"
  npx --yes svg-term-cli@2.1.1 --in "$scratch/watch.cast" --out "$picture" --window --no-cursor
}

timeline() {
  local language=$1 picture=$2
  "$kit/odori" timeline out/readme_trace --out "$scratch/timeline.html" --lang "$language"
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --lang="$language" --window-size=1100,640 \
    --screenshot="$picture" "file://$scratch/timeline.html" 2>/dev/null
}

cd "$kit"
if [[ ${1:-watch} == watch ]]; then
  watch en "$here/watch.svg"
  watch ja "$here/watch.ja.svg"
fi
if [[ ${1:-timeline} == timeline ]]; then
  rm -rf out/readme_trace
  ./odori run multi_node --solution --ranks 2 --nodes 2 --link 1gbit,50us --device cpu --model mid --batchsize 64 --epoch 1 \
    --dataset synthetic --fraction 0.05 --no_snapshot --out out/readme --trace out/readme_trace
  timeline en "$here/timeline.png"
  timeline ja "$here/timeline.ja.png"
fi
