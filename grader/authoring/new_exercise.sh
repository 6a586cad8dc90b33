#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes an exercise from template/; needs no build.  ./odori exercise new NAME [--lang en|ja]
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
template=$kit/grader/authoring/template

. "$kit/lib/flags/command_line.sh"
. "$kit/lib/flags/exercises.sh"

take_language "$@"
name=${arguments[0]:-}
[[ ${#arguments[@]} -eq 1 && $name =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ && ${#name} -le 40 ]] || refuse \
  "./odori exercise new takes one name: a small letter, then small letters, digits and single underscores, at most 40 in all, like allgather or sequence_parallel." \
  "./odori exercise new には名前を 1 つ指定します。英小文字で始め、英小文字、数字、単独の下線を合わせて 40 文字まで使えます（例: allgather、sequence_parallel）。"
! task=$(exercises | grep -x "$name") || refuse "There is an exercise $task already: $(solution_folder "$task")." \
  "演習 $task はすでにあります: $(solution_folder "$task")"
# The program's name is also a target of the build, the checks' function is exam_of_NAME, and task3 is another word for ring.
# Targets that are made in loops, or by dependencies that are built from source, are in no CMakeLists.txt by name.
taken=$(find "$kit" -path "$kit/build*" -prune -o -name CMakeLists.txt -exec grep -lE "^ *(add|odori)_[a-z_]*\($name[ )]" {} +) || true
taken+=$(compgen -G "$kit/solutions/*/$name.cpp" || exercises | grep -x "${name%_gpu}") || true
words="all|clean|data|exercises?|help|install|list|package|solutions?|tests?|fmt|dnnl|gtest|gmock"
[[ -z $taken && ! $name =~ ^($words|task_?[0-9]+|(cmake|filled|fuzz|planted|sanitized)_.*|odori.*|.*_(cache|emulated|exercise|main|quick|test|thread))$ ]] ||
  refuse "\"$name\" has another meaning in the build. Choose another name." \
    "\"$name\" はビルドで別の意味を持っています。別の名前にしてください。"

last=0
for folder in "$kit"/{solutions,exercises,grader/exercises}/[0-9]*_*; do
  [[ $folder != */solutions/* || -e $folder/exercise.json ]] || continue # a program of its own
  folder=${folder##*/}
  [[ 10#${folder%%_*} -le last ]] || last=$((10#${folder%%_*}))
done
folder=$(printf '%02d_%s' $((last + 1)) "$name")
type=$(sed -E 's/(^|_)([a-z0-9])/\U\2/g' <<<"$name") # tensor_parallel -> TensorParallel

# What an interruption leaves half done would be an exercise that can't be built.
remove_made() { rm -rf "$kit/solutions/$folder" "$kit/exercises/$folder" "$kit/grader/exercises/$folder"; }
trap remove_made EXIT
trap 'exit 130' INT TERM HUP

made=()
copy() { # FOLDER OF THE TEMPLATE, FOLDER OF THE KIT
  local source target
  while IFS= read -r source; do
    target=$2/${source#"$template/$1/"}
    target=${target//NAME/$name}
    mkdir -p "$kit/${target%/*}"
    sed -e "s/NAME/$name/g" -e "s/NameUpdate/${type}Update/g" "$source" >"$kit/$target"
    made+=("$target")
  done < <(find "$template/$1" -type f | sort)
}
copy solutions "solutions/$folder"
copy support "exercises/$folder/support"
copy grader "grader/exercises/$folder"
trap - EXIT

say "Made the exercise $name:" "演習 $name を作りました:"
printf '  %s\n' "${made[@]}"
say "It works as it is: ./odori cut, then ./odori exercise check $name and ./odori check $name.
Next, edit the program and its exercise.json, then the checks, the messages and the hints; grader/authoring/README.md describes each step." \
  "このままで動きます: ./odori cut のあと、./odori exercise check $name や ./odori check $name を試せます。
次に、プログラムと exercise.json、続いて検査、メッセージ、ヒントを編集します。手順は grader/authoring/README.md にあります。"
