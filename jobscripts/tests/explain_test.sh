#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./odori explain on what schedulers, MPI, NCCL, CUDA and other tools print: explain/errors.txt has errors, each with the section
# that must be reported, and at least one for every section; explain/healthy.txt has logs about which nothing may be reported.
explain=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/explain.sh
messages=${explain%.sh}/messages
data=$(dirname "${BASH_SOURCE[0]}")/explain
data=$(cd "$data" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

first_lines() {  # FILE: KEY|LINE, the first line of each section's text
  awk '/^## / { key = $2; next } key && !/^    / && !/^$/ { print key "|" $0; key = "" }' "$1"
}

# Splits a file of blocks into logs FOLDER/N, and prints "N NAME" for each; of every block, or of each EVERYth.
split_blocks() { # FILE FOLDER EVERY
  awk -v folder="$2" -v every="$3" '
    /^== / { log_ = (++n - 1) % every ? "" : folder "/" n; if (log_) print n, substr($0, 4); next }
    log_ && NF { print >log_ }' "$1"
}

# Each block of errors.txt must be reported as its section: all logs in one call. What is searched for is the same in both
# languages, so that some are enough in Japanese.
explained() { # LANGUAGE EVERY
  local texts=$messages.md logs=$folder/logs_$1 at="" key line number
  local -A text=() expected=() told=()
  [[ $1 == en ]] || texts=$messages.ja.md
  while IFS='|' read -r key line; do text[":  $line"]=$key; done < <(first_lines "$texts")
  mkdir "$logs"
  while read -r number key; do expected[$number]=$key; done < <(split_blocks "$data/errors.txt" "$logs" "$2")
  (cd "$logs" && LC_ALL=C.UTF-8 "$explain" --lang "$1" "${!expected[@]}") >"$folder/said" 2>&1
  while IFS= read -r line; do
    [[ ! $line =~ ^([0-9]+): ]] || at=${BASH_REMATCH[1]}
    [[ -z $at || -z ${text[:$line]:-} ]] || told[$at]+=" ${text[:$line]}"
  done <"$folder/said"
  for number in "${!expected[@]}"; do
    [[ ${told[$number]:-} == " ${expected[$number]}" ]] ||
      fail "'$(head -1 "$logs/$number")' must be explained as ${expected[$number]} ($1), not as:${told[$number]:-}"
  done
}
explained en 1
explained ja 10

keys() { sed -n 's/^## \([^ ]*\).*/\1/p' "$1"; }
[[ $(keys "$messages.md") == "$(keys "$messages.ja.md")" ]] || fail "the two languages have different sections"
[[ -z $(keys "$messages.md" | sort | uniq -d) ]] || fail "two sections have one name"
for language in "" .ja; do
  [[ $(first_lines "$messages$language.md" | cut -d '|' -f 1) == "$(keys "$messages$language.md")" ]] ||
    fail "a section of $messages$language.md has no text"
done
paragraphs() { awk '/^## / { key = $2; skip = 0 } /^$/ { ++blank[key] } END { for (k in blank) print k, blank[k] }' "$1" | sort; }
[[ $(paragraphs "$messages.md" | sed 1d) == "$(paragraphs "$messages.ja.md" | sed 1d)" ]] || fail "a text has another number of paragraphs in Japanese"
in_a_job() { awk -v start="$2" '/^## / { key = $2 } index($0, start) == 1 { print key }' "$1"; }
[[ $(in_a_job "$messages.md" 'In a job') == "$(in_a_job "$messages.ja.md" ジョブでは)" ]] || fail "a paragraph on jobs is missing in one language"
untried=$(comm -3 <(sed -n 's/^== //p' "$data/errors.txt" | sort -u) <(keys "$messages.md" | sort))
[[ -z $untried ]] || fail "these sections have no block in errors.txt: $untried"
bare=$(awk 'after && !/^    / { print after } { after = /^## / ? $2 : "" }' "$messages.md")
[[ -z $bare ]] || fail "these sections have no pattern: $bare"
grep -E '^    .*(\\b|[{]|[A-Z])' "$messages.md" | grep -v '^    @' && fail "a pattern holds what not every awk knows, or a capital letter"
bad_kinds=$(awk '/^## / && NF > 2 && $3 !~ /^(symptom|echo|note|state|unknown|always)$/ { print $2 }' "$messages.md")
[[ -z $bad_kinds ]] || fail "these sections have an unknown kind: $bad_kinds"

# Nothing may be reported about a healthy log.
mkdir "$folder/healthy"
good_end='# GPUs: 2
epoch       main/loss   validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time
137         2.5719      2.30431               0.139          0.05                      9.0470519
Throughput: 812.2 [images/sec.] (50000 / 61.3)
Speedup: 1.81 (812.2 / 448.7 [images/sec.])'
declare -A healthy=()
while read -r number name; do
  [[ $name == ended\ * ]] || healthy[$number]=$name
  [[ $name == whole\ * ]] || { cat "$folder/healthy/$number" - <<<"$good_end" >"$folder/healthy/$number.ended"; healthy[$number.ended]=$name; }
done < <(split_blocks "$data/healthy.txt" "$folder/healthy" 1)
while IFS= read -r line; do
  fail "healthy log ${healthy[${line%%:*}]}: $line"
done < <(cd "$folder/healthy" && "$explain" --lang en "${!healthy[@]}" | grep -E '^[0-9]+(\.ended)?:[0-9]+:')
"$explain" --lang en "$folder/healthy/1.ended" | grep -q 'nothing went wrong here.*1\.81' || fail "a healthy log isn't called good"

# A training that ended well: an error line before its end did not stop it; one after its end did.
said_of() { printf "$1" | "$explain" --lang "${2:-en}"; }
job='Job 7: multi_node on n1, 2026\n'
end='Throughput: 51\nThroughput: 87\nSpeedup: 1.69 (87.7 / 51.8 [images/sec.])\n'
line='[gpu03][[1,1],0][btl_tcp_endpoint.c:625] connect() to 172.17.0.1 failed: Connection refused (111)\n'
for log in "$job$line$end" "Job 7: single_gpu on n1, 2026\n/opt/x: Permission denied\nThroughput: 51\n" "# GPUs: 2\n${line}Throughput: 51\n"; do
  [[ $(said_of "$log") == "the input: nothing went wrong"* ]] || fail "a harmless line: $(said_of "$log")"
done
[[ $(said_of "$job$line$end" ja) == *"問題は見つかりません"*"Speedup: 1.69"* ]] || fail "a harmless line in Japanese"
for log in "$job${line}Throughput: 51\n" "$job$line${end/1.69/0.83}" "${job}Speedup: 0.83 (1 / 2)\n" \
  "$job${end}write error: No space left on device\n" "${job}although its select line asks for 2 nodes\n$end"; do
  [[ $(said_of "$log") == *"the input:"[2-5]:* ]] || fail "an error is not reported: $log"
done
# Two causes: the first in time is explained, the second only listed. A consequence is not explained in place of its cause.
said=$(said_of 'CUDA error: no CUDA-capable device is detected\nwrite error: No space left on device\n')
[[ $said == *"the input:1:"*"sees no GPU"*"consequences"*"the input:2:write error"* && $said != *"disk is full"* ]] || fail "two causes: $said"
said=$(said_of 'MPI_ABORT was invoked on rank 1\nexited on signal 9 (Killed)\nCUDA error: out of memory\n')
[[ $said == *"the input:3:"* && $said != *"the input:1:"* ]] || fail "a consequence before its cause: $said"
# A log of `./odori run` is no log of a job.
said=$(said_of 'Num process (COMM_WORLD): 2\nrank 1 exited on signal 9 (Killed).\n')
[[ $said == *"killed from outside"* && $said != *SBATCH_FLAGS* ]] || fail "a scheduler's remedy for a log of run: $said"
said=$(said_of 'Num process (COMM_WORLD): 2\nepoch main/loss\n')
[[ $said == *"ends early"* && $said != *squeue* ]] || fail "a scheduler is named for a log of run: $said"
said=$(said_of "${job}rank 1 exited on signal 9 (Killed).\n")
[[ $said == *SBATCH_FLAGS* ]] || fail "the scheduler's remedy is missing for a job: $said"
# An unknown error is shown as such. Of an overwritten line, its last state counts.
said=$(said_of 'reading\nfrobnicator: error: the flux is out of tune\nlast line\n')
[[ $said == *"the input:2:frobnicator"*"not in this table"* ]] || fail "an unknown error: $said"
said=$(said_of '10%%|# \r20%%|## \rCUDA error: out of memory\r\n')
[[ $said == *"the input:1:CUDA error: out of memory"* ]] || fail "an overwritten line: $said"
# Without input, usage and exit code 2.
said=$("$explain" --lang en </dev/null 2>&1)
[[ $? -eq 2 && $said == *"./odori explain LOG"* ]] || fail "without input: $said"
# It ends in what isn't known here: that line is shown.
log="${job}epoch main/loss\nlibfoo: no such frobnicator\n\n \n"
said=$(said_of "$log")
[[ $said == *"ends early"*"  libfoo: no such frobnicator"*"an error that is unknown here"*"still runs"* ]] ||
  fail "an unknown error in a job: $said"
said=$(said_of "$log" ja)
[[ $said == *"途中で終わっています"*"  libfoo: no such frobnicator"*"知られていない"*"まだ動いています"* ]] || fail "and in Japanese: $said"
# A line is told once, and what follows from another fault isn't told.
told_beside() { # LOG TEXT
  said_of "$1" | grep -q "$2" && fail "'$2' is told of: $1"
}
told_beside 'qsub: Illegal attribute or resource value Resource_List.select\n' HH:MM:SS
told_beside 'error while loading shared libraries: libcuda.so.1: cannot open shared object file\n' 'same modules in the job'
told_beside '=>> PBS: job killed: mem 9kb exceeded limit 8kb\nThe scheduler ended this job: its time was over\n' qdel
told_beside '=>> PBS: job killed: walltime 10 exceeded limit 6\nrank 1 exited on signal 9 (Killed).\n' 'killed from outside'
told_beside 'REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.\n' 'could not reach'
jobs=' 17 gpu odori aoki R 2:03 2 gpu[01-02]\n 18 gpu odori aoki PD 0:00 2 (Priority)\n'
told_beside "${jobs}bash: ./x.sh: Permission denied\n" 'this job'
said=$(said_of "$jobs")
[[ $said == *"this job waits"*"this job runs"* ]] || fail "a job that runs and one that waits: $said"
# An abort isn't the cause, where the cause stands there too.
printf 'Rank 1: There is no GPU 3\nMPI_ABORT was invoked on rank 1\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'One rank stopped' && fail "the abort is told beside its cause"
# Healthy: `qstat -f` names the group_list of each job.
printf 'Job Id: 7.head\n    group_list = students\n    Resource_List.select = 2:mpiprocs=2\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q "isn't one of yours" && fail "a healthy qstat -f is told that its group is wrong"
printf 'Job Id: 7.head\n    job_state = R\n    group_list = students\n' | "$explain" --lang en | grep -q 'this job runs' ||
  fail "a qstat -f of a job that runs isn't told so"
printf 'Job Id: 7.head\n    job_state = Q\n' | "$explain" --lang en | grep -q 'this job waits' || fail "nor one of a job that waits"
# PBS says why it ended the job, and the job itself only that it was ended.
printf '=>> PBS: job killed: walltime 10 exceeded limit 6\nThe scheduler ended this job: its time was over, or somebody removed it\n' |
  "$explain" --lang en | grep -q 'qdel' && fail "a job that PBS killed at its limit is told of qdel"
# Killed in its baseline, in the second training, and between them.
printf 'Job 7: multi_node on n1, 2026\nThroughput: 51 [images/sec.]\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'ends early' || fail "a log that ends behind the baseline isn't called early"
printf 'Job 7: multi_gpu on n1, 2026\nepoch main/loss\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'ends early' || fail "a log that ends in the baseline isn't called early"
printf 'Throughput: 51 [images/sec.]\nNum process (COMM_WORLD): 4\n' >"$folder/log"
"$explain" --lang ja "$folder/log" | grep -q '途中で終わっています' || fail "an early end without a first line isn't told in Japanese"
printf 'Job 7: single_gpu on n1, 2026\nThroughput: 51 [images/sec.]\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'nothing went wrong' || fail "the baseline's own job isn't called good"
printf 'qsub: Unknown queue\n' | "$explain" --lang en | grep -q 'has no queue of that name' || fail "a pipe isn't read"
printf 'x\033]0;owned\007 Unknown queue %s\n' "$(head -c 100000 /dev/zero | tr '\0' y)" >"$folder/log"
"$explain" --lang en "$folder/log" >"$folder/said"
LC_ALL=C grep -q "$(printf '[\001-\010\033\007]')" "$folder/said" && fail "control characters reach the terminal"
[[ $(wc -c <"$folder/said") -lt 5000 ]] || fail "a long line is printed whole"
# An encoding of former times, and controls above ASCII.
printf 'エラー: qsub: Unknown queue \xc2\x9b31m\n' | iconv -f UTF-8 -t EUC-JP//IGNORE >"$folder/log" 2>/dev/null
printf 'qsub: Unknown queue \xc2\x9b31m \x9b31m\n' >>"$folder/log"
for locale in C.UTF-8 C; do
  LC_ALL=$locale "$explain" --lang en "$folder/log" >"$folder/said" 2>&1
  grep -q 'log:1:.*qsub: Unknown queue' "$folder/said" || fail "in the locale $locale a line that isn't UTF-8 isn't shown: $(<"$folder/said")"
  LC_ALL=C grep -q $'\x9b' "$folder/said" && fail "in the locale $locale a control character above ASCII reaches the terminal"
done
# A TMPDIR that isn't there; and none that takes a file, where a log must not be called empty.
printf 'qsub: Unknown queue\n' >"$folder/log"
TMPDIR=/nonexistent "$explain" --lang en "$folder/log" 2>&1 | grep -q 'has no queue of that name' || fail "a TMPDIR that isn't there stops it"
mkdir "$folder/bin"
# A folder with a link to /dev/full: explain removes it, so it must be this test's own.
for mktemp in 'exit 1' "mkdir -p '$folder/full' && ln -sf /dev/full '$folder/full/log' && echo '$folder/full'"; do
  printf '#!/bin/sh\n%s\n' "$mktemp" >"$folder/bin/mktemp"
  chmod +x "$folder/bin/mktemp"
  said=$(PATH=$folder/bin:$PATH "$explain" --lang en "$folder/log" 2>&1)
  [[ $? -eq 20 && $said == *"there is no room for a copy of the log"* && $said != *"is empty"* ]] || fail "with mktemp as $mktemp: $said"
done
timeout 60 "$explain" --lang en /dev/zero 2>&1 | grep -q 'is a device' || fail "a device is read without end"
printf 'Throughput: 51\nSpeedup: 1.69 (87.7 / 51.8 [images/sec.])\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'nothing went wrong.*1\.69' || fail "a good log isn't called good"
"$explain" --lang en "$folder/log" | grep -q 'slower than on one' && fail "a speedup is called a slowdown"
LC_ALL=C.UTF-8 "$explain" "$folder/log" --lang ja | grep -q '問題は見つかりません' || fail "--lang behind the log isn't taken"
LC_ALL='' LC_MESSAGES='' LANG=ja_JP.UTF-8 "$explain" "$folder/log" | grep -q '問題は見つかりません' || fail "LANG isn't taken"
: >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'is empty' || fail "an empty log isn't told so"
printf 'gibberish\n' >"$folder/log"
"$explain" --lang en "$folder/log" | grep -q 'none of the known faults' || fail "an unknown log isn't told so"
"$explain" "$folder/nowhere" >/dev/null 2>&1
[[ $? -eq 2 ]] || fail "a log that isn't there must end with exit code 2"
"$explain" --lnag ja "$folder/log" 2>&1 | grep -q 'Did you mean --lang?' || fail "the nearest flag isn't offered"

echo "$(grep -c '^== ' "$data/errors.txt") errors and ${#healthy[@]} healthy logs, $failures checks failed."
exit $((failures > 0))
