# SPDX-License-Identifier: Apache-2.0
# Read by data.sh and fetch_cifar.sh after command_line.sh: the table of archives, and whether a set is there.
# shellcheck shell=bash

table=${ODORI_ARCHIVES:-$(dirname "${BASH_SOURCE[0]}")/archives.txt}
# shellcheck disable=SC2034 # used where this is read
data_root=${ODORI_DATA:-$(dirname "${BASH_SOURCE[0]}")/cache}

# The rest of the table's lines that begin with these words.
table_lines() { awk -v kind="$1" -v set="$2" '$1 == kind && (set == "" || $2 == set)' "$table"; }

archive_names() { table_lines archive "" | awk '{print $2}'; }

# bytes_of FILE: its size, 0 if it isn't there.
bytes_of() { stat -c %s "$1" 2>/dev/null || echo 0; }

# first_fault SET FOLDER: one sentence on the first file that is missing or of a wrong size; nothing if all are right.
first_fault() {
  local name bytes
  while read -r _ _ name bytes; do
    if [[ ! -f $2/$name ]]; then
      say "$name is missing." "$name がありません。"
      return
    elif (($(bytes_of "$2/$name") != bytes)); then
      say "$name has $(bytes_of "$2/$name") bytes instead of $bytes." "$name が $bytes バイトでなく $(bytes_of "$2/$name") バイトです。"
      return
    fi
  done < <(table_lines file "$1")
}
