#!/usr/bin/env bash
# An exercise is two folders and its support code: a toy one is added to a copy of the kit, and all that learners and instructors do works with it,
# with no other file changed. The copy stands at the kit's own place, for itself and its children, so that what was built
# needs no building again.
#   toy_exercise_test.sh KIT BUILD
set -euo pipefail
if [[ $1 != --inside ]]; then
  kit=$(realpath "$1") build=$(realpath "$2") here=$(cd "$(dirname "$0")" && pwd)
  scratch=$(mktemp -d "$build/toy_exercise.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/kit" "$scratch/build"
  tar -C "$kit" -cf - --exclude=./.git --exclude=./build --exclude=./out --exclude=./slides --exclude=./.odori_state . |
    tar -C "$scratch/kit" -xf -
  mkdir -p "$scratch/kit/slides" && cp "$kit/slides/CMakeLists.txt" "$scratch/kit/slides/"
  tar -C "$build" -cf - --exclude='./toy_exercise.*' --exclude=./tests --exclude='./bin/*_test' . | tar -C "$scratch/build" -xf -
  find "$scratch/kit" -type f | sort | xargs -d '\n' sha256sum >"$scratch/before"
  cp -r "$here/toy_exercise/." "$scratch/kit/"
  # A build folder inside of the kit has to be there in the copy, for the second mount.
  [[ $build != "$kit"/* ]] || mkdir -p "$scratch/kit/${build#"$kit/"}"
  bwrap --dev-bind / / --bind "$scratch/kit" "$kit" --bind "$scratch/build" "$build" --chdir "$kit" \
    bash "$0" --inside "$kit" "$build"
  # Of what was there, nothing is another now.
  sha256sum --quiet -c "$scratch/before"
  exit
fi
kit=$2
export ODORI_BUILD=$3 LC_ALL=C.UTF-8 ODORI_INSTALL=no
unset CI ODORI_STATE
failures=0

expect() {  # CODE TEXT COMMAND...: the command ends so, and says this
  local code=$1 text=$2 said ended=0
  shift 2
  said=$("$@" 2>&1 </dev/null) || ended=$?
  [[ $ended -eq $code && $said == *"$text"* ]] && return
  printf 'FAILED: %s\nexpected exit code %s and: %s\ngot %s and:\n%s\n' "$*" "$code" "$text" "$ended" "$said"
  failures=$((failures + 1))
}

[[ ! -e exercises/90_toy/toy.cpp ]] || { echo "There is a toy exercise already." && exit 1; }
expect 0 "exercises/90_toy/toy.cpp is written." ./odori cut
flags=(--device cpu --model tiny --epoch 1 --no_snapshot --dataset "$kit/toy_data" --out "$kit/toy_out")
./odori data synthetic --train 64 --test 16 --out "$kit/toy_data" >/dev/null
expect 10 "blank 1, which isn't filled in yet" ./odori run toy "${flags[@]}"
expect 0 "" ./odori run toy --solution "${flags[@]}"
expect 10 "the weight decay" ./odori check toy
expect 0 "空欄 2: ヒント 1 / 3" ./odori hint toy 2 --lang ja
expect 2 "it has 1 to 5" ./odori hint toy 6
expect 2 "toy has no job script" ./odori submit toy # it has no job script

# What is returned above main stops it too, once the others are filled.
sed -i -e '0,/PUT_YOUR_CODE;/s//sum.send(part);/' -e 's/images = PUT_YOUR_CODE/images = batch/' \
  -e 's/rate = PUT_YOUR_CODE/rate = 0.1f/' -e 's/decay = PUT_YOUR_CODE/decay = 0/' exercises/90_toy/toy.cpp
expect 10 "blank 2, which isn't filled in yet" ./odori run toy "${flags[@]}"
cp solutions/90_toy/toy.cpp exercises/90_toy/toy.cpp
expect 0 "100 of 100 points" ./odori check toy
sed -i 's/images = batch/images = 9/' exercises/90_toy/toy.cpp
expect 11 "The toy takes 9 images" ./odori check toy
expect 0 "UNFILLED" ./odori status multi_gpu
expect 0 "60 of 100 points" ./odori status toy
expect 0 "sum.send(part)" ./odori solution toy 1 --yes
./odori watch toy >watched 2>&1 </dev/null &
for ((tenths = 0; tenths < 600; ++tenths)); do
  ! grep -q "The toy takes 9 images" watched || break
  sleep 0.1
done
kill $! || true
wait $! || true
expect 0 "The toy takes 9 images" cat watched

mkdir -p class/aoki class/baba
sed 's|return number / 2;|return std::midpoint(Number(0), number);|' solutions/90_toy/toy.cpp >class/aoki/toy.cpp
cp exercises/90_toy/toy.cpp class/baba/
expect 0 "aoki, toy: 100 of 100 points" ./odori grade class --out marks --tasks toy
[[ $(tr -d '\r' <marks/marks.csv) == *"aoki,marked,100,100,10,10,40,20,20,"*",no
"*"baba,marked,60,100,10,10,0,20,20,"* ]] ||
  { cat marks/marks.csv && failures=$((failures + 1)); }

# It is optional: where nobody asks for it, a class isn't marked on it.
expect 0 "" ./odori grade class --out others --no-timings
[[ $(head -1 others/marks.csv) == *multi_node* && $(head -1 others/marks.csv) != *toy* ]] ||
  { cat others/marks.csv && failures=$((failures + 1)); }

expect 0 "is now as it was at first" ./odori reset toy
expect 10 "UNFILLED" ./odori check toy
cmake --build "$ODORI_BUILD" --target corpus_run >/dev/null
expect 0 "12 answers graded" "$ODORI_BUILD/tests/corpus_run" toy/
[[ $failures -eq 0 ]] && echo "An exercise of two folders, with support code, works, with nothing else changed."
exit $failures
