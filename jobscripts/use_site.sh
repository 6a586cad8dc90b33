#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./odori site FILE: makes FILE this kit's site file, and writes its queue, group and time into the job scripts, so that
# plain `qsub -j oe run_multi_node_training.sh` works here too. Answers in their blanks stay as they are.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kit=${here%/jobscripts}
. "$kit/lib/flags/command_line.sh"
. "$here/directives.sh"

take_language "$@"
set -- "${arguments[@]}"
[[ ${1:-} != --help ]] || exec "$kit/odori" site --help --lang "$language"
if [[ $# -eq 0 ]]; then
  [[ -e $here/site.sh ]] || stop 2 "no site file was chosen yet; ./odori site FILE does. Examples are in $here/sites." \
    "サイトファイルはまだ選ばれていません。./odori site FILE で選びます。例は $here/sites にあります。"
  echo "$here/site.sh:" && sed 's/^/  /' "$here/site.sh"
  exit
fi
[[ $# -eq 1 ]] || stop 2 "./odori site takes one site file, not $#." "./odori site に指定できるサイトファイルは 1 つです（$# 個あります）。"
[[ -f $1 && -r $1 ]] || stop 2 "there is no site file $1. Copy the example that comes nearest from $here/sites, change what differs, and give that file." \
  "サイトファイル $1 がありません。$here/sites から近い例をコピーし、違うところを直して、そのファイルを指定してください。"
ODORI_SITE=$1 take_site
[[ $1 -ef $here/site.sh ]] || cp "$1" "$here/site.sh"
CHUNK=""  # the select lines are blanks: ./odori submit adds what the site wants there
for script in "$here"/run_*.sh "$kit"/solutions/*/run_*.sh; do
  text=$(for_pbs <"$script")
  [[ $text == "$(<"$script")" ]] || printf '%s\n' "$text" >"$script"
done
say "This kit now works for $1. ./odori submit uses it, and plain qsub finds its names in the job scripts." \
  "このキットを $1 用に設定しました。./odori submit はこれを使い、qsub を直接使うときの名前もジョブスクリプトに入っています。"
