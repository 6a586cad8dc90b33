# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What tests of ./odori have in common. Counts in `failures`.

# expect CODE TEXT COMMAND...: the command ends with this code and says this.
expect() {
  local code=$1 text=$2 output actual
  shift 2
  output=$("$@" 2>&1)
  actual=$?
  if [[ $actual -ne $code || $output != *"$text"* ]]; then
    printf 'FAILED: %s\nexpected exit code %s and: %s\ngot exit code %s and: %s\n' "$*" "$code" "$text" "$actual" "$output"
    failures=$((failures + 1))
  fi
}
