#!/usr/bin/env python3
"""Trains as task 4 does, with several seeds, and stores the accuracies by batch that its picture shows beside a learner's.
    solutions/04_large_batch/sweep.py [--seeds N] [--dataset NAME] [--fraction F] [--learnrate R] [--store FILE]
Twelve trainings a seed, about a minute on a core that is free. Seeds that are stored with the same flags aren't trained again, so
that it can be stopped. Seconds aren't stored: the machine may be busy."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

KIT = pathlib.Path(__file__).resolve().parents[2]


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "values": values}


def add(stored, result):
    """What came of one more seed."""
    stored["seeds"] += 1
    stored.update(machine=result["machine"], date=result["date"])
    for trial in result["trials"]:
        key = {"schedule": trial["schedule"], "batch": trial["batch"]}
        point = next((one for one in stored["points"] if key.items() <= one.items()), None)
        if point is None:
            point = {**key, "by_epoch": []}
            stored["points"].append(point)
        point["by_epoch"].append([epoch["held_out_accuracy"] for epoch in trial["epochs"]])
        point["accuracy"] = spread([epochs[-1] for epochs in point["by_epoch"]])


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--seeds", type=int, default=5)
    flags.add_argument("--dataset", default="synthetic")
    flags.add_argument("--fraction", default="0.4", help="of the set")
    flags.add_argument("--learnrate", default="0.0025", help="for batches of 16 images")
    flags.add_argument("--epoch", default="10")
    flags.add_argument("--accumulate", default="64", help="the largest batch is so many times 16 images")
    flags.add_argument("--store", type=pathlib.Path, default=pathlib.Path(__file__).with_name("measured.json"))
    said = flags.parse_args()
    command = ["./odori", "run", "large_batch", "--solution", "--ranks", "1", "--device", "cpu", "--model", "tiny", "--batchsize", "16",
               "--accumulate", said.accumulate, "--learnrate", said.learnrate, "--epoch", said.epoch, "--dataset", said.dataset,
               "--fraction", said.fraction]
    stored = {"command": " ".join(command), "seeds": 0, "points": []}
    if said.store.exists():
        before = json.loads(said.store.read_text())
        if before["command"] == stored["command"]:
            stored = before
    while stored["seeds"] < said.seeds:
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([*command, "--seed", str(stored["seeds"]), "--out", out], cwd=KIT, check=True,
                           env={**os.environ, "ODORI_READY": "1"})
            add(stored, json.loads(pathlib.Path(out, "trials.json").read_text()))
        stored["about"] = (f"network tiny, {said.epoch} epochs of {said.fraction} of the set {pathlib.Path(said.dataset).name}, rate "
                           f"{said.learnrate} for 16 images; medians, by the number of trainings (seeds): {stored['seeds']}.")
        said.store.write_text(json.dumps(stored, indent=1) + "\n")
    for point in stored["points"]:
        accuracy = point["accuracy"]
        print(f"{point['batch']:5}  {point['schedule']:8} {100 * accuracy['median']:5.1f} %  ({100 * accuracy['min']:.1f} .. "
              f"{100 * accuracy['max']:.1f})")
    print(f"{stored['seeds']} seeds are stored in {said.store}.")


if __name__ == "__main__":
    main()
