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
    --help)
      cat <<'END'
./odori explain LOG... [--lang en|ja]: what went wrong in a job, by its log, and what to do.
PBS writes a job's output to NAME.oNUMBER in the folder where it was submitted, the kit's job scripts to out/jobs.
END
      exit ;;
    -*) refuse "Unknown flag $argument.$(did_you_mean "$argument" --lang --help) See ./odori explain --help" \
      "$argument というフラグはありません。$(did_you_mean "$argument" --lang --help)./odori explain --help を見てください。" ;;
    *) logs+=("$argument") ;;
  esac
done
[[ ${#logs[@]} -gt 0 ]] || refuse "Which log? ./odori explain LOG" "どのログですか。./odori explain ログ"
texts=$folder/messages.md
[[ $language != ja ]] || texts=$folder/messages.ja.md

# The text of a section, without its pattern.
text_of() {
  awk -v key="$1" '/^## / { on = $2 == key; next } on && !/^    / && !/^$/' "$texts"
}

# Each fault whose pattern is in the log, once, with the first line that shows it. What follows from another fault is
# left out when the cause was found: an abort, and a refusal that another section explains better.
explain() {
  local log=$1 key pattern line found=0
  while IFS=$'\t' read -r key pattern; do
    [[ $found -eq 0 || ($key != mpi_abort && $key != no_permission) ]] || continue
    line=$(grep -m 1 -nEi -- "$pattern" "$log") || continue
    found=1
    printf '\n%s:%s\n' "$log" "$(cut -c 1-200 <<<"$line")"
    text_of "$key" | sed 's/^/  /'
  done < <(awk '/^## / { key = $2 } /^    / { sub(/^    /, ""); print key "\t" $0 }' "$folder/messages.md")
  [[ $found -eq 1 ]] || unexplained "$log"
}

unexplained() {
  local speedup
  speedup=$(grep -E '^(Speedup|Throughput):' "$1" | tail -n 1)
  if [[ -n $speedup ]]; then
    say "$1: nothing went wrong here. Its last line: $speedup" "$1: 問題は見つかりません。最後の行: $speedup"
    return
  fi
  say "$1: this log shows none of the known faults. Read its first error, not its last line: what comes later often only
follows from the first." "$1: 知られている問題は見つかりません。最後の行ではなく、最初のエラーを読んでください。あとの行はその結果であることが
多いものです。"
}

for log in "${logs[@]}"; do
  [[ -n $log && -e $log ]] || refuse "There is no log \"$log\"." "\"$log\" というログはありません。"
  [[ ! -d $log ]] || refuse "$log is a folder; name the log in it." "$log はフォルダです。その中のログを指定してください。"
  [[ -r $log ]] || refuse "$log can't be read: PBS writes a job's log for its owner alone (mode 600). Its owner can share it: chmod 644 $log" \
    "$log を読めません。PBS はジョブのログを本人だけが読めるように（モード 600 で）書きます。本人が chmod 644 $log とすれば読めます。"
  if [[ -s $log ]]; then explain "$log"; else say "$log is empty: the job hasn't written anything yet." "$log は空です。ジョブはまだ何も書いていません。"; fi
done
