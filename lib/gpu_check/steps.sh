#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # out, scratch, deadline, stages ... are gpu_check.sh's, which sources this
# Runs the steps of gpu_check.sh, each in a session of its own within its time, and writes what they came to.

# Was any step run? Else an earlier run's result.json, which says more, is kept.
has_run() { [[ -n $(all_rows | cut -f3 | grep -vx 'NOT RUN') ]]; }

# After every step, too: what kills this may leave no time for a last word.
write_result() {
  has_run || return 0
  "$python" -IS - "$(all_rows)" "$verdict" "$gpus" "$scratch" "$stages" "${unproven[@]}" <<'END' >"$out/result.json.new" && mv "$out/result.json.new" "$out/result.json"
import json, pathlib, sys, time
rows, verdict, gpus, scratch, stages, *unproven = sys.argv[1:]
def read(name):
    path = pathlib.Path(scratch, name)
    return json.loads(path.read_text()) if path.exists() else None
print(json.dumps({
    "verdict": verdict, "date": time.strftime("%Y-%m-%d %H:%M"), "gpus": gpus.splitlines(),
    "stages": stages.split(","), "not_proven": unproven,
    "steps": [dict(zip(("group", "what", "result", "seconds", "detail"), line.split("\t")))
              for line in rows.split("\n") if line],
    "optimizations": {batch: read(f"optimizations_{batch}.json") for batch in ("128", "512")},
    "doctor": read("doctor.json"), "pytorch": read("pytorch.json")}, indent=2))
END
}

at_end() {
  end_session
  write_result || echo "gpu_check: $out/result.json can't be written." >&2
  rm -rf "$scratch" "$out/result.json.new"
}
trap at_end EXIT
ended_by() { # SIGNAL
  local done_until="$out/result.json has what was run until then"
  has_run || done_until="nothing was run until then"
  stop $((128 + $(kill -l "$1"))) "ended by SIG$1; $done_until."
}
for signal in HUP INT TERM; do
  # shellcheck disable=SC2064 # which signal is known now
  trap "ended_by $signal" $signal
done

all_rows() { [[ ${#rows[@]} -eq 0 ]] || printf '%s\n' "${rows[@]}"; }

row() { # GROUP NAME STATUS SECONDS DETAIL
  local columns
  printf -v columns '%s\t' "${@//$'\t'/ }"
  rows+=("${columns%$'\t'}")
  printf '%-12s %-44s %-8s %4s s  %s\n' "$@"
  # Until the end is reached.
  [[ $verdict == FAILED ]] || verdict=INCOMPLETE
  [[ $3 != FAIL ]] || verdict=FAILED
  unproven=("what comes after the last step listed: the check was ended there")
  write_result
}

# What a step leaves behind would hold the GPU while the next one is measured: a training that hangs, a rank whose mpirun
# is gone. A step's processes are one session. A killed process holds the GPU a little longer, and one that hangs in the
# driver for ever: we wait ten seconds.
end_session() {
  local stat line fields left tries
  for ((tries = 0; ${running:-0} && tries < 100; tries++)); do
    left=()
    for stat in /proc/[0-9]*/stat; do
      { read -r line <"$stat"; } 2>/dev/null || continue
      read -ra fields <<<"${line##*) }" # state, parent, group, session
      [[ ${fields[3]} != "$running" || ${fields[0]} == Z ]] || left+=("${line%% *}")
    done
    [[ ${#left[@]} -gt 0 ]] || break
    kill -KILL "${left[@]}" 2>/dev/null
    sleep 0.1
  done
  wait "$running" 2>/dev/null
  running=""
}

# The last line before mpirun's own.
last_words() {
  sed '/^-----/,$d; /^\[/d; /^ *$/d' "$scratch/said" | tail -n 1 | cut -c1-120
}

# A session of its own, and the signals that a shell in the background, and Python, ignore are as usual again.
own_session='
import os, signal, sys
os.setsid()
for name in "SIGINT", "SIGQUIT", "SIGPIPE", "SIGXFSZ":
    signal.signal(getattr(signal, name), signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])'

# step GROUP NAME SECONDS COMMAND...: runs it within that time, and makes a row of how it ended. $detail, a pattern, finds
# the row's detail in what it says. Exit codes: 20 something is missing on this machine, 77 it doesn't concern it; but a GPU
# is here, as nvidia-smi said.
step() {
  local group=$1 name=$2 limit=$3 begin=$SECONDS code=0 status=PASS text="" left said_before cut_off
  shift 3
  left=$((deadline - SECONDS))
  if [[ $left -lt 5 ]]; then
    row "$group" "$name" "NOT RUN" 0 "no time was left"
    return 1
  fi
  printf '\n==== %s: %s: %s\n' "$group" "$name" "$*" >>"$out/log.txt"
  said_before=$(wc -c <"$out/log.txt")
  # Into the file, not a pipe: whoever is left behind would hold that open. `wait` hears signals.
  [[ $limit -le $left ]] && cut_off="" || limit=$left cut_off=yes
  "$python" -ISc "$own_session" timeout -k 5 "$limit" "$@" </dev/null >>"$out/log.txt" 2>&1 &
  running=$!
  wait "$running" 2>/dev/null || code=$? # bash would say that it was killed
  end_session
  tail -c "+$((said_before + 1))" "$out/log.txt" >"$scratch/said"
  [[ -z ${detail:-} ]] || text=$(grep -aoP "$detail" "$scratch/said" | tail -n 1)
  case $code in
    0) ;;
    124 | 137)
      status=FAIL text="not through after $((SECONDS - begin)) s"
      if [[ $((SECONDS - begin)) -lt $limit ]]; then
        text="killed: out of memory?"
      elif [[ -n $cut_off ]]; then
        status="NOT RUN" text="cut off after $((SECONDS - begin)) s: no time was left"
      fi
      ;;
    20) status="NOT RUN" text=$(last_words) ;;
    77)
      status=SKIPPED text=$(grep -aoP '[0-9]+: \Kneeds .*' "$scratch/said" | tail -n 1)
      [[ $text != "needs a GPU;"* ]] || status=FAIL
      ;;
    *) status=FAIL text="exit code $code: $(last_words)" ;;
  esac
  row "$group" "$name" "$status" $((SECONDS - begin)) "$text"
  return "$code"
}
