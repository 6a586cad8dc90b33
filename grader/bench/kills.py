#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A batch, killed again and again at random moments and resumed: no mark may be lost, doubled or changed.

    grader/bench/kills.py [--kills 500] [--students 20 | --quick] [--build build] [--folder /tmp/odori_kills] [--seed 1]

First the class is marked once without a kill. Then batches of the same class are begun (with the same salt, so that the same
data are drawn), killed and resumed until they are through, one after the other, until so many kills are done. SIGKILL hits the
batch alone, or everything that it started too. After each kill every record that was there before has to be there, byte by byte;
at the end each has to have the marks of the batch that nobody killed, and no earlier version.
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile
import time

import grading


class Failure(Exception):
    pass


def texts_of(results):
    return {path: path.read_bytes() for path in results.glob("students/*/multi_*.json")}


def finish(batch):
    output = batch.communicate()[0].decode()
    if batch.returncode != 0:
        raise Failure(f"A batch ended with exit code {batch.returncode}:\n{output}")
    return output


def compare(results, reference):
    seen = grading.records(results)
    if seen.keys() != reference.keys():
        raise Failure(f"Records differ: {sorted(seen.keys() ^ reference.keys())}")
    for key, record in seen.items():
        if grading.marks(record) != grading.marks(reference[key]):
            raise Failure(f"{key}: {grading.marks(record)} instead of {grading.marks(reference[key])}")
    if (results / "history").exists():
        raise Failure("Something was marked twice: there is a history.")
    left = [path for path in results.rglob("*.part")]
    if left:
        raise Failure(f"Half-written files are left: {left}")


def require_seen(batch, scratch):
    """That nothing is left after a kill shows something only if left_of sees what is there while a batch runs."""
    while not grading.left_of(scratch, 0):
        if batch.poll() is not None:
            raise Failure(f"No program of a batch was seen below {scratch}.")
        time.sleep(0.05)


def make_quick_class(kit, folder):
    """Of three students two hand in job scripts alone, which are marked at once: most kills find their records."""
    shutil.rmtree(folder, ignore_errors=True)
    for student, files in {"aoki": "*.sh", "baba": "*.sh", "chiba": "train_*.cpp"}.items():
        (folder / "class" / student).mkdir(parents=True)
        for file in (kit / "solutions/01_multi_gpu").glob(files):
            shutil.copy(file, folder / "class" / student)


def main():
    kit = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="three students with little to mark")
    parser.add_argument("--build", type=pathlib.Path, default=kit / "build")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/odori_kills"))
    parser.add_argument("--seed", type=int, default=1)
    options, flags = parser.parse_known_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="odori_kills_") as scratch:
        kill_batches(options, flags, scratch)


def kill_batches(options, flags, scratch):
    def start(results):
        return grading.start(options.build, submissions, results, *flags, scratch=scratch)

    if options.quick:
        make_quick_class(pathlib.Path(__file__).resolve().parents[2], options.folder)
    else:
        grading.make_class(options.build, options.students, options.folder)
    submissions, whole = options.folder / "class", options.folder / "unkilled"
    began = time.time()
    grading.prepare(whole, speedup=0)
    batch = start(whole)
    require_seen(batch, scratch)
    finish(batch)
    reference = grading.records(whole)
    print(f"{len(reference)} records without a kill, {time.time() - began:.0f} s", flush=True)
    pace = max(1.0, sum(record["seconds"] for record in reference.values()) / len(reference))

    kills, rounds = 0, 0
    while kills < options.kills:
        results = options.folder / "killed"
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir()
        (results / "lock").touch()
        shutil.copy(whole / "batch.json", results)
        through = False
        while kills < options.kills and not through:
            before = texts_of(results)
            batch = start(results)
            # Mostly soon, in the midst of taking in and writing; at times late, so that slow answers come to their end.
            deadline = time.time() + pace * (random.uniform(0, 1.5) if random.random() < 0.8 else random.uniform(1.5, 6))
            while time.time() < deadline and batch.poll() is None:
                time.sleep(0.01)
            if batch.poll() is not None:
                through = batch.returncode == 0
                if not through:
                    raise Failure(f"A resumed batch ended with {batch.returncode}: {batch.stdout.read().decode()}")
                break
            everything = random.random() < 0.5
            started = grading.descendants(batch.pid)
            grading.kill(batch, everything)
            kills += 1
            if not grading.gone_within(started, 5):
                raise Failure(f"Kill {kills}: processes outlive their batch: {started}")
            if left := grading.left_of(scratch, 5):
                raise Failure(f"Kill {kills}: programs go on without their batch: {left}")
            after = texts_of(results)
            for path, text in before.items():
                if after.get(path) != text:
                    raise Failure(f"Kill {kills}: {path} was {'changed' if path in after else 'lost'}.")
            if kills % 10 == 0:
                print(f"{kills} kills, {len(after)} records, {time.time() - began:.0f} s", flush=True)
        finish(start(results))
        compare(results, reference)
        rounds += 1
    print(f"{kills} kills in {rounds} batches of {len(list(submissions.iterdir()))}: no mark lost, doubled or changed. {time.time() - began:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(failure)
        sys.exit(1)
