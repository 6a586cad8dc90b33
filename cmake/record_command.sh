#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record_command.sh FILE COMMAND...: runs the command, and keeps it: its folder, then each of its words, in a line each.
# The grader compiles and links as CMake does by these.
file=$1
shift
mkdir -p "$(dirname "$file")"
printf '%s\n' "$PWD" "$@" >"$file"
exec "$@"
