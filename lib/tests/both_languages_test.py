#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What learners read after --lang ja holds no English: no three English words in a row, names and commands left aside.
    both_languages_test.py KIT BUILD"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

KIT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
SCRATCH = tempfile.TemporaryDirectory()
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if name != "ODORI_LANG"}, "LC_ALL": "C.UTF-8", "TERM": "dumb",
               "ODORI_READY": "1", "ODORI_BUILD": str(BUILD), "ODORI_SITE": "/dev/null", "ODORI_STATE": f"{SCRATCH.name}/state",
               "ODORI_DATA": f"{SCRATCH.name}/data"}
# What keeps its own language: commands and flags with their values, paths and code, what a program's source says, and what it
# logs while it trains.
OTHERS = [r"\./odori [^。、（）]*", r"`[^`]*`", r"「[^」]*」", r"\"[^\"]*\"", r"--[\w-]+[= ]?\S*", r"\S*[/_.=<>@$]\S*",
          r"^  (問い|場所): .*", r"^(Start a training|Using CIFAR dataset).*"]
NAMES = {*(folder.name[3:] for folder in KIT.glob("solutions/[0-9]*")), "vgg", "mid", "tiny", "dummy", "flat", "hierarchical",
         "naive", "ring", "tree"}
WORDS = re.compile(r"(?<![A-Za-z-])[A-Za-z][a-z']*(?:,? [A-Za-z][a-z']+){2,}")

# Each with the exit code that it has.
COMMANDS = [
    *[(0, f"help {word}") for word in ("demo", "test", "run", "check", "watch", "hint", "status", "reset", "solution", "submit", "explain",
                                       "compare", "timeline", "predict", "simulate", "doctor", "data")],
    (0, "help"), (2, "chek"), (2, "check"), (2, "check nothing"), (2, "check ring --no-such"), (2, "hint ring 99"), (2, "reset ring x"),
    (0, "status"), (0, "hint ring 1"), (10, "check ring --no-speedup"), (0, "solution ring 1 --yes"),
    (0, "run single_gpu --solution --help"), (0, "run multi_node --solution --help"), (2, "run single_gpu --solution --epochs 3"),
    (2, "run single_gpu --solution --epoch x"), (2, "run single_gpu --solution --ranks 2"), (2, "run multi_node --solution --ranks 0"),
    (2, "run multi_node --solution --ranks 2 --link fast"), (1, "run single_gpu --solution --dataset synthetic"),
    (1, "run single_gpu --solution --dataset nowhere"), (1, "run single_gpu --solution --device cuda"),
    (1, f"timeline {SCRATCH.name}"), (2, "timeline"), (2, "predict --timings 32:1"), (2, "predict --timings 32:1,32:2"),
    (2, "predict --network fast"), (0, f"predict --timings 32:0.01,64:0.02 --nodes 2 --out {SCRATCH.name}/predict"),
    (0, f"simulate ring --solution --ranks 4 --timings 32:0.01,64:0.02 --out {SCRATCH.name}/simulate"),
    (2, "simulate ring --solution --ranks 9 --gpus-per-node 8"), (2, "simulate multi_gpu"), (0, "data list"), (2, "data fetch"),
    (2, "data fetch mnist"), (0, "data synthetic --train 20 --test 10"), (0, "data list"), (0, f"explain {SCRATCH.name}/log"),
]

pathlib.Path(SCRATCH.name, "log").write_text("\nプログラムが、まだ埋められていない空欄 1 に達しました。\n")
failures = []
for code, words in COMMANDS:
    done = subprocess.run([KIT / "odori", *words.split(), "--lang", "ja"], env=ENVIRONMENT, cwd=SCRATCH.name, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if done.returncode != code:
        failures.append(f"./odori {words} ended with {done.returncode}, not {code}:\n{done.stdout}")
    for line in done.stdout.splitlines():
        rest = line
        for other in OTHERS:
            rest = re.sub(other, "|", rest)
        found = WORDS.search(re.sub(r"[A-Za-z_]+", lambda word: "|" if word[0] in NAMES else word[0], rest))
        if found:
            failures.append(f"./odori {words} --lang ja says \"{found[0]}\":\n  {line}")
print("\n".join(failures) or f"{len(COMMANDS)} commands answer in Japanese.")
sys.exit(bool(failures))
