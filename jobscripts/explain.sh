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
print_text_of() {
  awk -v key="$1" '/^## / { on = $2 == key; next } on && !/^    / && !/^$/ { print "  " $0 }' "$texts"
}

patterns=$(sed -n 's/^    //p' "$folder/messages.md")

# KEY, tab, NUMBER:LINE for each fault in the log: the first line that shows it. A line belongs to the first section that matches.
# Lines that differ in long numbers alone (times, processes) are looked at once: a log may hold millions of them.
faults_in() {
  local messages=$folder/messages.md
  LC_ALL=C grep -anEi -f <(sed -n 's/^    //p' "$messages") -- "$1" | LC_ALL=C awk '
    FNR == NR { if (/^## /) keys[++n] = $2; else if (/^    /) patterns[n] = tolower(substr($0, 5)); next }
    {
      line = tolower($0)
      sub(/^[0-9]+:/, "", line)
      kind = line
      gsub(/[0-9][0-9][0-9][0-9]+/, "", kind)
      if (seen[kind]++) next
      for (i = 1; i <= n && line !~ patterns[i]; ++i) continue
      if (!(i in first)) first[i] = $0
    }
    END { for (i = 1; i <= n; ++i) if (i in first) print keys[i] "\t" first[i] }' "$folder/messages.md" -
}

# Does this fault only follow from one that was told? It would lead away from the cause.
only_follows() { # KEY TOLD_KEYS
  case $1 in
    mpi_abort | rank_lost | step_ended | command_not_found | no_permission) [[ -n $2 ]] ;;
    job_*) [[ -n ${2%% job_*} ]] ;; # several jobs may be listed
    removed) [[ $2 =~ (killed_at_walltime|memory_limit|cpu_limit|node_failed|preempted) ]] ;;
    killed) [[ $2 =~ (killed_at_walltime|memory_limit|cpu_limit|node_failed|preempted|removed|killed_by_memory) ]] ;;
    no_remote_shell | daemon_lost) [[ $2 =~ (host_key_changed|no_remote_shell) ]] ;;
    nccl_network) [[ $2 =~ (nccl_version|shared_memory_full|locked_memory|nccl_infiniband) ]] ;;
    *) false ;;
  esac
}

# Reads from a log its `task` (a job's log begins with "Job ID: TASK on HOST"), whether a training has `begun`, and `end`: the
# NUMBER:LINE of the last line that the job's script prints, if the log has come to it. The baseline's throughput alone, in a log
# of several ranks or devices without that first line, is no end.
read_log() {
  { read -r task && read -r begun && read -r end; } < <(LC_ALL=C awk '
    task == "" && /^Job [^ ]+: [a-z_]+ on / { task = $3 }
    /^(# GPUs:|Num process)/ { parallel = 1 }
    /^(# GPUs:|Num process|Start a training)/ { begun = 1 }
    /^Throughput:/ { ++baselines; throughput = NR ":" $0 }
    /^Speedup:/ { speedup = NR ":" $0 }
    END {
      only_speedup = task ~ /^multi_/ || task == "" && parallel && baselines < 2
      print task
      print begun
      print (only_speedup || speedup + 0 > throughput + 0 ? speedup : throughput)
    }' "$1")
}

explain() {
  local log=$1 shown=$2 task begun end key found line told="" well=""
  read_log "$log"
  while IFS=$'\t' read -r key found; do
    ! only_follows "$key" "$told" || continue
    line=${found#*:} found=${found%%:*}
    # A job that was slow has come to its end as well, but the line may say why it was.
    if [[ -z $well && -n $end && $end != *:"Speedup: 0."* && $key != packed_onto_one_host && $found -lt ${end%%:*} ]]; then
      well=told
      say "$shown: the job came to its end, with the line: ${end#*:}
What is told below didn't stop it." "$shown: ジョブは最後まで終わっています。最後の行: ${end#*:}
以下のことは、ジョブを止めていません。"
    fi
    told+=" $key"
    printf '\n%s:%s:%s\n' "$shown" "$found" "${line:0:200}"
    print_text_of "$key"
  done < <(faults_in "$log")
  [[ -n $told ]] || unexplained "$log" "$shown" "$task" "$begun" "${end#*:}"
}

unexplained() {
  local log=$1 shown=$2 task=$3 begun=$4 end=$5 last
  if [[ -n $end ]]; then
    say "$shown: nothing went wrong here. Its last line: $end" "$shown: 問題は見つかりません。最後の行: $end"
    return
  fi
  if [[ -n $task || -n $begun ]]; then
    last=$(tac "$log" | LC_ALL=C grep -am 1 '[^[:space:]]')
    say "$shown: this log ends early: the line that comes last, ${task:+of $task }the speedup or the throughput, isn't there.
What it has last:
  ${last:0:200}
Either that line, or one above it, tells an error that isn't known here; or the job was ended (its time was over, or somebody
removed it); or it still runs: \`qstat\` or \`squeue --me\` tells. What the scheduler and the shell said stands in the scheduler's file
of the job (NAME.oID, slurm-ID.out)." \
      "$shown: このログは途中で終わっています。最後に来るはずの行（スピードアップかスループット）がありません。今の最後の行:
  ${last:0:200}
この行かその上の行にあるエラーが、ここでは知られていないものであるか、ジョブが終了させられた（制限時間、または削除）か、まだ動いています。
動いているかどうかは \`qstat\` か \`squeue --me\` で分かります。スケジューラとシェルのメッセージは、スケジューラが書いたジョブのファイル
（NAME.oID、slurm-ID.out）にあります。"
    return
  fi
  say "$shown: this log shows none of the known faults. Read its first error, not its last line: what comes later often only
follows from the first." "$shown: 知られている問題は見つかりません。最後の行ではなく、最初のエラーを読んでください。あとの行はその結果であることが
多いものです。"
}

# Nothing that a log holds reaches the terminal but its text: control characters are taken out, and long lines cut.
no_room() {
  say "odori: there is no room for a copy of the log: neither ${TMPDIR:-/tmp} (TMPDIR) nor /tmp takes a file. Let TMPDIR name a folder that can be written to." \
    "odori: ログのコピーを置く場所がありません。${TMPDIR:-/tmp}（TMPDIR）にも /tmp にも書き込めません。TMPDIR に書き込めるフォルダを指定してください。" >&2
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
