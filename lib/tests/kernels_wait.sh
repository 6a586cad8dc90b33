#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each CUDA kernel of a folder waits for the kernel before it in its first statement: launch.h lets it begin before that
# one has ended, and its own end has to mean that all before it have ended, too.
#   kernels_wait.sh FOLDER
set -uo pipefail
awk '
  function complain(what) {
    print FILENAME ":" FNR ": the kernel " kernel " " what "."
    failed = 1
  }
  FNR == 1 { kernel = "" }
  in_body { # its first line
    if ($0 !~ /^  wait_for_previous_kernel\(\);$/) complain("does not begin with wait_for_previous_kernel(), as all have to")
    ++kernels
    kernel = in_body = ""
  }
  /__global__ *$/ || /__restrict__|__ldg/ {
    kernel = $0
    complain("is not known to wait before it reads: write its name after __global__, and neither __restrict__ nor __ldg")
    kernel = ""
  }
  match($0, /__global__ .*/) {
    kernel = substr($0, RSTART + 11)
    sub(/^__launch_bounds__\([^)]*\) /, "", kernel)
    sub(/^void /, "", kernel)
    sub(/\(.*/, "", kernel)
  }
  kernel != "" && /\}$/ {
    complain("is a single line. Write its body on lines of its own, the first of them wait_for_previous_kernel()")
    kernel = ""
  }
  kernel != "" && /\{$/ { in_body = 1 }
  END {
    if (!kernels) {
      print "No kernel is in the files given."
      failed = 1
    }
    if (!failed) print kernels " kernels wait for the kernel before them."
    exit failed
  }' "$1"/*.cu "$1"/*.h
