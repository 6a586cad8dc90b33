#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./odori explain LOG: finds the first known error in a log, and prints its cause and a remedy.
# The table of errors is explain/messages.md, one section each; messages.ja.md has the texts in Japanese.
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
print_usage() {
  help_text explain >&2
  exit 2
}
[[ ${#logs[@]} -gt 0 || ! -t 0 ]] || print_usage
texts=$folder/messages.md
[[ $language != ja ]] || texts=$folder/messages.ja.md

# The text of a section. A paragraph that begins with "In a job" is left out for a log of `./odori run`.
print_text_of() {
  awk -v key="$1" -v run="$((begun && !job))" '
    /^## / { on = $2 == key; next }
    /^$/ { skip = 0 }
    run && /^(In a job|ジョブでは)/ { skip = 1 }
    on && !skip && !/^    / && !/^$/ { print "  " $0 }' "$texts"
}

no_room() {
  say "odori: there is no room for a copy of the log: neither ${TMPDIR:-/tmp} (TMPDIR) nor /tmp takes a file. Let TMPDIR name a folder that can be written to." \
    "odori: ログのコピーを置く場所がありません。${TMPDIR:-/tmp}（TMPDIR）にも /tmp にも書き込めません。TMPDIR に書き込めるフォルダを指定してください。" >&2
  exit 20
}

# A folder for a readable copy of the log. A TMPDIR of a job that is over, or of another machine, does not exist.
scratch=$(mktemp -d 2>/dev/null || mktemp -d -p /tmp 2>/dev/null) || no_room
trap 'rm -rf "$scratch"' EXIT
readable=$scratch/log

# Writes the patterns of the table to $scratch/patterns (for grep), and to $scratch/classify.awk as functions:
# is_ignored(line), section(line): the number of the first section of which a pattern matches, or 0; keys[] and levels[].
compile_table() {
  LC_ALL=C awk -v patterns="$scratch/patterns" '
    function matches(pattern) { gsub(/\//, "\\/", pattern); return "line ~ /" pattern "/" }
    /^## / {
      key[++n] = $2
      level[n] = NF > 2 ? $3 : "cause"
    }
    /^    / {
      pattern = substr($0, 5)
      tool = ""
      if (pattern ~ /^@[a-z_]+ /) {
        tool = substr(pattern, 2, index(pattern, " ") - 2)
        pattern = substr(pattern, index(pattern, " ") + 1)
      }
      if (!n) {
        writes[tool] = writes[tool] (writes[tool] ? " || " : "") matches(pattern)
      } else {
        print pattern >patterns
        test = (tool ? "is_" tool "(line) && " : "") matches(pattern)
        tests[n] = tests[n] (tests[n] ? " || " : "") test
      }
    }
    END {
      for (tool in writes) print "function is_" tool "(line) { return " writes[tool] " }"
      print "function section(line) {"
      for (i = 1; i <= n; ++i) print "  if (" tests[i] ") return " i
      print "  return 0\n}\nBEGIN {\n  n = " n
      for (i = 1; i <= n; ++i) print "  keys[" i "] = \"" key[i] "\"; levels[" i "] = \"" level[i] "\""
      print "}"
    }' "$folder/messages.md" >"$scratch/classify.awk"
}

# NUMBER:LINE of the lines that a pattern may match. In a short log all lines: grep takes longer to read the patterns.
numbered_candidates() {
  if [[ $(wc -c <"$1") -lt 50000 ]]; then LC_ALL=C grep -an '' -- "$1"; else LC_ALL=C grep -anEi -f "$scratch/patterns" -- "$1"; fi
}

# What to report about the log: lines `tell KEY NUMBER:LINE` and `later NUMBER:LINE`.
# END is the number of the line with which the training ended well, or 0. SLOW: 1 if its last line reports a slowdown.
# Lines that differ in long numbers alone (times, processes) are classified once: a log may hold millions of them.
faults_in() { # LOG END SLOW
  numbered_candidates "$1" | LC_ALL=C awk -v end="$2" -v slow="$3" -f "$scratch/classify.awk" -f <(cat <<'END'
    function tell(i) { if (i) print "tell " keys[i] " " first[i] }
    function earliest(level, i, best) {
      for (i = 1; i <= n; ++i) if (i in first && levels[i] == level && (!best || first[i] + 0 < first[best] + 0)) best = i
      return best
    }
    {
      line = tolower(substr($0, index($0, ":") + 1))
      kind = line
      gsub(/[0-9][0-9][0-9][0-9]+|[0-9]+:[0-9]+:[0-9]+/, "", kind)
      if (seen[kind]++ || is_ignored(line)) next
      i = section(line)
      if (!i || i in first) next
      if (end && levels[i] != "always" && ($0 + 0 < end + 0 || levels[i] != "cause" && levels[i] != "symptom")) next
      if (slow && levels[i] != "always" && levels[i] != "cause") next
      first[i] = $0
    }
    END {
      cause = earliest("cause")
      if (!cause) cause = earliest("symptom")
      if (cause) {
        tell(cause)
        while (later < 3 && (i = earliest("cause"))) {
          if (i != cause) { print "later - " first[i]; ++later }
          delete first[i]
        }
      } else {
        tell(earliest("unknown"))
        tell(earliest("echo"))
        note = earliest("note")
        tell(note)
        for (i = 1; i <= n; ++i) if (i in first && levels[i] == "state" && !note) tell(i)
      }
      for (i = 1; i <= n; ++i) if (i in first && levels[i] == "always") tell(i)
    }
END
  )
}

# Reads from a log:
#   task    of a job of the kit, whose log contains "Job ID: TASK on HOST"
#   job     1 if the log is one of a job, and not of `./odori run`
#   begun   1 if a training has begun
#   end     NUMBER:LINE of the last line of a training that ended well, else empty: its throughput, and in a job of several
#           ranks or devices the speedup
#   slow    1 if that line reports a slowdown
read_log() {
  { read -r task && read -r job && read -r begun && read -r slow && read -r end; } < <(
    LC_ALL=C grep -anE '^(Job [^ ]+: [a-z_]+ on |# GPUs:|Num process|Start a training|Throughput:|Speedup:|slurmstepd: |srun: |=>> PBS)' "$1" |
      LC_ALL=C awk '
        { number = $0 + 0; line = substr($0, index($0, ":") + 1) }
        line ~ /^Job / { split(line, words, " "); task = words[3] }
        line ~ /^(Job|slurmstepd|srun|=>>)/ { job = 1 }
        line ~ /^(#|Num|Start)/ { begun = number }
        line ~ /^Throughput/ { throughput = number; end = $0 }
        line ~ /^Speedup/ { speedup = number; end = $0 }
        END {
          over = task ~ /^multi_/ ? speedup > 0 && speedup >= throughput : end + 0 > begun
          if (!over) end = ""
          print task
          print job + 0
          print (begun > 0)
          print (end ~ /^[0-9]+:Speedup: 0\./)
          print end
        }')
}

explain() {
  local log=$1 shown=$2 task job begun slow end last=0 what key found later=()
  read_log "$log"
  # The end of a slow training is no good one: what stands above it may be why.
  [[ -z $end || $slow -eq 1 ]] || last=${end%%:*}
  local told=""
  while read -r what key found; do
    if [[ $what == later ]]; then
      later+=("$found")
      continue
    fi
    told+=" $key"
    printf '\n%s:%s:%s\n' "$shown" "${found%%:*}" "$(cut_line "${found#*:}")"
    print_text_of "$key"
  done < <(faults_in "$log" "$last" "$slow")
  if [[ ${#later[@]} -gt 0 ]]; then
    say "
  More errors in this log. They are probably consequences of the first one:" "
  このログのほかのエラー（おそらく最初のエラーの結果です）:"
    for found in "${later[@]}"; do printf '    %s:%s:%s\n' "$shown" "${found%%:*}" "$(cut_line "${found#*:}")"; done
  fi
  [[ -n $told && $told != " unknown_error" ]] || unexplained "$log" "$shown" "$told"
}

cut_line() { printf '%s' "${1:0:200}"; }

unexplained() {
  local log=$1 shown=$2 told=$3 last
  if [[ -n $end ]]; then
    say "$shown: nothing went wrong here. Its last line: ${end#*:}" "$shown: 問題は見つかりません。最後の行: ${end#*:}"
    return
  fi
  if [[ -n $task || $begun -eq 1 ]]; then
    last=$(tac "$log" | LC_ALL=C grep -am 1 '[^[:space:]]')
    say "$shown: this log ends early: the last line of ${task:-a training}, ${task:+the speedup or }the throughput, is missing. Its last line now:
  $(cut_line "$last")
Either this line, or one above it, is an error that is unknown here; or the training was stopped; or it still runs." \
      "$shown: このログは途中で終わっています。最後に来るはずの行（${task:+スピードアップか}スループット）がありません。今の最後の行:
  $(cut_line "$last")
この行かその上の行にあるエラーが、ここでは知られていないものであるか、途中で止められたか、まだ動いています。"
    [[ $job -eq 0 ]] || say "Whether the job still runs is shown by \`qstat\` or \`squeue --me\`. A job is also ended at its time limit. Messages of the scheduler
and the shell are in the scheduler's file of the job (NAME.oID, slurm-ID.out)." \
      "ジョブが動いているかどうかは \`qstat\` か \`squeue --me\` で分かります。制限時間でもジョブは終了します。スケジューラとシェルのメッセージは、
スケジューラが書いたジョブのファイル（NAME.oID、slurm-ID.out）にあります。"
    return
  fi
  [[ -n $told ]] || say "$shown: this log shows none of the known faults. Read its first error, not its last line: later errors are often
consequences of the first." "$shown: 知られている問題は見つかりません。最後の行ではなく、最初のエラーを読んでください。あとの行はその結果であることが
多いものです。"
}

# Copies a log as text: without control characters, which must not reach the terminal, and without bytes that are not UTF-8, as
# grep would show no line of such a file. Cuts long lines. Of a line that was overwritten (CR, as by a progress bar) its last state.
plain_text() {
  LC_ALL=C sed 's/\r*$//; s/.*\r//; s/\xc2[\x80-\x9f]//g' | LC_ALL=C tr -d '\000-\010\013-\037\177' | LC_ALL=C cut -b 1-2000 |
    iconv -c -f UTF-8 -t UTF-8
}

compile_table
for log in "${logs[@]:--}"; do
  shown=$log
  if [[ $log == - ]]; then
    shown=$(say "the input" "入力")
    plain_text >"$readable" || no_room
    [[ -s $readable || ${#logs[@]} -gt 0 ]] || print_usage
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
    say "$shown is empty: the job has not written anything yet." "$shown は空です。ジョブはまだ何も書いていません。"
  fi
done
