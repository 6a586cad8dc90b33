#!/bin/bash
# ./odori explain LOG: recognises in a job's log what commonly goes wrong, and says what to do.
# The faults are in explain/messages.md, one section each; messages.ja.md holds the same in Japanese.
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/explain

stop() {
  printf 'odori: %s\n' "$2" >&2
  exit "$1"
}

language=${LC_ALL:-${LC_MESSAGES:-${LANG:-en}}}
while [[ ${1:-} == --* ]]; do
  case $1 in
    --lang) language=${2:-} && shift ;;
    --help)
      cat <<'END'
./odori explain [--lang en|ja] LOG...: what went wrong in a job, by its log, and what to do.
PBS writes a job's output to NAME.oNUMBER in the folder where it was submitted, the kit's job scripts to out/jobs.
END
      exit ;;
    *) stop 2 "explain has no flag $1; see ./odori explain --help" ;;
  esac
  shift
done
[[ $# -gt 0 ]] || stop 2 "explain which log? ./odori explain LOG"
texts=$folder/messages.md
[[ $language != ja* ]] || texts=$folder/messages.ja.md

say() {  # ENGLISH JAPANESE
  if [[ $language == ja* ]]; then printf '%s\n' "$2"; else printf '%s\n' "$1"; fi
}

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
    say "$1: nothing went wrong here. Its last figure: $speedup" "$1: 問題は見つかりません。最後の値: $speedup"
    return
  fi
  say "$1: none of the known faults is in this log. Read its first error, not its last line: what comes after often only
follows from it." "$1: 知られている問題は見つかりません。最後の行ではなく、最初のエラーを読んでください。あとの行はその結果であることが
多いものです。"
}

for log in "$@"; do
  [[ -e $log ]] || stop 2 "there is no log $log"
  [[ ! -d $log ]] || stop 2 "$log is a folder; name the log in it"
  [[ -r $log ]] || stop 2 "$log can't be read: PBS writes a job's log for its owner alone (mode 600). Its owner can share it: chmod 644 $log"
  if [[ -s $log ]]; then explain "$log"; else say "$log is empty: the job hasn't written anything yet." "$log は空です。ジョブはまだ何も書いていません。"; fi
done
