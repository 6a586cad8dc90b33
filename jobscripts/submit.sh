#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./odori submit TASK: hands a job script to the scheduler, with the site's own names filled in.
#
# The site file says which scheduler, queue and group. For PBS the script's #PBS lines get these names; for Slurm, Grid
# Engine and pjsub they become lines of theirs. What was submitted stays in out/jobs/submitted. Plain `qsub -j oe run_TASK_training.sh` works as
# well, with the names that stand in the script.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kit=${here%/jobscripts}
. "$kit/lib/flags/command_line.sh"
. "$here/directives.sh"
. "$kit/lib/flags/exercises.sh"

# ---- What would only waste a place in the queue

# The grader reads the select line and the program's blanks; it says itself what it refuses, and why.
refuse_unready() {
  local grader=${ODORI_BUILD:-$kit/build}/bin/odori_grader
  [[ $folder == "$here" ]] && has_blanks "$task" || return 0
  [[ -x $grader ]] || stop 20 "the kit isn't built yet, so nobody has looked at your answers. ./odori setup builds it." \
    "キットがまだビルドされていないので、解答を確認できません。./odori setup でビルドしてください。"
  "$grader" ready "$task" --kit "$kit" --lang "$language" || exit
}

# ---- The command

refuse_without_script() {
  local run="./odori run $task"
  ! under_mpi "$task" || run+=" --ranks 4"
  refuse "$task has no job script. Run it on one node, in an interactive job (for example qsub -I or salloc): $run" \
    "$task のジョブスクリプトはありません。対話型ジョブ（qsub -I や salloc など）の中で、1 ノードで実行してください: $run"
}

take_language "$@"
set -- "${arguments[@]}"
task=${1:-} folder=$here print="" flags=()
[[ $task != --help ]] || exec "$kit/odori" submit --help --lang "$language"
[[ " $(exercises_with_a_job | paste -sd ' ') " == *" $task "* || " $(exercises | paste -sd ' ') " != *" $task "* ]] || refuse_without_script
require_task submit "$task" $(exercises_with_a_job)
shift
while [[ $# -gt 0 ]]; do
  case $1 in
    --solution) folder=$(solution_folder "$task") ;;
    --print) print=yes ;;
    *) flags+=("$1") ;;
  esac
  shift
done

[[ -n $print ]] || refuse_unready
take_site
script=run_${task}_training.sh
submitted=$kit/out/jobs/submitted/$script
job_name=${task}_training
# Slurm's jobs get this shell's variables by themselves, those of the others only what is named.
passed=""
for variable in FLAGS PROFILE ODORI_OUT ODORI_BUILD ODORI_SITE ODORI_LANG; do
  [[ -z ${!variable+set} ]] || passed+=${passed:+,}$variable
done
read -ra site_flags <<<"$QSUB_FLAGS"
case $SCHEDULER in
  pbs | age)
    # qsub takes one -v: what the user passes by it joins these.
    others=()
    set -- "${site_flags[@]}" "${flags[@]}"
    while [[ $# -gt 0 ]]; do
      if [[ $1 == -v && $# -gt 1 ]]; then passed+=${passed:+,}$2 && shift; else others+=("$1"); fi
      shift
    done
    command=(qsub ${passed:+-v "$passed"} "${others[@]}" "$submitted")
    if [[ $SCHEDULER == pbs ]]; then
      convert=for_pbs command=("${command[0]}" -j oe "${command[@]:1}") log=$job_name.oID
    else
      convert=for_age command=("${command[0]}" ${GROUP:+-g "$GROUP"} "${command[@]:1}") log=$job_name.oID
    fi
    ;;
  slurm) convert=for_slurm command=(sbatch "${flags[@]}" "$submitted") log=$job_name.oID ;;
  pjm) convert=for_pjm command=(pjsub -X "${flags[@]}" "$submitted") log=$job_name.ID.out ;;
  none) convert=cat command=(bash "$script" "${flags[@]}") log="" ;;
esac
answer=cat
[[ $folder == "$here" ]] || answer=for_this_site
if [[ -n $print ]]; then
  "$answer" <"$folder/$script" | "$convert"
  printf '\nIn %s: %s\n' "$folder" "${command[*]}" >&2
  exit
fi
command -v "${command[0]}" >/dev/null || stop 20 "there is no ${command[0]} here, but the site file $site says SCHEDULER=$SCHEDULER. Are you on the cluster's login node?" \
  "サイトファイル $site は SCHEDULER=$SCHEDULER ですが、ここに ${command[0]} がありません。クラスタのログインノードで実行していますか。"
mkdir -p "${submitted%/*}" "$kit/out/jobs"
"$answer" <"$folder/$script" | "$convert" >"$submitted"
cd "$folder"  # the job starts where it was submitted
"${command[@]}" || stop $? "${command[0]} ended with exit code $?, so there is no job; what it said, if anything, is above. ./odori explain says what the usual ones mean: give it a file that holds them, or paste them after  ./odori explain -" \
  "${command[0]} が終了コード $? で終わり、ジョブは受け付けられませんでした。メッセージがあれば上に出ています。意味は ./odori explain で調べられます。ファイルを指定するか、./odori explain - の後に貼り付けてください。"
[[ -z $log ]] || say "Its log will be $folder/$log (ID is the number that ${command[0]} gave), then: ./odori explain $folder/$log" \
  "ログは $folder/$log に書かれます（ID は ${command[0]} が表示した番号）。終わったら: ./odori explain $folder/$log"
