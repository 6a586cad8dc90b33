#!/bin/bash
# ./odori explain LOG: recognises in a job's log what commonly goes wrong, and says what to do.
# The faults are in explain/messages.md, one section each; messages.ja.md holds the same in Japanese.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$here/explain
. "${here%/jobscripts}/lib/flags/command_line.sh"

take_language "$@"
logs=()
for argument in "${arguments[@]}"; do
  case $argument in
    --help) exec "${here%/jobscripts}/odori" explain --help --lang "$language" ;;
    -) logs+=(-) ;;
    -*) refuse "Unknown flag $argument.$(did_you_mean "$argument" --lang --help) See ./odori explain --help" \
      "$argument というフラグはありません。$(did_you_mean "$argument" --lang --help)./odori explain --help を見てください。" ;;
    *) logs+=("$argument") ;;
  esac
done
[[ ${#logs[@]} -gt 0 || -t 0 ]] || logs=(-)
[[ ${#logs[@]} -gt 0 ]] || refuse "Which log? ./odori explain LOG" "どのログですか。./odori explain ログ"
texts=$folder/messages.md
[[ $language != ja ]] || texts=$folder/messages.ja.md

# The text of a section, without its pattern.
text_of() {
  awk -v key="$1" '/^## / { on = $2 == key; next } on && !/^    / && !/^$/' "$texts"
}

# Each fault whose pattern is in the log, once, with the first line that shows it. What follows from another fault is
# left out when the cause was found: an abort, a refusal that another section explains better, and an end of which PBS says why.
explain() {
  local log=$1 shown=$2 key pattern line found=0 before=""
  while IFS=$'\t' read -r key pattern; do
    [[ $found -eq 0 || ($key != mpi_abort && $key != no_permission) ]] || continue
    [[ ! $before =~ ^(killed_at_walltime|node_failed|preempted)$ || $key != removed ]] || continue
    line=$(LC_ALL=C grep -a -m 1 -nEi -- "$pattern" "$log") || continue
    found=1 before=$key
    printf '\n%s:%s\n' "$shown" "$(cut -c 1-200 <<<"$line")"
    text_of "$key" | sed 's/^/  /'
  done < <(awk '/^## / { key = $2 } /^    / { sub(/^    /, ""); print key "\t" $0 }' "$folder/messages.md")
  [[ $found -eq 1 ]] || unexplained "$log" "$shown"
}

# A job's log begins with "Job ID: TASK on HOST", and ends in the last line that its script prints.
unexplained() {
  local log=$1 last task state
  state=$(sed -nE 's/^ *job_state = ([QR])$/\1/p' "$log" | head -n 1)
  if [[ $state == R ]]; then
    say "$2: by what qstat says, this job runs, and nothing is wrong with it." "$2: qstat によると、このジョブは実行中で、問題はありません。"
    return
  elif [[ -n $state ]]; then
    say "$2: by what qstat says, this job waits. Its line \"comment\" says what for; without that line the scheduler hasn't come to it yet." \
      "$2: qstat によると、このジョブは待っています。何を待っているかは comment の行にあります。その行がなければ、スケジューラはまだこのジョブを見ていません。"
    return
  fi
  task=$(sed -nE 's/^Job [^ ]+: ([a-z_]+) on .*/\1/p' "$log" | head -n 1)
  case $task in
    multi_*) last=$(grep '^Speedup:' "$log" | tail -n 1) ;;
    *) last=$(grep -E '^(Speedup|Throughput):' "$log" | tail -n 1) ;;
  esac
  # The baseline's throughput alone, of a log without that line, is no end either.
  if [[ -z $task && $last == Throughput:* ]] && grep -qE '^(# GPUs:|Num process)' "$log" &&
    [[ $(grep -c '^Throughput:' "$log") -lt 2 ]]; then last=""; fi
  if [[ -n $last ]]; then
    say "$2: nothing went wrong here. Its last line: $last" "$2: 問題は見つかりません。最後の行: $last"
    return
  fi
  if [[ -n $task ]] || grep -qE '^(# GPUs:|Num process|Start a training)' "$log"; then
    say "$2: this log ends early: the line that comes last, ${task:+of $task }the speedup or the throughput, isn't there. The job was
killed (its time was over, or somebody removed it), or it still runs: \`qstat\` or \`squeue --me\` tells." \
      "$2: このログは途中で終わっています。最後に来るはずの行（スピードアップかスループット）がありません。ジョブが終了させられたか
（制限時間、または削除）、まだ動いています。\`qstat\` か \`squeue --me\` で分かります。"
    return
  fi
  say "$2: this log shows none of the known faults. Read its first error, not its last line: what comes later often only
follows from the first." "$2: 知られている問題は見つかりません。最後の行ではなく、最初のエラーを読んでください。あとの行はその結果であることが
多いものです。"
}

# Nothing that a log holds reaches the terminal but its text: control characters are taken out, and long lines cut.
no_room() {
  say "odori: there is no room for a copy of the log: neither ${TMPDIR:-/tmp} (TMPDIR) nor /tmp takes a file. Let TMPDIR name a folder that can be written to." \
    "odori: ログの写しを置く場所がありません。${TMPDIR:-/tmp}（TMPDIR）にも /tmp にも書き込めません。TMPDIR に書き込めるフォルダを指定してください。" >&2
  exit 20
}
# A TMPDIR of a job that is over, or of another machine, isn't there.
readable=$(mktemp 2>/dev/null || mktemp -p /tmp 2>/dev/null) || no_room
trap 'rm -f "$readable"' EXIT
# What isn't UTF-8 (a site that speaks another encoding) goes too: grep would show no line of such a file.
plain_text() {
  LC_ALL=C tr -d '\000-\010\013-\037\177' | LC_ALL=C cut -b 1-2000 | iconv -c -f UTF-8 -t UTF-8 |
    LC_ALL=C sed 's/\xc2[\x80-\x9f]//g'
}

for log in "${logs[@]}"; do
  shown=$log
  if [[ $log == - ]]; then
    shown=$(say "the input" "入力")
    plain_text >"$readable" || no_room
  else
    [[ -n $log && -e $log ]] || refuse "There is no log \"$log\"." "\"$log\" というログはありません。"
    [[ ! -d $log ]] || refuse "$log is a folder; name the log in it." "$log はフォルダです。その中のログを指定してください。"
    [[ ! -c $log && ! -b $log || $log -ef /dev/stdin ]] ||
      refuse "$log is a device; name a job's log." "$log はデバイスです。ジョブのログを指定してください。"
    [[ -r $log ]] || refuse "$log can't be read: PBS writes a job's log for its owner alone (mode 600). Its owner can share it: chmod 644 $log" \
      "$log を読めません。PBS はジョブのログを本人だけが読めるように（モード 600 で）書きます。本人が chmod 644 $log とすれば読めます。"
    plain_text <"$log" >"$readable" || no_room
  fi
  if [[ -s $readable ]]; then
    explain "$readable" "$shown"
  else
    say "$shown is empty: the job hasn't written anything yet." "$shown は空です。ジョブはまだ何も書いていません。"
  fi
done
