#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Behind `./odori data`: the image sets under datasets/cache (ODORI_DATA names another folder).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=archives.sh
source "$here/archives.sh"
. "$here/../lib/flags/command_line.sh"

take_language "$@"
set -- ${arguments[@]+"${arguments[@]}"}

usage() { "$here/../odori" data --help "$@"; }

list() {
  local name folder fault there not_there
  there=$(say "there" "あり") not_there=$(say "not there" "なし")
  if [[ -f $data_root/synthetic/made_by.txt ]]; then
    echo "synthetic  $there: $data_root/synthetic$(say " ($(cut -d' ' -f3- "$data_root/synthetic/made_by.txt"))" "")"
  else
    echo "synthetic  $not_there: ./odori data synthetic"
  fi
  while read -r _ name _ _ _ _ folder; do
    fault=$(first_fault "$name" "$data_root/$folder")
    if [[ ! -e $data_root/$folder ]]; then
      printf '%-10s %s: ./odori data fetch %s\n' "$name" "$not_there" "$name"
    elif [[ -n $fault ]]; then
      printf '%-10s %s\n' "$name" "$(say "not complete: in $data_root/$folder, $fault Remove the folder and fetch it again." \
        "不完全: $data_root/$folder の ${fault}フォルダを削除して、もう一度ダウンロードしてください。")"
    else
      printf '%-10s %s: %s\n' "$name" "$there" "$data_root/$folder"
    fi
  done < <(table_lines archive "")
}

make_synthetic() {
  local program=${ODORI_BUILD:-$here/../build}/bin/odori_make_synthetic
  if [[ ! -x $program ]]; then
    say "$program isn't built yet: ./odori setup makes it." "$program がまだビルドされていません。./odori setup でビルドできます。" >&2
    exit 1
  fi
  exec "$program" --out "$data_root/synthetic" "$@"
}

case ${1:-} in
  synthetic) make_synthetic "${@:2}" ;;
  fetch) exec "$here/fetch_cifar.sh" "${@:2}" ;;
  convert) exec python3 "$here/convert.py" --cache "$data_root" "${@:2}" ;;
  list) list ;;
  --help | -h) usage "${@:2}" ;;
  "") usage >&2; exit 2 ;;
  *)
    near=$(did_you_mean "$1" synthetic fetch convert list)
    refuse "there is no \`./odori data $1\`.${near:- There are synthetic, fetch, convert and list.}" \
      "\`./odori data $1\` というコマンドはありません。${near:-synthetic、fetch、convert、list があります。}"
    ;;
esac
