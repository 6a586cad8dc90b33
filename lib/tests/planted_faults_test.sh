#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Do the sanitizers see a fault in a library, in the way in which the tests of the training library are run with them?
#   planted_faults_test.sh BUILD
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
failures=0
while IFS='|' read -r sanitizer fault words; do
  folder=$1/sanitized/planted_$sanitizer ended=0
  said=$("$here/sanitized.sh" "$sanitizer" "$folder" "$folder/planted_fault_program" "$fault" 2>&1) || ended=$?
  # "none" alone ends well.
  { [[ $said == *"$words"* ]] && if [[ $fault == none ]]; then ((ended == 0)); else ((ended > 0)); fi; } || {
    printf 'FAILED: with "%s", the %s sanitizer ends with %d and says:\n%s\n' "$fault" "$sanitizer" "$ended" "$said"
    failures=$((failures + 1))
  }
done <<'END'
address|none|It came to its end.
address|outside of a buffer|heap-buffer-overflow
address|overflow|signed integer overflow
address|leak|detected memory leaks
thread|none|It came to its end.
thread|race|data race
END
exit $((failures > 0))
