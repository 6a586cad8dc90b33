#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One hint more at each call; needs no build.  ./odori hint TASK [N] [--all] [--lang en|ja]
#
# How many hints of a blank were asked for stands in the kit's .odori_state, as lines "hint TASK BLANK COUNT"; what else stands
# there is the grader's (grader/learner/state.h).
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
state=${ODORI_STATE:-$kit/.odori_state}

. "$kit/lib/flags/command_line.sh"
. "$kit/lib/flags/exercises.sh"

take_language "$@"
task="" blank="" all=no
for argument in ${arguments[@]+"${arguments[@]}"}; do
  case $argument in
    --all) all=yes ;;
    -*) refuse "Unknown flag $argument.$(did_you_mean "$argument" --all --lang) See ./odori hint --help" \
      "$argument というフラグはありません。$(did_you_mean "$argument" --all --lang)./odori hint --help を見てください。" ;;
    *) if [[ -z $task ]]; then task=$argument; elif [[ -z $blank ]]; then blank=$argument; else
      refuse "One blank at a time: ./odori hint $task $blank" "空欄は 1 つずつ指定します: ./odori hint $task $blank"
    fi ;;
  esac
done
require_task hint "$task" $(exercises_with_blanks)
hints=$(solution_folder "$task")/hints.md
[[ $language != ja ]] || hints=${hints%.md}.ja.md
blanks=$(grep -c '^## .*\.1$' "$hints")
files=("$kit"/exercises/[0-9][0-9]_"$task"/*.cpp "$kit/jobscripts/run_${task}_training.sh")

remembered() { # WORD: the rest of its line for this task and blank
  [[ ! -f $state || ! -r $state ]] || awk -v word="$1" -v task="$task" -v blank="$blank" \
    '$1 == word && $2 == task && $3 == blank { print $4 }' "$state" | tail -n 1
}

# The first blank that a check found not right, that holds PUT_YOUR_CODE still, or whose given program was not judged.
first_to_do() {
  local left given
  left=$(cat "${files[@]}" 2>/dev/null |
    awk '/^ *(\/\/|#) BLANK [0-9]+:/ { n = $3 + 0 } /END BLANK/ { n = 0 } n && !/^ *\/\// && /PUT_YOUR_CODE/ { print n }')
  given=$(awk '/^ *\/\/ BLANK [0-9]+:/ { n = $3 + 0 } /^ *\/\/ FAULT:/ { print n }' "$(solution_folder "$task")"/*.cpp)
  for ((blank = 1; blank <= blanks; ++blank)); do
    if grep -qx "$blank" <<<"$left" || [[ $(remembered verdict) =~ ^(WRONG|COMPILE|CRASH|HANG)$ ]]; then return 0; fi
    if grep -qx "$blank" <<<"$given" && [[ $(remembered verdict) != PASS ]]; then return 0; fi
  done
  return 1
}

remember() { # COUNT
  local fresh=$state.$$
  [[ ! -d $state ]] || return 0
  {
    [[ ! -r $state ]] || grep -av "^hint $task $blank " "$state" || true
    echo "hint $task $blank $1"
  } 2>/dev/null >"$fresh" || return 0 # where nothing can be written, nothing is remembered
  mv -f "$fresh" "$state"
}

# What the task uses of a node here; a site file that ends or breaks ends nothing here.
devices=$(set +eu; . "$kit/jobscripts/site_in_force.sh" >/dev/null 2>&1; devices_of "$task" 2>/dev/null) || true

show() { # FROM TO
  local step
  for ((step = $1; step <= $2; ++step)); do
    awk -v title="## $blank.$step" '$0 == title { on = 1; next } /^## / { on = 0 } on' "$hints" | sed -e '${/^$/d}' -e "s/{devices}/${devices:-2}/g"
    [[ $step -eq $2 ]] || echo
  done
}

if [[ -n $blank && ! ($blank =~ ^[1-9][0-9]*$ && $blank -le $blanks) ]]; then
  refuse "$task has no blank $blank; it has 1 to $blanks." "$task に空欄 $blank はありません。1 から $blanks までです。"
fi
if [[ -z $blank && $all == yes ]]; then
  for ((blank = 1; blank <= blanks; ++blank)); do
    say "== Blank $blank" "== 空欄 $blank"
    show 1 3
    echo
    remember 3
  done
  exit
fi
if [[ -z $blank ]] && ! first_to_do; then
  say "All blanks of $task are filled in, and no check found one wrong. Next: ./odori check $task$keep_language" \
    "$task の空欄はすべて埋まっていて、誤りも見つかっていません。次は ./odori check $task$keep_language です。"
  exit
fi

# FILE:LINE of each blank that begins and doesn't end.
without_end() {
  awk '
    function close_off() { if (begun) print begun; begun = "" }
    FNR == 1 { close_off() }
    /^[ \t]*(\/\/|#) BLANK [0-9]+:/ { close_off(); begun = FILENAME ":" FNR }
    /END BLANK/ { begun = "" }
    END { close_off() }' "${files[@]}" 2>/dev/null || true
}

given=$(remembered hint)
[[ $given =~ ^[0-3]$ ]] || given=0
next=$((given < 3 ? given + 1 : 3))
[[ $all == no ]] || next=3
say "$task, blank $blank: hint $next of 3" "$task 空欄 $blank: ヒント $next / 3"
echo
show 1 $next
echo
remember $next
if [[ $next -lt 3 ]]; then
  say "For one more: ./odori hint $task $blank$keep_language" "次のヒント: ./odori hint $task $blank$keep_language"
else
  say "There are no more hints. To see the answer: ./odori solution $task $blank$keep_language" \
    "ヒントは以上です。答えを見るには: ./odori solution $task $blank$keep_language"
fi
while IFS= read -r place; do
  mark="// END BLANK"
  [[ $place != *.sh:* ]] || mark="# END BLANK"
  echo
  say "The blank that begins in ${place#"$kit"/} has no end: put the line \`$mark\` back after your answer." \
    "${place#"$kit"/} から始まる空欄に終わりがありません。答えの後に \`$mark\` の行を戻してください。"
done < <(without_end)
