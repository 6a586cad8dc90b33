#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Breaks each of the include rules once, in a kit of its own, and expects include_rules.sh to say so.
rules=$(cd "$(dirname "$0")" && pwd)/include_rules.sh
kit=$(mktemp -d) || exit
trap 'rm -r "$kit"' EXIT
failures=0

# expect FILE INCLUDE SENTENCE: the rules' words about a kit in which FILE has this one include. No sentence: it may.
expect() {
  local said
  rm -rf "${kit:?}"/*
  mkdir -p "$kit"/{lib,datasets,grader,solutions,exercises/{support,common,1/support,2/support}} "$kit/$(dirname "$1")"
  mkdir -p "$kit"/solutions/1 && touch "$kit"/solutions/1/exercise.json
  touch "$kit"/exercises/support/test_cases.h "$kit"/exercises/common/shared.h "$kit"/exercises/1/support/{one_support,inner}.h "$kit"/exercises/2/support/two_support.h
  printf '// head\n#include %s\n' "$2" >"$kit/$1"
  said=$(bash "$rules" "$kit") && [[ -n $3 ]] && said="accepted: $said"
  [[ -z $3 && $said == "1 includes follow"* || -n $3 && $said == "$1:2: "*"$3"* ]] && return
  echo "$1 with $2: expected '${3:-no complaint}', and it said: $said"
  failures=$((failures + 1))
}

# expect_reached TEXT SENTENCE: the rules' words about a kit whose lib/odori.h reaches a header with this text through another
# header. No sentence: it may.
expect_reached() {
  local said
  rm -rf "${kit:?}"/*
  mkdir -p "$kit"/{lib/{train,observe},datasets,grader,solutions}
  echo '#include "train/a.h"' >"$kit/lib/odori.h"
  echo '#include "train/b.h"' >"$kit/lib/train/a.h"
  echo '#include "observe/hooks.h"' >"$kit/lib/train/not_reached.h"
  printf '// head\n%s\n' "$1" >"$kit/lib/train/b.h"
  said=$(bash "$rules" "$kit") && [[ -n $2 ]] && said="accepted: $said"
  [[ -z $2 && $said == *" includes follow"* || -n $2 && $said == "lib/train/b.h:2: "*"$2"* ]] && return
  echo "A reached header with $1: expected '${2:-no complaint}', and it said: $said"
  failures=$((failures + 1))
}

expect lib/errors/a.h '<vector>' ''
expect lib/errors/a.h '"trace/trace.h"' 'errors may include nothing else'
expect lib/backend/cpu/a.cpp '"data/batch.h"' ''
expect lib/backend/cpu/a.cpp '"data/cifar.h"' 'backend may include errors files numbers program threads data/batch.h trace observe alone'
expect lib/model/a.cpp '"optim/optimizer.h"' 'model may include'
expect lib/distributed/multi_node_optimizer.h '"comm/communicator.h"' ''
expect lib/train/a.cpp '"distributed/scatter.h"' 'train may include'
expect lib/optim/optimizer.h '"comm/communicator.h"' 'optim may include'
expect lib/train/trainer.cpp '<comm/communicator.h>' 'train may include'
expect lib/report/page.cpp '"pages.h"' ''
expect lib/train/trainer.h '"odori.h"' 'train may include'
expect lib/news/a.cpp '"errors/error.h"' 'the folder news'
expect lib/comm/flat.cpp '<mpi.h>' ''
expect lib/train/a.cpp '<mpi.h>' 'only lib/comm, its tests and bench_allreduce may'
expect lib/bench/bench_allreduce.cpp '<mpi.h>' ''
expect lib/model/a.cpp '<oneapi/dnnl/dnnl.hpp>' 'only lib/backend/cpu may'
expect lib/flags/command_line.cpp '<CLI/CLI.hpp>' ''
expect lib/flags/command_line.h '<CLI/CLI.hpp>' 'only lib/flags/command_line.cpp may'
expect datasets/a.cpp '<CLI/CLI.hpp>' 'only lib/flags/command_line.cpp may'
expect solutions/1/a.cpp '<CLI/CLI.hpp>' 'only lib/flags/command_line.cpp may'
expect solutions/1/a.cpp '"odori.h"' ''
expect solutions/2/a.cpp '"train/trainer.h"' ''
expect solutions/1/a.cpp '"one_support.h"' ''
expect exercises/1/a.cpp '"one_support.h"' ''
expect solutions/1/a.cpp '"two_support.h"' 'a training program includes odori.h and its own'
expect solutions/1/a.cpp '"inner.h"' 'a training program includes odori.h and its own'
expect solutions/1/a.cpp '"train/trainer.h"' 'a training program includes odori.h and its own'
expect exercises/1/a.cpp '"observe/hooks.h"' 'a training program includes odori.h and its own'
expect exercises/1/support/a.cpp '"observe/hooks.h"' ''
expect exercises/1/support/a.cpp '"inner.h"' ''
expect exercises/1/support/a.cpp '"test_cases.h"' ''
expect exercises/1/support/a.cpp '"two_support.h"' 'of its own folder alone'
expect exercises/1/support/a_test.cpp '"train_support.h"' ''
expect exercises/1/support/a.cpp '"runner/run.h"' 'support code never includes the grader'
expect exercises/1/support/one_support.h '"comm/communicator.h"' ''
expect exercises/1/support/one_support.h '"observe/hooks.h"' 'a header for programs includes the library without observe/'
expect exercises/1/support/one_support.h '"inner.h"' 'a header for programs includes the library without observe/'
expect exercises/1/support/one_support.h '"test_cases.h"' 'a header for programs includes the library without observe/'
expect exercises/1/support/one_support.h '<nlohmann/json.hpp>' 'the library and the standard library alone'
expect exercises/1/support/one_support.h '"shared.h"' ''
expect exercises/1/support/a.cpp '"shared.h"' ''
expect exercises/1/a.cpp '"shared.h"' 'a training program includes odori.h and its own'
expect exercises/common/shared.cpp '"shared.h"' ''
expect exercises/common/shared.cpp '"inner.h"' 'of its own folder alone'
expect exercises/common/other.h '"data/batch.h"' ''
expect exercises/common/other.h '"observe/hooks.h"' 'a header for programs includes the library without observe/'
expect exercises/common/other.h '<nlohmann/json.hpp>' 'the library and the standard library alone'
expect lib/train/a.cpp '"shared.h"' 'lib includes no header of an exercise'
expect lib/train/a.cpp '"one_support.h"' 'lib includes no header of an exercise'
expect lib/backend/cuda/a.cu '<cudnn.h>' ''
expect lib/report/html.cpp '<mustache.hpp>' ''
expect grader/classroom/reports/page.cpp '<mustache.hpp>' 'only lib/report/html.cpp may'
expect lib/backend/emulated/a.cpp '<cublas_v2.h>' ''
expect lib/tests/cuda_a_test.cpp '<cuda_runtime.h>' ''
expect lib/train/a.cu '<cuda_runtime.h>' 'only lib/backend/cuda, lib/backend/emulated, their tests, and exercises in support/gpu and'
expect lib/backend/cpu/a.cpp '<cuda_runtime.h>' 'only lib/backend/cuda, lib/backend/emulated, their tests, and exercises in support/gpu and'
expect lib/backend/cuda/a.cpp '<nccl.h>' ''
expect lib/backend/emulated/a.h '<nccl.h>' ''
expect lib/tests/cuda_a_test.cpp '<nccl.h>' ''
expect lib/tests/comm_a_test.cpp '<nccl.h>' 'only lib/backend/cuda, lib/backend/emulated, their tests, and exercises in support/gpu and'
expect lib/comm/pure_nccl.cpp '<nccl.h>' 'only lib/backend/cuda, lib/backend/emulated, their tests, and exercises in support/gpu and'
expect lib/comm/a.h '"backend/device.h"' ''
expect lib/backend/a.h '"comm/communicator.h"' 'backend may include'
expect grader/checks/a.h '"runner/run.h"' ''
expect grader/runner/a.h '"checks/verdict.h"' "of the grader's folders runner may include blanks alone"
expect grader/classroom/reports/a.h '"classroom/marking/record.h"' ''
expect grader/classroom/reports/a.h '"classroom/marking/results.h"' "of the grader's folders classroom/reports may include"
expect grader/classroom/grade.cpp '"classroom/self_test/self_test.h"' ''
expect grader/runner/a.cpp '<unicode/uchar.h>' 'only grader/classroom/marking/student_name.cpp may'
expect grader/news/a.h '"runner/run.h"' 'the folder news'
expect grader/tests/a.cpp '"classroom/grade.h"' ''

touch "$kit"/exercises/2/support/inner.h
if bash "$rules" "$kit" | grep -q "inner.h has the same name"; then :; else
  echo "Two support headers of the same name: expected a complaint."
  failures=$((failures + 1))
fi

expect lib/train/a.cpp '"observe/hooks.h"' ''
expect lib/report/a.cpp '"observe/hooks.h"' 'report may include'
expect lib/observe/a.cpp '"train/trainer.h"' 'observe may include errors files numbers program threads data/batch.h trace alone'
expect_reached '#include "errors/error.h"  // observe::' ''
expect_reached '#include "observe/hooks.h"' 'lib/odori.h reaches this file'
expect_reached '#include <observe/facts.h>' 'lib/odori.h reaches this file'
expect_reached 'namespace odori::observe { void on_use_device(int); }' "names the observer's namespace"
expect_reached 'inline void use() { observe::on_use_device(1); }' "names the observer's namespace"
exit $((failures > 0))
