#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # the stand-ins expand their own variables
# ./odori test: which tests it runs, what it builds for them, and how it counts them. ctest and cmake are stand-ins.
#   test_command_test.sh ODORI
set -uo pipefail
odori=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
export LC_ALL=C.UTF-8 ODORI_READY=1
# shellcheck source=lib/tests/expect.sh
source "${BASH_SOURCE[0]%/*}/expect.sh"
mkdir -p "$scratch/bin" "$scratch/build"
for tool in awk bash cat chmod date df dirname env find grep id mv nproc paste rm stat touch; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done

# The count of the tests, from ctest's file: one passed, one failed, three need GPUs, and one that did not run at all.
cat >"$scratch/bin/ctest" <<'END'
#!/bin/bash
[[ " $* " != *" -N "* ]] || exit 0
while [[ $1 != --output-junit ]]; do shift; done
cat >"$2" <<'XML'
<testsuite name="(empty)"
	>
	<testcase name="good" classname="good" time="0.1" status="run">
		<system-out>needs nothing</system-out>
	</testcase>
	<testcase name="bad" classname="bad" time="0.1" status="fail">
		<failure message=""/>
	</testcase>
	<testcase name="a_gpu" classname="a_gpu" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>needs a GPU; none here: no driver &amp; no card
</system-out>
	</testcase>
	<testcase name="b_gpu" classname="b_gpu" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>needs a GPU; none here: no driver &amp; no card
</system-out>
	</testcase>
	<testcase name="c_gpus" classname="c_gpus" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>needs 2 GPUs; here: 1
</system-out>
	</testcase>
	<testcase name="gone" classname="gone" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
	</testcase>
</testsuite>
XML
exit 8
END
chmod +x "$scratch/bin/ctest"
counted=(env PATH="$scratch/bin" ODORI_BUILD="$scratch/build" "$odori" test)
expect 8 "2 tests need a GPU; none here: no driver & no card" "${counted[@]}"
expect 8 "1 test needs 2 GPUs; here: 1" "${counted[@]}"
expect 8 $'\n1 passed, 2 failed, 3 skipped' "${counted[@]}"
unset ODORI_READY

# Which tests run, and what is built for them. Of the stand-in's tests three are quick and two are long, and one more is there after
# CMake ran again.
mkdir -p "$scratch/tested"
bash -c "$(sed -n '/^packages=/,/)$/p' "$odori"); echo \"\${packages[*]}\"" >"$scratch/tested/odori_packages"
cat >"$scratch/bin/ctest" <<'END'
#!/bin/bash
if [[ $* == --help ]]; then
  echo "  -j <jobs>, --parallel <jobs> = Run the tests in parallel"
  echo "  -R <regex>, --tests-regex <regex>"
  echo "  --repeat <mode>:<n>"
  exit
fi
if [[ " $* " != *" -N "* ]]; then
  while [[ $1 != --output-junit ]]; do shift; done
  printf '\t<testcase name="good" status="run">\n' >"$2"
  echo "runs ${*:3}"
  exit
fi
case ${*:4} in
  "-LE ^long$"*) tests="a_script comm_test_1_ranks x" ;;
  "-L ^long$ -FA .") tests="slow slower" ;;
  "-R scripts") tests=a_script ;;
  "-R comm_test|x"*) tests="comm_test_1_ranks x" ;;
  "-R comm_test" | "-R x") tests=$2 ;;
  "-R slow" | "-j 1 -R slow") tests="slow slower" ;;
  "-R later") [[ -e $ODORI_BUILD/later ]] && tests="x later" || tests=x ;;
  *) exit ;;
esac
printf '  Test  #8: %s\n' $tests
END
cat >"$scratch/bin/cmake" <<'END'
#!/bin/bash
touch "$ODORI_BUILD/later"
[[ " $* " == *" --target "* ]] && echo "builds ${*:6}" || echo "builds everything"
END
chmod +x "$scratch/bin/"{cmake,ctest}
printf '%s\n' "a_script " "comm_test_1_ranks comm_test" "x other program" "slow all" "slower never" "later program late" >"$scratch/tested/test_targets"

# selects BUILDS RUNS LAST FLAG...: ./odori test FLAG... builds these targets, calls ctest with these flags, and ends its last
# line so.
selects() {
  local said expected=${1:+"builds ${1//; /$'\n'builds }"$'\n'}"runs $2"$'\n'"1 passed, 0 failed, 0 skipped$3"
  rm -f "$scratch/tested/later"
  said=$(env PATH="$scratch/bin" CI= ODORI_BUILD="$scratch/tested" "$odori" test "${@:4}" 2>&1)
  [[ $said == "$expected" ]] || {
    printf 'FAILED: ./odori test %s\nexpected:\n%s\ngot:\n%s\n' "${*:4}" "$expected" "$said"
    failures=$((failures + 1))
  }
}
left="; 2 long tests are left to ./odori test --all"
selects "comm_test other program" '-LE ^long$' "$left"
selects "comm_test other program" '-LE ^long$ --repeat until-fail:2' "$left" --repeat until-fail:2
selects "everything" "" "" --all
selects "everything" "-j 1" "" --all -j 1
selects "everything" "-j 1" "" -j 1 --all
selects "comm_test other program" "-R comm_test|x --repeat until-fail:2" "" comm_test x --repeat until-fail:2
selects "all never" "-R slow" "" slow
selects "all never" "-R slow" "" --all slow
selects "all never" "-j 1 -R slow" "" -j 1 -R slow
selects "other program; other program late" "-R later" "" later
selects "" "-R scripts" "" scripts
refused=(env PATH="$scratch/bin" CI= ODORI_BUILD="$scratch/tested" "$odori" test)
expect 2 'no test has "unheard_of" in its name.' "${refused[@]}" scripts unheard_of
expect 2 "neither ./odori test nor ctest has a flag --nosuch." "${refused[@]}" --nosuch
expect 2 "-x というフラグは" "${refused[@]}" -x --lang ja
rm "$scratch/bin/"{cmake,ctest}

[[ $failures -eq 0 ]] || exit 1
echo "./odori test runs what it says."
