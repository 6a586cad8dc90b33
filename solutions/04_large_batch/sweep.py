#!/usr/bin/env python3
"""Trains as task 4 does, with several seeds, and stores the accuracies by batch that pictures show, a learner's among them.
    solutions/04_large_batch/sweep.py [--seeds N] [--batches N,N,...] [--dataset NAME] [--fraction F] [--learnrate R] [--store FILE]
The batch of an update is computed at once here: on paper the same as adding up small ones, and sooner done. Some ten trainings a
seed, less than a minute on a core that is free. What is stored after each seed isn't trained again with the same flags, so that it
can be stopped. Seconds aren't stored: the machine may be busy."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

KIT = pathlib.Path(__file__).resolve().parents[2]
SCHEDULES = "fixed", "scaled", "warm_up"


def train(command, seed, batch, schedule):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([*command, "--batchsize", batch, "--only", schedule, "--seed", str(seed), "--out", out], cwd=KIT, check=True,
                       env={**os.environ, "ODORI_READY": "1"}, stdout=subprocess.DEVNULL)
        return json.loads(pathlib.Path(out, "trials.json").read_text())


def add(stored, schedule, result):
    """What came of one more training."""
    stored.update(machine=result["machine"], date=result["date"])
    trial = result["trials"][0]
    key = {"schedule": schedule, "batch": trial["batch"]}
    point = next((one for one in stored["points"] if key.items() <= one.items()), None)
    if point is None:
        # Images a second, times seconds, over images of an update: whole but for rounding.
        updates = trial["images_per_second"] * trial["epochs"][-1]["seconds"] / trial["batch"]
        point = {**key, "updates": round(updates), "by_epoch": []}
        stored["points"].append(point)
    point["by_epoch"].append([epoch["held_out_accuracy"] for epoch in trial["epochs"]])
    values = [epochs[-1] for epochs in point["by_epoch"]]
    point["accuracy"] = {"median": statistics.median(values), "min": min(values), "max": max(values), "values": values}


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--seeds", type=int, default=5)
    flags.add_argument("--dataset", default="synthetic")
    flags.add_argument("--fraction", default="0.4", help="of the set")
    flags.add_argument("--batches", default="16,64,256,1024", help="images of an update; --learnrate is for the first")
    flags.add_argument("--learnrate", default="0.0025")
    flags.add_argument("--epoch", default="10")
    flags.add_argument("--jobs", type=int, default=1, help="trainings at the same time")
    flags.add_argument("--store", type=pathlib.Path, default=pathlib.Path(__file__).with_name("measured.json"))
    said = flags.parse_args()
    base, *larger = said.batches.split(",")
    command = ["./odori", "run", "large_batch", "--solution", "--ranks", "1", "--device", "cpu", "--model", "tiny", "--accumulate", "1",
               "--base-batch", base, "--learnrate", said.learnrate, "--epoch", said.epoch, "--dataset", said.dataset,
               "--fraction", said.fraction]
    chosen = ((name, value) for name, value in vars(said).items() if name not in ("jobs", "store", "seeds"))
    stored = {"command": "solutions/04_large_batch/sweep.py" + "".join(f" --{name} {value}" for name, value in chosen), "seeds": 0,
              "points": []}
    if said.store.exists():
        before = json.loads(said.store.read_text())
        if before["command"] == stored["command"]:
            stored = before
    with concurrent.futures.ThreadPoolExecutor(said.jobs) as jobs:
        # The first batch has the factor 1: there the three schedules are one.
        kinds = [(base, SCHEDULES), *((batch, [schedule]) for batch in larger for schedule in SCHEDULES)]
        waiting = {seed: [(schedules, jobs.submit(train, command, seed, batch, schedules[0])) for batch, schedules in kinds]
                   for seed in range(stored["seeds"], said.seeds)}
        for seed, trainings in waiting.items():
            for schedules, training in trainings:
                for schedule in schedules:
                    add(stored, schedule, training.result())
            stored["seeds"] = seed + 1
            stored["about"] = (f"network tiny, {said.epoch} epochs of {said.fraction} of the set {pathlib.Path(said.dataset).name}, "
                               f"rate {said.learnrate} for {base} images; medians, by the number of trainings (seeds): {seed + 1}.")
            said.store.write_text(json.dumps(stored, indent=1) + "\n")
    for point in stored["points"]:
        accuracy = point["accuracy"]
        print(f"{point['batch']:5}  {point['schedule']:8} {100 * accuracy['median']:5.1f} %  ({100 * accuracy['min']:.1f} .. "
              f"{100 * accuracy['max']:.1f})")
    print(f"{stored['seeds']} seeds are stored in {said.store}.")


if __name__ == "__main__":
    main()
