#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A class, marked without timings: how long it takes, until the first result too, and how much memory the grader has.

    grader/bench/class.py [--students 100] [--build build] [--folder /tmp/odori_class] [flags of ./odori grade]

Ends with exit code 1 where a figure is beyond its target, or a verdict isn't the known one.
"""

import argparse
import json
import os
import pathlib
import sys
import threading
import time

import grading

TARGETS = {"minutes of 100 students": 12.0, "seconds to the first result": 15.0, "MB of the grader itself": 200.0}


def watch_memory(pid, peak):
    """The most that the process itself had, in MB, into peak[0]: its children's isn't in it."""
    while True:
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            peak[0] = int(status.split("VmHWM:")[1].split()[0]) / 1024
        except (OSError, IndexError):
            return
        time.sleep(0.2)


def main():
    kit = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--build", type=pathlib.Path, default=kit / "build")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/odori_class"))
    options, flags = parser.parse_known_args()

    known = grading.make_class(options.build, options.students, options.folder)
    results = options.folder / "results"
    began, first, peak = time.time(), None, [0.0]
    grading.prepare(results, speedup=0)
    batch = grading.start(options.build, options.folder / "class", results, *flags)
    memory = threading.Thread(target=watch_memory, args=(batch.pid, peak))
    memory.start()
    for line in batch.stdout:
        text = line.decode()
        print(text, end="", flush=True)
        if first is None and text.startswith("["):
            first = time.time() - began
    code = batch.wait()
    seconds = time.time() - began
    memory.join()

    wrong = []
    seen = grading.records(results)
    for student, tasks in known.items():
        for task, blanks in tasks.items():
            record = seen.get((student, task))
            verdicts = {str(v["blank"]): v["verdict"] for v in record["check"]["verdicts"]} if record and record["check"] else {}
            wrong += [
                f"{student}, {task}, blank {blank}: {verdicts.get(blank)} instead of {'|'.join(expected)}"
                for blank, expected in blanks.items()
                if verdicts.get(blank) not in expected
            ]
    figures = {
        "minutes of 100 students": seconds / 60 * 100 / options.students,
        "seconds to the first result": first if first is not None else float("inf"),
        "MB of the grader itself": peak[0],
    }
    print(f"\n{options.students} students, {len(seen)} records, {os.cpu_count()} cores, exit code {code}")
    for name, figure in figures.items():
        print(f"{name}: {figure:.1f} (target: under {TARGETS[name]:.0f})")
    for line in wrong:
        print("not as known:", line)
    print(json.dumps(figures))
    missed = [name for name in figures if figures[name] > TARGETS[name]]
    sys.exit(1 if missed or wrong or code != 0 else 0)


if __name__ == "__main__":
    main()
