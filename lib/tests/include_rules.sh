#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who may include what: the graphs of lib/README.md and grader/README.md. Says FILE:LINE and the rule for each #include that breaks one.
#   include_rules.sh [KIT]
cd "${1:-$(dirname "$0")/../..}" || exit

# A folder of the library, and what it may include besides itself: folders, or single headers.
base="errors files numbers program threads"
declare -A may=(
  [errors]=""
  [numbers]="errors"
  [files]="errors"
  [program]="errors"
  [threads]="errors files program"
  [trace]="$base"
  [observe]="$base data/batch.h trace"
  [data]="$base trace observe"
  [backend]="$base data/batch.h trace observe"
  [comm]="$base trace observe backend"
  [model]="$base trace observe backend"
  [optim]="$base trace observe backend model distributed/exchange/strategy.h"
  [report]="$base trace"
  [train]="$base trace observe backend data model optim report distributed/exchange/strategy.h"
  [distributed]="$base trace observe backend comm data model optim report train"
  [horovod]="$base observe comm model optim train distributed"
  [doctor]="$base backend comm report flags"
  [flags]="$base backend comm data model optim"
  [simulate]="errors files threads comm"
  [predict]="$base trace data backend model optim comm report train flags simulate"
)
# The same for the grader's folders, among themselves. Each subfolder of classroom/ has rules of its own.
declare -A grader_may=(
  [blanks]=""
  [messages]="blanks"
  [runner]="blanks"
  [checks]="blanks runner"
  [exercises]="blanks runner checks"
  [authoring]="blanks messages runner checks"
  [learner]="blanks messages runner checks"
  [classroom/course]="blanks classroom/refusal.h"
  [classroom/marking]="blanks runner checks classroom/refusal.h classroom/course"
  [classroom/reports]="blanks messages classroom/marking/student_name.h classroom/marking/record.h classroom/course"
  [classroom/self_test]="blanks messages runner checks classroom classroom/course classroom/marking classroom/reports"
  [classroom]="blanks messages runner checks classroom/course classroom/marking classroom/reports classroom/self_test"
)

# A library beyond the kit, by its headers; the files that may include it; these in words.
outside=(
  '^mpi\.h$' '^lib/(comm/|tests/(comm_|mpi_main)|bench/bench_allreduce\.cpp$)' 'lib/comm, its tests and bench_allreduce'
  '^(oneapi/)?dnnl' '^lib/backend/cpu/' 'lib/backend/cpu'
  '^CLI/' '^lib/flags/command_line\.cpp$' 'lib/flags/command_line.cpp'
  '^(cuda|cudnn|cublas|curand|cub/|thrust/)' '^lib/(backend/(cuda|emulated)/|tests/cuda_)|^exercises/[^/]*/support/(gpu/|[^/]*_support\.h$)' 'lib/backend/cuda, lib/backend/emulated, their tests, and exercises in support/gpu and *_support.h'
  '^archive' '^grader/(classroom/marking/archive|tests/attack_run)\.cpp$' "grader/classroom/marking/archive.cpp and attack_run.cpp"
  '^openssl/' '^grader/classroom/marking/content\.cpp$' 'grader/classroom/marking/content.cpp'
  '^unicode/' '^grader/classroom/marking/student_name\.cpp$' 'grader/classroom/marking/student_name.cpp'
  '^nvtx3/' '^lib/trace/trace\.cpp$|^lib/tests/nvtx_' 'lib/trace/trace.cpp and its tests'
  '^mustache' '^lib/report/html\.cpp$' 'lib/report/html.cpp'
  '^nccl\.h$' '^lib/(backend/(cuda|emulated)/|tests/cuda_)|^exercises/[^/]*/support/(gpu/|[^/]*_support\.h$)' 'lib/backend/cuda, lib/backend/emulated, their tests, and exercises in support/gpu and *_support.h'
)

broken=0
rule() {
  echo "$file:$line: includes $header, but $1 (lib/README.md)."
  broken=1
}

check_outside() {
  local i
  for ((i = 0; i < ${#outside[@]}; i += 3)); do
    if [[ $header =~ ${outside[i]} && ! $file =~ ${outside[i + 1]} ]]; then rule "only ${outside[i + 2]} may"; fi
  done
}

check_folders() {
  local from=${file#lib/} to=${header%%/*}
  from=${from%%/*}
  if [[ $file == grader/*/* ]]; then
    check_grader
    return
  fi
  if [[ $file == exercises/*support/* || $file == exercises/common/* ]]; then
    check_support
    return
  fi
  local folder=${file#*/}
  folder=${folder%%/*}
  if [[ ($file == solutions/*/* && -e solutions/$folder/exercise.json) || $file == exercises/*/* ]]; then
    # The two copies of a training program see the library and their support code through one header each.
    [[ $header == odori.h || ($header == *_support.h && -e exercises/$folder/support/$header) ]] ||
      rule "a training program includes odori.h and its own exercise's *_support.h alone"
    return
  fi
  [[ $file != lib/* || -z ${support_headers[$header]+known} ]] || rule "lib includes no header of an exercise"
  [[ $file == lib/*/* ]] || return
  [[ $from =~ ^(tests|bench|demo)$ || $to == "$from" ]] && return
  [[ $header != */* && $header != odori.h ]] && return  # beside the file, or generated for it
  [[ -n ${may[$from]+known} ]] || { rule "the folder $from isn't in the graph; add it here and"; return; }
  [[ " ${may[$from]} " == *" $to "* || " ${may[$from]} " == *" $header "* ]] && return
  rule "$from may include ${may[$from]:-nothing else of the library} alone"
}

# What a program's header includes, answers can name.
is_for_programs() { [[ $file == exercises/*_support.h || $file == exercises/common/*.h ]]; }

# Support code of exercises.
check_support() {
  local to=${header%%/*}
  [[ -z ${grader_may[$to]+known} ]] || rule "support code never includes the grader"
  [[ $header == */* || -e ${file%/*}/$header || ($file == */support/gpu/* && -e ${file%/gpu/*}/$header) || -e exercises/support/$header || -e exercises/common/$header || $file == *_test.cpp ]] ||
    rule "support code includes the headers of the library, of exercises/support, exercises/common and of its own folder alone"
  is_for_programs || return
  [[ $to != observe && ($header == */* || $header == *_support.h || -e exercises/common/$header) ]] ||
    rule "a header for programs includes the library without observe/, other *_support.h and exercises/common alone"
}

# A grader's folder of a path below grader/: "runner", "classroom/marking".
grader_folder() {
  folder=${1%/*}
  [[ $folder == classroom/* ]] || folder=${folder%%/*}
}

check_grader() {
  local folder from to
  grader_folder "${file#grader/}" && from=$folder
  grader_folder "$header" && to=$folder
  [[ -n ${grader_may[$to]+known} && ! $from =~ ^(tests|bench)$ && $to != "$from" ]] || return
  [[ -n ${grader_may[$from]+known} ]] || { rule "the folder $from isn't in the graph; add it here and"; return; }
  [[ " ${grader_may[$from]} " == *" $to "* || " ${grader_may[$from]} " == *" $header "* ]] && return
  rule "of the grader's folders $from may include ${grader_may[$from]:-none} alone"
}

# Programs and the grader find these headers by name alone.
declare -A support_headers=()
for path in exercises/support/*.h exercises/common/*.h exercises/*/support/*.h; do
  [[ -e $path ]] || continue
  name=${path##*/}
  if [[ -n ${support_headers[$name]+known} || -e lib/$name ]]; then
    echo "$path: ${support_headers[$name]:-lib/$name} has the same name (solutions/README.md)."
    broken=1
  fi
  support_headers[$name]=$path
done

# No header that a training program reaches, by lib/odori.h or its support header, may include the observer's folder or name its namespace.
check_observer_is_hidden() {
  local -A reached=([lib/odori.h]=1)
  local queue=(lib/odori.h exercises/common/*.h exercises/*/support/*_support.h) text to
  while ((${#queue[@]} > 0)); do
    file=${queue[0]} queue=("${queue[@]:1}")
    [[ -e $file ]] || continue
    while IFS=: read -r line text; do
      if [[ ! $text =~ include\ *[\"\<]([^\"\>]+)[\"\>] ]]; then
        echo "$file:$line: names the observer's namespace, but lib/odori.h reaches this header (lib/observe/observer.h)."
        broken=1
        continue
      fi
      header=${BASH_REMATCH[1]}
      [[ $header != observe/* ]] || rule "lib/odori.h reaches this file: answers must not reach the observer"
      to=lib/$header
      [[ -e $to ]] || to=${file%/*}/$header
      [[ ! -e $to || -n ${reached[$to]} ]] || { reached[$to]=1 && queue+=("$to"); }
    done < <(grep -nE '^ *# *include|^[^/]*\<observe(::| *\{)' "$file")
  done
}

found=0
while IFS=: read -r file line text; do
  [[ $text =~ include\ *([\"\<])([^\"\>]+)[\"\>] ]] || continue
  bracket=${BASH_REMATCH[1]} header=${BASH_REMATCH[2]} found=$((found + 1))
  check_outside
  if [[ $bracket == '"' || -n ${may[${header%%/*}]+known} ]]; then
    check_folders
  elif is_for_programs && [[ $header == */* ]]; then
    rule "a header for programs includes the library and the standard library alone"
  fi
done < <(grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' '^ *# *include' lib datasets grader solutions exercises)

[[ ! -e lib/odori.h ]] || check_observer_is_hidden

[[ $found -gt 0 ]] || { echo "There is no #include to check in $PWD: is this the kit?"; exit 1; }
[[ $broken -eq 0 ]] && echo "$found includes follow the rules."
exit $broken
