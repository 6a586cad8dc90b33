#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No two headers define types of one name in one namespace. Where they do, no compiler sees both, and the linker takes what it
# finds first, a std::vector's destructor say, for both.
#   unique_names.sh [KIT]
cd "${1:-$(dirname "$0")/../..}" || exit

found=$(find lib grader datasets exercises solutions -name '*.h' -not -path 'lib/tests/*' -exec awk '
  FNR == 1 { space = "" }
  # The last one that was opened: what follows a namespace within another one would be taken for its.
  /^}  \/\/ namespace/ { space = outer[space] }
  /^(inline )?namespace .*{$/ { inner = $0; sub(/.*namespace /, "", inner); sub(/ *{$/, "", inner)
                                name = space == "" ? inner : space "::" inner; outer[name] = space; space = name }
  /^template/ { next }
  /^(struct|class|enum class|enum) [A-Za-z_0-9]+ .*{/ && !/^template/ {
    type = $0; sub(/^(struct|class|enum class|enum) /, "", type); sub(/[ :{].*/, "", type)
    print space "::" type, FILENAME ":" FNR
  }
' {} +)
[[ -n $found ]] || { echo "There is no type to check in $PWD: is this the kit?"; exit 1; }
twice=$(cut -d' ' -f1 <<<"$found" | sort | uniq -d)
for name in $twice; do
  echo "$name is defined more than once: $(awk -v name="$name" '$1 == name { printf "%s%s", between, $2; between = " and " }' <<<"$found")"
done
[[ -z $twice ]] && echo "$(wc -l <<<"$found") types have names of their own."
