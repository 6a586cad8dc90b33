#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The kit's VGG beside PyTorch's on real CIFAR-10: the same curve, within the spread of the seeds?

usage: compare_accuracy.py CIFAR10_FOLDER [--seeds 0 1 2] [--epoch 3] [--fraction 0.2] [--reuse FOLDER]
       compare_accuracy.py CIFAR10_FOLDER --device cuda --epoch 30 --fraction 1

Trains both with the same architecture, initial distribution and hyperparameters, once a seed (three epochs of a fifth of
the data: about an hour on two cores), and prints one line an epoch: median (least .. greatest) of the seeds. With
--reuse, runs whose log is in that folder already are not repeated. On GPUs PyTorch trains in fp32 as it is set up, and
the kit in --precision. Needs the built kit and PyTorch (Debian: python3-torch).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KIT = HERE.parent.parent / "build/bin/solutions/train_cifar_single_gpu"
COLUMNS = ["main/loss", "main/accuracy", "validation/main/loss", "validation/main/accuracy"]


def pytorch_log(args, seed, keep):
    path = keep / f"pytorch_{seed}.jsonl"
    if not path.exists():
        lines = subprocess.run([sys.executable, HERE / "accuracy_pytorch.py", args.folder, f"--seed={seed}",
                                f"--epoch={args.epoch}", f"--fraction={args.fraction}", f"--device={args.device}",
                                f"--batchsize={args.batchsize}"],
                               check=True, capture_output=True, text=True).stdout
        path.write_text(lines)
    return [json.loads(line) for line in path.read_text().splitlines()]


def kit_log(args, seed, keep):
    out = keep / f"kit_{seed}"
    if not (out / "result.json").exists():
        device = ["--device=cpu", "--threads-per-device=2"]
        if args.device == "cuda":
            device = ["--device=cuda", f"--precision={args.precision}"]
        subprocess.run([KIT, "--dataset", args.folder, *device, "--model=vgg", f"--batchsize={args.batchsize}",
                        "--learnrate=0.05", f"--epoch={args.epoch}", f"--fraction={args.fraction}",
                        f"--seed={seed}", "--no-snapshot", "--out", out], check=True)
    return json.loads((out / "log").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--epoch", type=int, default=3)
    parser.add_argument("--fraction", type=float, default=0.2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="tf32")
    parser.add_argument("--batchsize", type=int, default=64)
    parser.add_argument("--reuse", type=pathlib.Path, default=pathlib.Path("out/accuracy"))
    args = parser.parse_args()
    args.reuse.mkdir(parents=True, exist_ok=True)

    logs = {name: [log(args, seed, args.reuse) for seed in args.seeds]
            for name, log in (("PyTorch", pytorch_log), ("the kit", kit_log))}
    print(f"| epoch | | {' | '.join(COLUMNS)} |\n|---|---|" + "---|" * len(COLUMNS))
    for epoch in range(args.epoch):
        for name, runs in logs.items():
            cells = []
            for column in COLUMNS:
                values = [run[epoch][column] for run in runs]
                cells.append(f"{statistics.median(values):.3f} ({min(values):.3f} .. {max(values):.3f})")
            print(f"| {epoch + 1} | {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
