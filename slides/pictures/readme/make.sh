#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the picture of README.md: `./odori watch` on a terminal. In English only: svg-term gives a Japanese character the width of a
# Latin one.
#   slides/pictures/readme/make.sh
# Needs a built Odori, and npm.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 "$here/record_watch.py" "$here/../../.." >"$scratch/watch.cast"
npx --yes svg-term-cli@2.1.1 --in "$scratch/watch.cast" --out "$here/watch.svg" --window --no-cursor
