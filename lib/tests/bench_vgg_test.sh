#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What bench_vgg prints about a GPU, on an emulated one: the GPU's own memory, and no speedups, which would be those of
# the emulation.
#   bench_vgg_test.sh BENCH_VGG EMULATED_GPU
set -uo pipefail
export ODORI_GPU_PLUGIN=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$1"
  failures=$((failures + 1))
}

memory_of() { # FLAG...: the MB of a run's last line, after "peak memory"; empty if $of doesn't come after it
  "$bench" --model mid --batchsize 2 --iterations 1 --rounds 1 "$@" >"$scratch/said" 2>&1 || cat "$scratch/said" >&2
  sed -n "s/^peak memory \([0-9]*\) MB$of; an iteration allocates .*/\1/p" "$scratch/said"
}

bench=$1
of=" of the GPU, without what CUDA's libraries hold"
on_gpu=$(memory_of --device cuda --compare-without step-graph,fused-update --json "$scratch/rates.json")
of=""
on_host=$(memory_of)
[[ -n $on_gpu && $on_gpu -ge 33 ]] || fail "a GPU's peak memory is \"$on_gpu\" MB; its matrix products alone take 33."
[[ -n $on_host && $on_gpu != "$on_host" ]] || fail "the GPU's peak memory, $on_gpu MB, is that of the host, \"$on_host\" MB."

"$bench" --device cuda --model mid --batchsize 2 --iterations 1 --rounds 1 --compare-without step-graph >"$scratch/said" 2>&1
grep -qx "No ratios: the GPU is emulated, and its times say nothing about a card." "$scratch/said" || fail "no word of the emulation: $(<"$scratch/said")"
! grep -qE "^ratio|^Speedup" "$scratch/said" || fail "speedups of an emulated GPU: $(<"$scratch/said")"
grep -q '"without": "fused-update"' "$scratch/rates.json" || fail "the file has no rates: $(<"$scratch/rates.json")"
! grep -q speedup "$scratch/rates.json" || fail "speedups of an emulated GPU: $(<"$scratch/rates.json")"

# What would make no difference is not compared: the network has neither a GELU nor dropout.
"$bench" --device cuda --model mid --batchsize 2 --iterations 1 --rounds 1 --compare-without all --json "$scratch/all.json" >"$scratch/said" 2>&1
unused="not used by this network"
grep -qx "Not compared: fused-dropout ($unused), fused-gelu ($unused)" "$scratch/said" || fail "what is not compared: $(<"$scratch/said")"
[[ $(grep -c "images/s" "$scratch/said") -eq 6 ]] || fail "not five of seven were compared: $(<"$scratch/said")"
python3 - "$scratch/all.json" <<'END' || fail "in the file: $(<"$scratch/all.json")"
import json, sys
without = {each["without"]: each.get("not_compared") for each in json.load(open(sys.argv[1])) if "images_per_second" not in each}
sys.exit(without != dict.fromkeys(["fused-dropout", "fused-gelu"], "not used by this network"))
END
"$bench" --device cuda --batchsize 1 --iterations 1 --rounds 1 --compare-without fused-dropout,fused-gelu >"$scratch/said" 2>&1
grep -qx "Not compared: fused-gelu ($unused)" "$scratch/said" || fail "the VGG has dropout: $(<"$scratch/said")"

# A file that can't be written is refused before any round; a test of it leaves none, and changes none.
refuses() { # FILE
  ! timeout 20 "$bench" --model mid --iterations 1000000 --json "$1" >"$scratch/said" 2>&1 || fail "$1 was accepted"
  grep -q "^.*$1 can't be written. Give --json a file in a folder that exists" "$scratch/said" || fail "no word of $1: $(<"$scratch/said")"
}
refuses /nonexistent/x
refuses "$scratch"
echo "of a card" >"$scratch/kept.json"
for file in kept new; do
  timeout 5 "$bench" --model mid --batchsize 2 --rounds 1000 --iterations 1000000 --json "$scratch/$file.json" >"$scratch/said" 2>&1
done
[[ $(<"$scratch/kept.json") == "of a card" && ! -e $scratch/new.json ]] || fail "an unfinished run wrote its file."
! "$bench" --compare-without= --json "$scratch/new.json" >"$scratch/said" 2>&1 || fail "--compare-without= was accepted"
grep -q -- "--compare-without needs a value." "$scratch/said" || fail "no word of the empty value: $(<"$scratch/said")"

[[ $failures -eq 0 ]] || exit 1
echo "bench_vgg says of a GPU what it should."
