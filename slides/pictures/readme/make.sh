#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the pictures of the READMEs: `./odori watch` on a terminal, in English only (svg-term gives a Japanese character the width
# of a Latin one), and two measured iterations, device by device (slides/results/timeline.json says when and where).
#   slides/pictures/readme/make.sh
# Needs a built Odori, and npm.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$here/record_watch.py" "$here/../../.." >"$scratch/watch.cast"
npx --yes svg-term-cli@2.1.1 --in "$scratch/watch.cast" --out "$here/watch.svg" --window --no-cursor

for language in en ja; do # on white, since a page may be dark
  node --input-type=module -e "import draw from '$here/../timeline.mjs'; console.log(draw('$language'))" |
    sed '1s|>|><rect width="100%" height="100%" fill="#fff"/>|' >"$here/timeline.$language.svg"
done
