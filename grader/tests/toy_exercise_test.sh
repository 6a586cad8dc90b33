#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./odori exercise new adds an exercise to a copy of the kit, and all that authors, learners and instructors do works with it,
# with no other file changed. The copy is mounted at the kit's own place, for this script and its children, so that what was
# built needs no building again.
#   toy_exercise_test.sh KIT BUILD
set -euo pipefail
if [[ $1 != --inside ]]; then
  kit=$(realpath "$1") build=$(realpath "$2")
  scratch=$(mktemp -d "$build/toy_exercise.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/kit" "$scratch/build"
  tar -C "$kit" -cf - --exclude=./.git --exclude=./build --exclude=./out --exclude=./slides --exclude=./.odori_state . |
    tar -C "$scratch/kit" -xf -
  mkdir -p "$scratch/kit/slides" && cp "$kit/slides/CMakeLists.txt" "$scratch/kit/slides/"
  tar -C "$build" -cf - --exclude='./toy_exercise.*' --exclude=./tests --exclude='./bin/*_test' . | tar -C "$scratch/build" -xf -
  find "$scratch/kit" -type f | sort | xargs -d '\n' sha256sum >"$scratch/before"
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

[[ -z $(compgen -G 'solutions/*_toy') ]] || { echo "There is a toy exercise already." && exit 1; }
expect 2 "takes one name" ./odori exercise new Toy
expect 0 "Made the exercise toy" ./odori exercise new toy
expect 2 "演習 toy はすでにあります" ./odori exercise new toy --lang ja
folder=$(basename solutions/*_toy)
program=exercises/$folder/toy.cpp
expect 0 "$program is written." ./odori cut
expect 0 "mutants   ok" ./odori exercise check toy
expect 10 "blank 1, which isn't filled in yet" ./odori run toy --device cpu
expect 0 "an update uses 64 images" ./odori run toy --solution --device cpu
expect 10 "the bytes of the gradients" ./odori check toy
expect 0 "空欄 2: ヒント 1 / 3" ./odori hint toy 2 --lang ja
expect 2 "it has 1 to 2" ./odori hint toy 3
expect 2 "toy has no job script" ./odori submit toy

# A blank stops the program also after the first one is filled in.
sed -i 's/return PUT_YOUR_CODE/return batchsize * n_devices/' "$program"
expect 10 "blank 2, which isn't filled in yet" ./odori run toy --device cpu
cp "solutions/$folder/toy.cpp" "$program"
expect 0 "100 of 100 points" ./odori check toy
expect 1 "--force also over answers" ./odori exercise check toy --mutants 0
sed -i 's/4 \* parameters/2 * parameters/' "$program"
expect 11 "your answer is 2000 bytes" ./odori check toy
expect 0 "UNFILLED" ./odori status multi_gpu
expect 0 "50 of 100 points" ./odori status toy
expect 0 "4 * parameters" ./odori solution toy 2 --yes
./odori watch toy >watched 2>&1 </dev/null &
for ((tenths = 0; tenths < 600; ++tenths)); do
  ! grep -q "your answer is 2000 bytes" watched || break
  sleep 0.1
done
kill $! || true
wait $! || true
expect 0 "your answer is 2000 bytes" cat watched

mkdir -p class/aoki class/baba
sed 's|4 \* parameters|parameters * sizeof(float)|' "solutions/$folder/toy.cpp" >class/aoki/toy.cpp
cp "$program" class/baba/
mkdir marks others
echo '{"tasks": {"toy": 1}}' >marks/course.json
expect 0 "aoki, toy: 100 of 100 points" ./odori grade class --out marks
[[ $(tr -d '\r' <marks/marks.csv) == *"aoki,,,aoki,marked,100,,50,50,100,no
"*"baba,,,baba,marked,50,,50,0,50,"* ]] ||
  { cat marks/marks.csv && failures=$((failures + 1)); }

# It is optional: unless its course.json names it, a class is not marked on it.
echo '{"speedup": 0}' >others/course.json
expect 0 "" ./odori grade class --out others
[[ $(head -1 others/marks.csv) == *multi_node* && $(head -1 others/marks.csv) != *toy* ]] ||
  { cat others/marks.csv && failures=$((failures + 1)); }

expect 0 "is now as it was at first" ./odori reset toy
expect 10 "UNFILLED" ./odori check toy
cmake --build "$ODORI_BUILD" --target corpus_run >/dev/null
expect 0 "6 answers graded" "$ODORI_BUILD/tests/corpus_run" toy/

# What an author mistypes is found. ./odori cut does not need checks that compile.
checks=grader/exercises/$folder/checks.cpp description=solutions/$folder/exercise.json
cp "$checks" "$description" .
sed -i 's/"toy_bytes"/"toy_byte"/' "$checks"
expect 1 "a check reports toy_byte, and there is no such message" ./odori exercise check toy --blank 2 --mutants 1
echo unfinished >>"$checks"
expect 0 "" ./odori cut
cp checks.cpp "$checks"
sed -i '/"the bytes of the gradients"/d; s/画像数"}},/画像数"}}/' "$description"
expect 1 "for each blank of the solution, 2 in all and in their order. It has 1." ./odori exercise check toy
cp exercise.json "$description"

# A blank can be a program with a planted fault instead.
sed -i 's|^  return batchsize \* n_devices;|  // FAULT: return batchsize + n_devices;\n&\n  // END FAULT|' "solutions/$folder/toy.cpp"
cat >>"grader/exercises/$folder/corpus/blanks.md" <<'END'

## the fault repaired by its line

- 1: PASS

```diff 1
- return batchsize + n_devices;
+ return n_devices * batchsize;
```

## marks of a fault in an answer are comments

- 1: PASS

```diff 1
- return batchsize + n_devices;
+ const int images = n_devices;
+ // FAULT: return batchsize + n_devices;
+ return images * batchsize;
+ // END FAULT
```

## as it is given, with a comment

- 1: UNFILLED unfilled_as_given

```diff 1
- return batchsize + n_devices;
+ return batchsize + n_devices;  // is this right?
```

## a second function

- 1: COMPILE forbidden_bracket

```diff 1
- return batchsize + n_devices;
+ return batchsize + n_devices; } int second() { return 1;
```

## the environment

- 1: WRONG forbidden_word

```diff 1
- return batchsize + n_devices;
+ return getenv("ODORI_TEST_CASES") ? n_devices * batchsize : batchsize + n_devices;
```
END
expect 0 "$program is written." ./odori cut
expect 10 "blank 2, which isn't filled in yet" ./odori run toy --device cpu
expect 10 "This program is still the one that you were given" ./odori check toy
expect 0 "toy, blank 1: hint" ./odori hint toy
expect 0 "(given): WRONG toy_images" ./odori exercise check toy --blank 1 --list
sed -i 's|return batchsize + n_devices|return n_devices * batchsize|' "$program"
expect 10 "50 of 100 points" ./odori check toy
expect 0 "holds the program that you were given again" ./odori reset toy 1
expect 0 "  return batchsize + n_devices;" cat "$program"
expect 0 "// FAULT: return batchsize + n_devices;" ./odori solution toy 1 --yes
expect 0 "11 answers graded" "$ODORI_BUILD/tests/corpus_run" toy/
mkdir -p programs/chiba programs/doi programs_marked
echo '{"tasks": {"toy": 1}}' >programs_marked/course.json
cp "$program" programs/chiba/
sed 's|return batchsize + n_devices|return n_devices * batchsize|' "$program" >programs/doi/toy.cpp
expect 0 "doi, toy: 50 of 100 points" ./odori grade programs --out programs_marked
[[ $(cat programs_marked/marks.csv) == *"chiba,marked,0,,0,0,"*"doi,marked,50,,50,0,"* ]] ||
  { cat programs_marked/marks.csv && failures=$((failures + 1)); }

# Where a check is missing, a mutant survives, unless it is listed with a reason.
sed -i '/"GradientsAreFloats"/d' "grader/exercises/$folder/checks.cpp"
expect 1 "+ const double bytes = 4 / parameters;" ./odori exercise check toy --blank 2
printf '## Not checked\n```diff\n%s\n%s\n```\n' '- const double bytes = 4 * parameters;' '+ const double bytes = 4 / parameters;' \
  >"solutions/$folder/equivalent.md"
expect 1 "(operator): PASS equivalent: Not checked" ./odori exercise check toy --blank 2 --list

# A fault that no check finds is none.
sed -i 's/!same(values/i == 1 \&\& &/' "grader/exercises/$folder/checks.cpp"
expect 1 "the program as it is given (given) survives" ./odori exercise check toy --blank 1
[[ $failures -eq 0 ]] && echo "A new exercise works, with nothing else changed, and its holes are found."
exit $failures
