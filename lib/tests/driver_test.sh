#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # the stand-ins expand their own variables
# ./odori itself: its words, and what it says where things are missing. Installs nothing: apt-get is a stand-in here.
#   driver_test.sh ODORI
set -uo pipefail
odori=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
export LC_ALL=C.UTF-8

# shellcheck source=lib/tests/expect.sh
source "${BASH_SOURCE[0]%/*}/expect.sh"

expect 0 "./odori COMMAND" "$odori"
expect 0 "./odori" "$odori" help --help
expect 0 "クラス全員の提出物を採点します" "$odori" grade --lang ja --help # as without a flag before it
expect 0 "./odori COMMAND" env CDPATH="$(dirname "${odori%/*}")" bash -c 'cd "${1%/*/*}" && "${1#"${1%/*/*}/"}"' _ "$odori"
expect 0 "./odori COMMAND" sh "$odori"
expect 0 "--no-speedup" "$odori" help check
expect 0 "最も時間のかかる速度向上の計測を省く" "$odori" help check --lang ja
expect 0 "./odori COMMAND" "$odori" help help
expect 2 'there is no command "chek". Did you mean check?' "$odori" help chek
# One version, in CMake's project, the citation and the newest entry of the changelog.
version=$("$odori" --version)
[[ $version =~ ^"odori "[0-9]+\.[0-9]+\.[0-9]+$ && "version: ${version#odori }" == "$(grep '^version:' "${odori%/*}/CITATION.cff")" &&
  "$(grep -m 1 '^## ' "${odori%/*}/CHANGELOG.md") " == "## ${version#odori } "* ]] || {
  echo "FAILED: ./odori --version ($version), CITATION.cff and CHANGELOG.md don't agree"
  failures=$((failures + 1))
}
ln -s "$odori" "$scratch/odori"
expect 0 "./odori COMMAND" "$scratch/odori"
# The list and each command's help, in Japanese too, with the same flags.
flags_in() { grep -oE -e '--[a-z-]+' <<<"$1" | sort -u; }
english=$("$odori" help) japanese=$("$odori" help --lang ja)
for word in $(awk '/^  [a-z]/ { print $1 }' <<<"$english"); do
  summary=$(sed -n "s/^  $word  *//p" <<<"$japanese")
  in_english=$("$odori" "$word" --help) in_japanese=$("$odori" "$word" --help --lang ja)
  [[ $in_english == *"./odori"* && $summary == *[ぁ-んァ-ヶ一-龠]* && $in_japanese == *[ぁ-んァ-ヶ一-龠]* &&
    $(flags_in "$in_english") == "$(flags_in "$in_japanese")" ]] || {
    printf 'FAILED: what %s does is not told in Japanese as in English\n%s\n%s\n' "$word" "$in_english" "$in_japanese"
    failures=$((failures + 1))
  }
done
expect 0 "最初に呼ぶと" env LC_ALL= LC_MESSAGES= LANG=ja_JP.UTF-8 "$odori"
expect 2 'there is no command "dance". The commands are demo test' "$odori" dance
expect 2 '"dance" というコマンドはありません。' "$odori" dance --lang ja
LC_ALL= LC_MESSAGES= LANG=ja_JP.UTF-8 expect 2 'check のことですか。' "$odori" chek
expect 2 'there is no command "chek". Did you mean check?' "$odori" chek
expect 2 'there is no command "". The' "$odori" ''
expect 2 'どのタスクですか' "$odori" --lang ja check
expect 2 'フラグはその後に書きます' "$odori" --batchsize --lang ja check
expect 2 "Did you mean ./odori check multi_gpu?" "$odori" multi_gpu check
expect 2 "./odori check multi_gpu --no-speedup --lang ja のことですか。" "$odori" 1 check --no-speedup --lang ja
expect 2 "multi_gpu is a task, not a command. ./odori check multi_gpu" "$odori" multi_gpu
expect 2 'There is no task "99". The tasks are' "$odori" hint 99
expect 2 "ring has no job script. Run it on one node, in an interactive job (for example qsub -I or salloc): ./odori run ring --ranks 4" \
  "$odori" submit 3
expect 2 "対話型ジョブ" "$odori" submit prediction --lang ja
expect 2 "./odori run needs a task: single_gpu multi_gpu" "$odori" run
expect 2 'There is no task "two_gpus". The tasks are' "$odori" run two_gpus
expect 2 'There is no task "multi". Did you mean multi_gpu or multi_node?' "$odori" run multi
expect 2 'Did you mean multi_gpu?' "$odori" hint multigpu 9
expect 2 'Did you mean ja?' "$odori" hint multi_gpu --lang jp
expect 2 'Did you mean --all?' "$odori" hint multi_gpu --al
expect 2 'One blank at a time' "$odori" hint multi_gpu 1 2
expect 2 'Did you mean multi_node?' "$odori" submit multinode
expect 2 'Did you mean synthetic?' "$odori" data synth

# The word that was probably meant, as programs find it.
. "${odori%/*}/lib/flags/command_line.sh"
while IFS='|' read -r word expected; do
  [[ $word != '#'* ]] || continue
  if [[ $word == known ]]; then read -ra known <<<"$expected" && continue; fi
  near=$(nearest "$word" "${known[@]}")
  [[ $near == "$expected" ]] || {
    printf 'FAILED: near to %s is "%s", not "%s"\n' "$word" "$expected" "$near"
    failures=$((failures + 1))
  }
done <"${0%/*}/nearest_cases.txt"

# Every blank has three hints, in both languages; of a task's first blank one more at each call, all at once on request.
export ODORI_STATE=$scratch/state
kit=${odori%/*}
. "$kit/lib/flags/exercises.sh"
expect 2 "./odori hint needs a task: $(exercises_with_blanks | paste -sd ' ')." "$odori" hint
expect 2 'takes "new NAME" or "check NAME", not "prove"' "$odori" exercise prove ring
expect 2 "./odori exercise check needs a task: $(exercises_with_blanks | paste -sd ' ')." "$odori" exercise check
expect 2 "There is an exercise ring already" "$odori" exercise new ring
for name in test fmt filled_ring_1 train_cifar_multi_gpu nccl_gpu; do
  expect 2 "\"$name\" has another meaning in the build" "$odori" exercise new "$name"
done
for name in Ring 9th a__b "a b" ../a "" 勾配 top-k "$(printf 'a%.0s' {1..41})"; do expect 2 "takes one name" "$odori" exercise new "$name"; done
expect 2 "multi_gpu has no blank 9; it has 1 to 8" "$odori" hint multi_gpu 9 --lang en
expect 2 "空欄 9 はありません" "$odori" hint multi_gpu 9 --lang ja
for task in $(exercises_with_blanks); do
  blanks=$(find "$(solution_folder $task)" -name '*.cpp' -o -name '*.sh' | xargs cat |
    grep -cE '(//|#) BLANK [0-9]+:')
  for hints in "$(solution_folder $task)"/hints{,.ja}.md; do
    [[ $(awk '/^## / { if (title != "") print title, (words > 0); title = $2; words = 0; next } { words += NF } END { print title, (words > 0) }' \
      "$hints") == "$(for ((n = 1; n <= blanks; ++n)); do printf '%s 1\n' $n.1 $n.2 $n.3; done)" ]] || {
      echo "FAILED: $hints doesn't hold three hints of each of $blanks blanks, in their order"
      failures=$((failures + 1))
    }
  done
  rm -f "$ODORI_STATE"
  one=$(LC_ALL=C "$odori" hint $task 1) two=$("$odori" hint $task 1 --lang en) three=$("$odori" hint $task 1 --lang=en)
  again=$("$odori" hint $task 1 --lang en) japanese=$(LC_ALL='' LC_MESSAGES='' LANG=ja_JP.UTF-8 "$odori" hint $task 1)
  whole=$("$odori" hint $task 1 --all --lang en)
  if [[ $one != "$task, blank 1: hint 1 of 3"$'\n\n'?* || $two != *"hint 2 of 3"* || $three != *"./odori solution $task 1" ||
    ${#two} -le ${#one} || ${#three} -le ${#two} || $again != "$three" || $whole != "$three" ||
    $japanese != "$task 空欄 1: ヒント 3 / 3"$'\n\n'?* ]]; then
    printf 'FAILED: %s, hints of blank 1\n%s\n%s\n%s\n%s\n' $task "$one" "$two" "$three" "$japanese"
    failures=$((failures + 1))
  fi
  expect 2 "it has 1 to $blanks" "$odori" hint $task $((blanks + 1)) --lang en
  expect 0 "== Blank $blanks" "$odori" hint $task --all --lang en
done
# A task by its number, and after its blank's.
for words in "1 3" "3 multi_gpu" "task1 3" "--all 1 3" "--lang en 1 3"; do
  read -ra words <<<"$words"
  expect 0 "multi_gpu, blank 3: hint" "$odori" hint "${words[@]}"
done
printf '%s\n' "verdict multi_gpu 1 PASS 20 20 0" "hint multi_gpu 2 2" "hint multi_gpu 1 1" >"$ODORI_STATE"
"$odori" hint multi_gpu 2 >"$scratch/said"
[[ $(<"$ODORI_STATE") == $'verdict multi_gpu 1 PASS 20 20 0\nhint multi_gpu 1 1\nhint multi_gpu 2 3' ]] || {
  printf 'FAILED: what is remembered of hints: %s\n' "$(<"$ODORI_STATE")"
  failures=$((failures + 1))
}
rm "$ODORI_STATE"
"$odori" hint multi_gpu --all >"$scratch/said"
[[ $(<"$ODORI_STATE") == $'hint multi_gpu 1 3\n'*$'\nhint multi_gpu 8 3' ]] || {
  printf 'FAILED: what is remembered of all hints: %s\n' "$(<"$ODORI_STATE")"
  failures=$((failures + 1))
}
printf '\1\2\377 rubbish\n' >"$ODORI_STATE"
expect 0 "blank 3: hint 1 of 3" "$odori" hint multi_gpu 3 --lang en
for state in /no/such/folder/state "$scratch"; do # and a folder where the file should be
  ODORI_STATE=$state expect 0 "blank 3: hint 1 of 3" "$odori" hint multi_gpu 3 --lang en
done

export ODORI_READY=1
expect 2 '--ranks takes a number of processes, up to 99 on one machine, not "two"' "$odori" run multi_node --ranks two
expect 2 "--ranks takes a number of processes" "$odori" run multi_node --ranks 99999999999999999999
expect 2 "--ranks takes a number of processes" "$odori" compare --ranks 1000
expect 2 "--ranks needs a value" "$odori" run multi_node --ranks
expect 2 "--link needs a value" "$odori" run multi_node --link
expect 2 "--nodes takes a number" "$odori" run multi_node --ranks 2 --nodes 3
for one_node in "--nodes 1" "--ranks 1" "--nodes 3,3"; do
  expect 2 "all ranks here are on one" "$odori" run multi_node --link 1gbit,50us $one_node
  expect 2 "all ranks here are on one" "$odori" compare --link 1gbit,50us $one_node
done
for flag in --ranks --nodes --link; do expect 2 "single_gpu is one process" "$odori" run single_gpu $flag 2; done

# A machine on which only these programs are: mpirun says with what it was called.
mkdir -p "$scratch/bin" "$scratch/build/bin/"{exercises,solutions}
for tool in awk bash cat chmod date df dirname env find grep id mv nproc paste rm stat touch; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
printf '#!/bin/sh\necho link=$ODORI_LINK nodes=$ODORI_NODES "$@"\n' >"$scratch/bin/mpirun"
chmod +x "$scratch/bin/mpirun"
run=(env PATH="$scratch/bin" ODORI_BUILD="$scratch/build" "$odori" run multi_node)
expect 0 "nodes=0,0,1,1 -np 4" "${run[@]}" --ranks 4 --nodes 2
expect 0 "nodes=0,0,1 -np 3" "${run[@]}" --ranks 3 --nodes 2
expect 0 "nodes=0,0,1 -np 3" "${run[@]}" --ranks=3 --nodes=2
expect 0 "nodes=1,0 -np 2" "${run[@]}" --nodes 1,0
expect 0 "link= nodes= -np 2" "${run[@]}"
expect 0 "link=1gbit,50us nodes=0,1,2 -np 3" "${run[@]}" --ranks 3 --link 1gbit,50us
expect 0 "link=1gbit,50us nodes=0,0,1,1 -np 4" "${run[@]}" --link 1gbit,50us --ranks 4 --nodes 2
expect 0 "/exercises/train_cifar_multi_node --epoch 3" "${run[@]}" --epoch 3
expect 0 "/solutions/train_cifar_multi_node --epoch 3" "${run[@]}" --solution --epoch 3
# PATH's mpirun may be another MPI's than the build's.
printf '#!/bin/sh\necho of the build: "$@"\n' >"$scratch/mpiexec"
chmod +x "$scratch/mpiexec"
echo "MPIEXEC_EXECUTABLE:FILEPATH=$scratch/mpiexec" >"$scratch/build/CMakeCache.txt"
expect 0 "of the build: -np 2" "${run[@]}"
expect 0 "of the build: -np 2" env PATH="$scratch/bin" ODORI_BUILD="$scratch/build" "$odori" compare
rm "$scratch/build/CMakeCache.txt"

unset ODORI_READY

# A compiler that accepts nothing: a task's own program is what ./odori check explains.
mkdir -p "$scratch/broken"
printf '#!/bin/sh\n[ "$1" != --build ]\n' >"$scratch/bin/cmake"
printf '#!/bin/sh\n' >"$scratch/bin/c++"
chmod +x "$scratch/bin/"{cmake,c++}
broken=(env PATH="$scratch/bin" ODORI_BUILD="$scratch/broken" "$odori" run)
expect 12 "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp are explained by: ./odori check multi_gpu" "${broken[@]}" multi_gpu
expect 12 "The build failed; see above." "${broken[@]}" multi_gpu --solution
for run in "multi_gpu --solution" single_gpu; do
  read -ra run_words <<<"$run"
  [[ $("${broken[@]}" "${run_words[@]}" 2>&1) != *"./odori check"* ]] || {
    printf 'FAILED: run %s speaks of a check\n' "$run"
    failures=$((failures + 1))
  }
done

# A build folder that can't be made or written to, also for root; and a shell that exports that * is no pattern.
expect 20 "the kit can't be built in /proc/build: that folder can't be written to. ODORI_BUILD=FOLDER" \
  env PATH="$scratch/bin" ODORI_BUILD=/proc/build "$odori" run multi_gpu
expect 0 "Tasks: single_gpu multi_gpu" bash -fc 'export SHELLOPTS; "$1" run --help' _ "$odori"

# A kit that was copied with its build, and a build folder of another kit.
copied=$scratch/copied
mkdir -p "$copied/build" "$scratch/of_another"
cp -r "${odori%/*}"/{odori,cmake} "$copied/"
mkdir "$copied/lib"
cp -r "${odori%/*}"/lib/{flags,threads} "$copied/lib/"
for folder in "$copied/build" "$scratch/of_another"; do
  echo "CMAKE_HOME_DIRECTORY:INTERNAL=/former/place" >"$folder/CMakeCache.txt"
  bash -c "$(sed -n '/^packages=/,/)$/p' "$odori"); echo \"\${packages[*]}\"" >"$folder/odori_packages"
done
# The stand-in for CMake configures nothing: the kit can't be built, but the other's files have to be gone.
expect 12 "was built from the kit in /former/place, and this one is in $copied: it is built again" \
  env ODORI_INSTALL=no PATH="$scratch/bin:$PATH" "$copied/odori" setup
expect 20 "Name another folder, or remove that one." \
  env PATH="$scratch/bin" ODORI_BUILD="$scratch/of_another" "$odori" setup
[[ ! -e $copied/build/CMakeCache.txt && -e $scratch/of_another/CMakeCache.txt ]] || {
  echo "FAILED: a copied build must go, and another kit's must stay"
  failures=$((failures + 1))
}

# What keeps a folder from being built in has a name. (The stand-in for CMake fails to build.)
configured() { # FOLDER: one of this kit, as if CMake had been there
  mkdir -p "$1"
  printf '%s\n' "CMAKE_HOME_DIRECTORY:INTERNAL=${odori%/*}" "CMAKE_CXX_COMPILER:FILEPATH=${2:-/bin/sh}" >"$1/CMakeCache.txt"
  bash -c "$(sed -n '/^packages=/,/)$/p' "$odori"); echo \"\${packages[*]}\"" >"$1/odori_packages"
}
configured "$scratch/gone" /nowhere/g++
expect 20 "was made with /nowhere/g++, which is not there now. Load the module" \
  env PATH="$scratch/bin" ODORI_BUILD="$scratch/gone" "$odori" run single_gpu
configured "$scratch/full"
failing=(env PATH="$scratch/bin" ODORI_BUILD="$scratch/full" "$odori" run single_gpu)
expect 12 "The build failed; see above." "${failing[@]}"
rm "$scratch/bin/df"
printf '#!/bin/sh\nprintf "Filesystem\\nx 9 9 12 100%% /\\n"\n' >"$scratch/bin/df"
printf '#!/bin/sh\n[ "$1" != --version ] || exit 127\n' >"$scratch/bin/c++"
chmod +x "$scratch/bin/df"
expect 20 "$scratch/bin/c++ does not start by itself" "${failing[@]}"
printf '#!/bin/sh\n' >"$scratch/bin/c++"
expect 20 "The file system of $scratch/full is full: 12 KiB are free" "${failing[@]}"
rm "$scratch/bin/df"
cp -r "${odori%/*}"/{exercises,solutions} "$copied/"
touch -d '+2 hours' "$copied/cmake/Dependencies.cmake"
sed -i "s|=.*|=$copied|" "$scratch/full/CMakeCache.txt"
expect 20 "cmake/Dependencies.cmake was changed at" env PATH="$scratch/bin" ODORI_BUILD="$scratch/full" "$copied/odori" run single_gpu
touch "$copied/cmake/Dependencies.cmake"
noexec='mount -t tmpfs -o noexec none "$1" && PATH=$2 ODORI_BUILD=$1 "$3" run single_gpu'
mkdir "$scratch/noexec"
apart=(unshare --mount)
[[ $EUID -eq 0 ]] || apart+=(--user --map-root-user)
if "${apart[@]}" true 2>/dev/null; then
  expect 20 "programs can't be started from $scratch/noexec" "${apart[@]}" bash -c "$noexec" _ "$scratch/noexec" "$scratch/bin:$PATH" "$odori"
elif [[ -n ${CI:-} ]]; then
  echo "FAILED: no mount namespace can be made" && failures=$((failures + 1))
fi
# Somebody else's folder, as in a shared installation, is used as it is if nothing would be built.
if [[ $EUID -eq 0 ]]; then
  configured "$scratch/shared"
  touch "$scratch/shared/build.ninja"
  mkdir -p "$scratch/shared/bin/solutions"
  printf '#!/bin/sh\necho "trains"\n' >"$scratch/shared/bin/solutions/train_cifar_single_gpu"
  printf '#!/bin/sh\necho "$says"\n' >"$scratch/bin/ninja"
  chmod +x "$scratch/shared/bin/solutions/train_cifar_single_gpu" "$scratch/bin/ninja"
  chmod 755 "$scratch"
  as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env PATH="$scratch/bin" ODORI_BUILD="$scratch/shared")
  kit_of_nobody=$copied/odori # the other may not be readable
  sed -i "s|^CMAKE_HOME.*|CMAKE_HOME_DIRECTORY:INTERNAL=$copied|" "$scratch/shared/CMakeCache.txt"
  touch "$scratch/shared/odori_looked"
  expect 0 "trains" "${as_nobody[@]}" says="ninja: no work to do." "$kit_of_nobody" run single_gpu --solution
  expect 20 "belongs to root, you may not write there, and it is not up to date" \
    "${as_nobody[@]}" says="[1/2] Building" "$kit_of_nobody" run single_gpu --solution
  rm "$scratch/bin/ninja"
fi

# One ./odori at a time builds; another says for whom it waits, can be stopped, and holds nothing while its program runs.
ln -s "$(command -v flock)" "$(command -v mkdir)" "$scratch/bin/"
printf '#!/bin/sh\n' >"$scratch/bin/cmake"
printf '#!/bin/sh\nflock -n "$ODORI_BUILD/odori_lock" env >/dev/null && echo "the lock is free"\n' >"$scratch/build/bin/exercises/train_cifar_single_gpu"
chmod +x "$scratch/build/bin/exercises/train_cifar_single_gpu"
building=(env PATH="$scratch/bin" ODORI_BUILD="$scratch/build" "$odori" run single_gpu)
expect 0 "the lock is free" "${building[@]}"
exec {held}>>"$scratch/build/odori_lock"
flock "$held"
echo 4711 >"$scratch/build/odori_lock"
expect 124 "Waiting until process 4711 has built what it needs in $scratch/build." timeout -s INT 2 "${building[@]}"
{ sleep 1 && exec {held}>&-; } & # it holds the lock as well
exec {held}>&-
expect 0 "the lock is free" "${building[@]}"
rm "$scratch/bin/flock"
printf '#!/bin/sh\nexit 71\n' >"$scratch/bin/flock"
chmod +x "$scratch/bin/flock"
expect 71 "$scratch/build is on a file system that can't lock files." "${building[@]}"
rm "$scratch/bin/"{cmake,c++,flock,mkdir}

bare=(env PATH="$scratch/bin" ODORI_BUILD="$scratch/unbuilt" CXX=no_such_compiler "$odori")
expect 20 "Missing programs: no_such_compiler cmake" "${bare[@]}" demo
expect 20 "this system has no apt-get" "${bare[@]}" test
expect 20 "libopenmpi-dev" "${bare[@]}" test
expect 20 "CMAKE_PREFIX_PATH=" "${bare[@]}" test
expect 20 "The slides can't be built. Nothing was installed: this system has no apt-get" "${bare[@]}" slides
expect 20 "names: nodejs npm" "${bare[@]}" slides
expect 0 "./odori slides accept DECK" "${bare[@]}" slides --help

# With apt: nothing is installed yet; apt-get notes what it is asked for, and fails.
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
printf '#!/bin/sh\necho "asked: $DEBIAN_FRONTEND $*"\nexit 1\n' >"$scratch/bin/apt-get"
printf '#!/bin/sh\n[ "$1" != -n ] || exit 0\nexec "$@"\n' >"$scratch/bin/sudo"
chmod +x "$scratch/bin/"*
expect 20 "ODORI_INSTALL=no says so. Missing packages: g++ cmake" "${bare[@]:0:2}" ODORI_INSTALL=no "${bare[@]:2}" test
expect 20 "apt-get: g++ cmake ninja-build" "${bare[@]}" test
expect 20 "asked: noninteractive install -y -q --no-install-recommends g++ cmake" "${bare[@]}" test
expect 20 "could not install these packages: g++ cmake" "${bare[@]}" test
if [[ $EUID -ne 0 ]]; then
  rm "$scratch/bin/sudo"
  expect 20 "you are not root and may not use sudo. Missing packages: g++" "${bare[@]}" test
fi

[[ $failures -eq 0 ]] || exit 1
echo "The driver does what it says."
