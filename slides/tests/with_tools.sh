#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs node with the arguments given, where the slides' tools are. Where they aren't, a test is skipped (exit code 77); where tests
# run for everyone ($CI), that is a failure.
slides=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
missing=""
command -v node >/dev/null || missing+=" Node.js"
[[ -e $slides/node_modules/.package-lock.json ]] || missing+=" npm's packages"
command -v "${CHROME_PATH:-chromium}" >/dev/null || missing+=" Chromium"
[[ -n $missing ]] || exec node "$@"
echo "needs the slides' tools, which ./odori slides installs; missing:$missing"
[[ -z ${CI:-} ]] || exit 1
exit 77
