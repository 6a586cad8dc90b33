#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Downloads CIFAR-10 or CIFAR-100 in the official binary format:  ./odori data fetch cifar10
#
# The archive grows in a hidden file beside the target, and stays there if the download ends early: the same command
# goes on from there. Nothing is unpacked before size and checksum are right, and the target appears by one rename.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=archives.sh
source "$here/archives.sh"
. "$here/../lib/flags/command_line.sh"
take_language "$@"
set -- ${arguments[@]+"${arguments[@]}"}

least_pace=${ODORI_LEAST_PACE:-5000}     # bytes a second that a mirror has to give, over all
stall_seconds=${ODORI_STALL_SECONDS:-30} # this long under least_pace is a stall
attempts_per_mirror=20

usage() {
  say "usage: ./odori data fetch cifar10|cifar100 [--mirror URL] [--out DIR]

Downloads the official archive, verifies its size and checksum, and unpacks it. Interrupted, it goes on where it was.
  --mirror URL  try this address first: the folder that holds the archive (http, https, or file:///...)
  --out DIR     the folder to make, instead of ${data_root}/<the archive's folder>" \
    "使い方: ./odori data fetch cifar10|cifar100 [--mirror URL] [--out DIR]

公式のアーカイブをダウンロードし、大きさとチェックサムを検証して展開します。中断しても、続きから再開できます。
  --mirror URL  このアドレス（アーカイブのあるフォルダ。http、https、file:///...）を最初に試す
  --out DIR     作るフォルダ（省略時は ${data_root} の下）"
}
note() { say "$@" >&2; }              # ENGLISH JAPANESE
die() { note "$1" "$2"; exit "${3:-1}"; } # ENGLISH JAPANESE [CODE]
die_of_usage() { die "$1 See ./odori data fetch --help" "$2./odori data fetch --help を見てください。" 2; }

parse() {
  name="" mirror="" target=""
  while (($#)); do
    case $1 in
      --help | -h) usage; exit 0 ;;
      --mirror | --out)
        [[ -n ${2:-} ]] || die_of_usage "$1 needs a value." "$1 には値が必要です。"
        if [[ $1 == --mirror ]]; then mirror=${2%/}; else target=${2%/}; fi
        shift ;;
      -*) die_of_usage "There is no flag $1." "$1 というフラグはありません。" ;;
      *) [[ -z $name ]] || die_of_usage "One set at a time: $name or $1?" "一度に指定できるデータセットは 1 つです（$name か $1）。"; name=$1 ;;
    esac
    shift
  done
  [[ -n $name ]] || die_of_usage "Which set? One of: $(archive_names | xargs)." "どのデータセットですか。指定できるのは $(archive_names | xargs) です。"
  read -r _ _ archive bytes kind checksum folder < <(table_lines archive "$name") ||
    die_of_usage "There is no set $name; there are: $(archive_names | xargs)." "$name というデータセットはありません。指定できるのは $(archive_names | xargs) です。"
  target=${target:-$data_root/$folder}
}

# Ends here where there is nothing to do, or nothing that can be done.
check_target() {
  if [[ -e $target || -L $target ]]; then
    local fault
    fault=$(first_fault "$name" "$target")
    [[ -z $fault ]] || die \
      "$target is there, but isn't a complete $name: $fault Nothing was touched: remove it, or choose another folder with --out." \
      "$target は不完全な $name です。$fault何も変更していません。削除するか、--out で別のフォルダを指定してください。"
    say "$name is there already: $target" "$name はすでにあります: $target"
    exit 0
  fi
  local tool
  for tool in curl tar gzip; do
    command -v "$tool" >/dev/null || die "$tool is needed, and isn't installed (Debian: apt install $tool)." \
      "$tool が必要ですが、インストールされていません（Debian では apt install $tool）。"
  done
  parent=$(dirname "$target")
  mkdir -p "$parent" || die "The folder $parent can't be made. Choose another place with --out." \
    "フォルダ $parent を作れません。--out で別の場所を指定してください。"
  part=$parent/.$archive.part
  { exec 9>>"$part"; } 2>/dev/null || die "Nothing can be written to $parent. Choose another place with --out." \
    "$parent に書き込めません。--out で別の場所を指定してください。"
  flock -n 9 || die "Another fetch of $name to $parent is running." "$parent への $name のダウンロードが、すでに実行中です。"
}

check_space() {
  local needed free
  needed=$((bytes - $(bytes_of "$part") + $(table_lines file "$name" | awk '{sum += $4} END {print sum + 0}')))
  free=$(df --output=avail -B1 "$parent" | tail -n 1)
  ((free >= needed)) || give_up \
    "$parent has $((free >> 20)) MiB free, and $name needs $((needed >> 20)) MiB more." \
    "$parent の空きは $((free >> 20)) MiB ですが、$name にはあと $((needed >> 20)) MiB 必要です。"
}

# Keeps what was downloaded, unless that is nothing.
give_up() {
  local have
  have=$(bytes_of "$part")
  if ((have)); then
    die "$1 $have of $bytes bytes are kept in $part: the same command goes on from there." \
      "$2$bytes バイト中 $have バイトが $part にあります。同じコマンドで続きから再開できます。" "${3:-1}"
  fi
  rm -f "$part"
  die "$1" "$2" "${3:-1}"
}

why_curl_failed() {
  case $1 in
    6) say "its name isn't known (is this machine on the network?)" "名前を解決できません（ネットワークにつながっていますか）" ;;
    7) say "no connection" "接続できません" ;;
    18 | 52 | 56) say "the connection broke" "接続が切れました" ;;
    22) say "it doesn't have the file" "ファイルがありません" ;;
    23) say "the file can't be written (disk full?)" "ファイルに書き込めません（ディスクが満杯かもしれません）" ;;
    28) say "it stalled, or gave fewer than $least_pace bytes a second" "止まったか、毎秒 $least_pace バイトを下回りました" ;;
    33) say "it can't go on in the middle of a file" "途中から再開できません" ;;
    63) say "its file is larger than $bytes bytes, so it is another one" "$bytes バイトより大きい、別のファイルです" ;;
    *) say "curl ended with code $1" "curl が終了コード $1 で終わりました" ;;
  esac
}

# download URL: true if the part file has its full size. A connection that breaks is taken up again as long as bytes come at
# the least pace. curl's own limit looks at the last seconds alone; --max-time holds who sends in bursts to that pace too.
# --no-buffer: what has come is in the file, whatever ends curl.
download() {
  local before code attempt begin
  for ((attempt = 1; attempt <= attempts_per_mirror; ++attempt)); do
    before=$(bytes_of "$part")
    ((before < bytes)) || return 0
    ((before == 0)) || note "Going on at byte $before of $bytes." "$bytes バイト中 $before バイト目から再開します。"
    code=0 begin=$SECONDS
    curl --fail --location --no-buffer --continue-at - --max-filesize "$bytes" --connect-timeout 20 --speed-limit "$least_pace" \
      --speed-time "$stall_seconds" --max-time $((stall_seconds + (bytes - before) / least_pace)) --output "$part" "$1" || code=$?
    if ((code == 0)); then
      (($(bytes_of "$part") == bytes)) && return 0
      note "$1 gave a file of $(bytes_of "$part") bytes instead of $bytes, so it is another one or cut." \
        "$1 のファイルは $bytes バイトでなく $(bytes_of "$part") バイトです。別のファイルか、途中で切れています。"
      truncate -s "$before" "$part"
      return 1
    fi
    note "$1: $(why_curl_failed "$code")." "$1: $(why_curl_failed "$code")。"
    ((code != 23)) || give_up "Stopped." "中止しました。"
    if ((code == 33)); then
      truncate -s 0 "$part"
    elif (($(bytes_of "$part") <= before + least_pace * (SECONDS - begin))); then
      return 1
    fi
  done
  return 1
}

# Unpacks the part file beside the target. Prints what is wrong with it, if anything is: another mirror's may be right then.
unpack() {
  if ! echo "$checksum  $part" | "${kind}sum" --check --status; then
    say "The $kind checksum of $archive is wrong, so it is damaged" "$archive の $kind チェックサムが合わず、壊れています"
    return
  fi
  rm -rf "$unpacked"
  mkdir -m 755 "$unpacked"
  if ! tar -xzf "$part" -C "$unpacked" --no-same-owner; then
    ! tar -tzf "$part" >/dev/null 2>&1 || give_up "$archive can't be unpacked to $parent (disk full?)." \
      "$archive を $parent に展開できません（ディスクが満杯かもしれません）。"
    say "$archive can't be unpacked" "$archive を展開できません"
    return
  fi
  local fault
  fault=$(first_fault "$name" "$unpacked/$folder")
  [[ -z $fault ]] || say "$archive doesn't hold what it should: ${fault%.}" "$archive の中身が違います: ${fault%。}"
}

# fetch_from ADDRESS: true if its archive is unpacked. If that is wrong, and some of it was there before, that may be the fault's
# place: one more time from the start.
fetch_from() {
  local before fault
  note "Downloading $archive ($bytes bytes) from $1" "$1 から $archive（$bytes バイト）をダウンロードします"
  while :; do
    before=$(bytes_of "$part")
    download "$1/$archive" || return 1
    fault=$(unpack) || exit
    [[ -n $fault ]] || return 0
    note "$fault: discarded." "$fault。破棄しました。"
    truncate -s 0 "$part"
    ((before)) || return 1
  done
}

fetch() {
  local address
  while read -r address; do
    if fetch_from "$address"; then return; fi
  done < <([[ -z $mirror ]] || echo "$mirror"; table_lines mirror "" | awk '{print $2}')
  give_up \
    "No mirror gave $archive. Try again later, give another with --mirror, or train without it: ./odori data synthetic." \
    "$archive をダウンロードできませんでした。後でもう一度試すか、--mirror で別のアドレスを指定するか、./odori data synthetic で作ったデータで学習してください。"
}

parse "$@"
check_target
unpacked=$parent/.$folder.unpacked
trap 'rm -rf "$unpacked"' EXIT
trap 'give_up "Interrupted." "中断しました。" 130' INT TERM
check_space
fetch
mv -T "$unpacked/$folder" "$target"
rm -f "$part"
say "$name is there now: $target (${kind} checksum and sizes verified)" "$name を用意しました: $target（${kind} チェックサムと大きさを検証済み）"
