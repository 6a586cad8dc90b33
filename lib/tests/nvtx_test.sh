#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A profiler sees the event stream's spans, and without one nothing is told.
#   nvtx_test.sh PROGRAM LISTENER
seen=$(NVTX_INJECTION64_PATH=$2 stdbuf -o0 "$1")
unseen=$(env -u NVTX_INJECTION64_PATH "$1")
[[ $seen == $'begin iteration\nbegin forward\nend\nwatched\nend' && $unseen == unwatched ]] && exit
printf 'With a profiler:\n%s\nwithout:\n%s\n' "$seen" "$unseen"
exit 1
