#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training of several ranks, killed again and again at random moments and resumed: nothing past a snapshot may be lost.

    lib/bench/kill_and_resume.py [--kills 50] [--ranks 2] [--epoch 12] [--seed 1] [--build build] [-- --sharded]

First the training is run once without a kill. Then it is begun, killed and resumed until it is through, one training after
the other, until so many kills are done. SIGKILL hits mpirun and all ranks at once, or one rank, whose end mpirun makes that
of the others. After each kill, --resume must go on behind the newest snapshot that was whole; at each end, weights,
velocities and what every rank remembers must equal those of the training that nobody killed. At last the last epoch is
trained on one rank more, which must say what can't be the same.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

from processes import descendants, gone_within

KIT = pathlib.Path(__file__).resolve().parents[2]


class Failure(Exception):
    pass


def start(options, ranks, out, *flags):
    command = [KIT / "lib/comm/mpirun.sh", "mpirun", "--oversubscribe", "--bind-to", "none", "-np", ranks,
               "--mca", "mpi_yield_when_idle", "1", *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
               options.build / "bin/solutions/train_cifar_multi_node", "--device", "cpu", "--dataset", options.data,
               "--model", "tiny", "--augment", "--batchsize", 10, "--epoch", options.epoch, "--out", out, *options.flags, *flags]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            start_new_session=True)


def finish(run):
    said = run.communicate()[0]
    if run.returncode != 0:
        raise Failure(f"A training ended with exit code {run.returncode}:\n{said}")
    return said


def epochs_of(out):
    """Of the snapshots that have their final name."""
    return sorted(int(match[1]) for path in out.glob("snapshot_epoch_*")
                  if (match := re.fullmatch(r"snapshot_epoch_(\d+)", path.name)))


def remembered(folder):
    """What must not depend on whether the training was killed."""
    content = {path.name: path.read_bytes() for path in folder.glob("*.bin")}
    for path in folder.glob("rank_*.json"):
        state = json.loads(path.read_text())
        del state["elapsed_time"]
        log = json.loads(state["states"].get("LogReport", "[]"))
        state["states"]["LogReport"] = [{key: of[key] for key in of if key != "elapsed_time"} for of in log]
        content[path.name] = state
    return content


def newest_of(out):
    return max(epochs_of(out), default=0)


def compare(out, whole, epochs):
    killed, reference = (remembered(folder / f"snapshot_epoch_{epochs}") for folder in (out, whole))
    different = sorted(name for name in killed.keys() | reference.keys() if killed.get(name) != reference.get(name))
    if different:
        raise Failure(f"{out} and {whole} ended with other contents of {', '.join(different)}")


def kill(run):
    """mpirun and all that it started, or one of the ranks. Returns what it said."""
    everything = [run.pid, *descendants(run.pid)]
    ranks = [pid for pid in everything if b"--augment" in command_of(pid) and b"mpirun" not in command_of(pid)]
    for pid in everything if not ranks or random.random() < 0.5 else [random.choice(ranks)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    said = run.communicate()[0]
    if not gone_within(everything, 60):
        raise Failure(f"Processes outlive their training: {everything}")
    return said


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resumed_behind(said, expected):
    match = re.search(r"Going on from \S+: (\d+) epochs?,", said)
    if (int(match[1]) if match else 0) != expected:
        raise Failure(f"The newest snapshot is of epoch {expected}, but a resumed training said:\n{said}")


def require_whole(folder):
    """Its files are what its manifest says."""
    for name, check in json.loads((folder / "snapshot.json").read_text())["files"].items():
        content = (folder / name).read_bytes()
        if len(content) != check["bytes"] or zlib.crc32(content) != check["crc32"]:
            raise Failure(f"{folder / name} isn't what its manifest says.")


def train_killed(options, out, whole, pace, kills):
    """One training; how many kills it took."""
    shutil.rmtree(out, ignore_errors=True)
    newest, done = 0, 0

    def begin():
        return start(options, options.ranks, out, *(["--resume", out] if newest else []))

    while done < kills:
        run = begin()
        # Soon after a few more epochs, or while it starts.
        epochs, more = random.choice([0, 1, 2]), random.uniform(0, 1.5) * pace["start" if random.random() < 0.3 else "epoch"]
        until = newest + epochs
        while run.poll() is None and newest_of(out) < until:
            time.sleep(0.002)
        deadline = time.time() + more
        while run.poll() is None and time.time() < deadline:
            time.sleep(0.002)
        if run.poll() is not None:
            resumed_behind(finish(run), newest)
            break
        said = kill(run)
        done += 1
        if newest and "Going on from" in said:
            resumed_behind(said, newest)
        before, newest = newest, newest_of(out)
        if newest < before:
            raise Failure(f"Kill {done}: the newest snapshot is of epoch {newest}, after one of epoch {before}.")
        if newest:
            require_whole(out / f"snapshot_epoch_{newest}")
    else:
        resumed_behind(finish(begin()), newest)
    compare(out, whole, options.epoch)
    if left := [*out.glob("*.part"), *out.glob("*.old")]:
        raise Failure(f"Folders of kills are left: {left}")
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--epoch", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=KIT / "build")
    parser.add_argument("flags", nargs="*", help="of the training, behind --: -- --sharded")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="odori_kill_and_resume_") as scratch:
        scratch = pathlib.Path(scratch)
        options.data, whole = scratch / "data", scratch / "whole"
        # Shards of which an epoch ends within a batch.
        subprocess.run([options.build / "bin/odori_make_synthetic", "--out", options.data, "--train", "310", "--test", "10"],
                       check=True, stdout=subprocess.DEVNULL)
        began = time.time()
        finish(start(options, options.ranks, whole, "--keep", 2))
        if epochs_of(whole) != [options.epoch - 1, options.epoch]:
            raise Failure(f"Of a training with --keep 2 these snapshots stayed: {epochs_of(whole)}")
        took = json.loads((whole / "log").read_text())[-1]["elapsed_time"]
        pace = {"epoch": took / options.epoch, "start": time.time() - began - took}
        print(f"{options.epoch} epochs of {pace['epoch']:.2f} s, {pace['start']:.1f} s to start and end", flush=True)

        kills, trainings = 0, 0
        while kills < options.kills:
            kills += train_killed(options, scratch / "killed", whole, pace, options.kills - kills)
            trainings += 1
            print(f"{kills} kills in {trainings} trainings, {time.time() - began:.0f} s", flush=True)
        ranks, last_but_one = options.ranks + 1, options.epoch - 1
        said = finish(start(options, ranks, scratch / "more", "--resume", whole / f"snapshot_epoch_{last_but_one}"))
        resumed_behind(said, last_but_one)
        if f"{options.ranks} ranks wrote this snapshot, and this training has {ranks}" not in said:
            raise Failure(f"On {ranks} ranks a training didn't say what can't be the same:\n{said}")
    print(f"{kills} kills in {trainings} trainings of {options.ranks} ranks: nothing past a snapshot was lost, and each ended "
          "with the weights, velocities and states of ranks of the one that nobody killed.")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(failure)
        sys.exit(1)
