#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kit's VGG beside PyTorch's on one GPU: rounds of both next to each other, so that they meet the same clocks.

usage: compare_pytorch_gpu.py [--settings 32x128 32x512 256x32] [--precisions bf16 tf32 fp32] [--rivals eager graph compile]
                              [--rounds 5] [--seconds 1] [--json FILE]

A setting is IMAGE_SIZE x BATCH. PyTorch (2.3 or later) trains channels-last under bf16 autocast, with its fused SGD: eager;
graph: the same step recorded as a CUDA graph; compile: torch.compile, mode reduce-overhead. The kit's program runs once a setting and precision, since measuring which
algorithms are fastest takes longer than a round; half of PyTorch's rounds come before it, half after it. Prints images/s,
median (least .. greatest) of the rounds; the kit's ratio to each rival is that of the medians, of the kit's bf16. The peak is that of a large bf16 matrix product, measured here. Exit code 20 where there
is no GPU or no PyTorch that can use it; 1 where the kit's program fails.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BENCH = pathlib.Path(os.environ.get("ODORI_BUILD", HERE.parent.parent / "build")) / "bin/bench_vgg"


def missing(what):
    print(f"compare_pytorch_gpu.py: {what}", file=sys.stderr)
    sys.exit(20)


try:
    import torch
    from torch.nn import functional

    import pytorch_vgg
except ImportError as error:
    missing(f"PyTorch is needed: {error}. Name a Python that has it: /path/to/python3 {sys.argv[0]}")


class Rival:
    """PyTorch's training step, in one of its ways."""

    def __init__(self, way, size, batch):
        torch.manual_seed(0)
        self.batch = batch
        self.model = pytorch_vgg.vgg(image_size=size).cuda().to(memory_format=torch.channels_last).train()
        self.optimizer = pytorch_vgg.momentum_sgd(self.model, fused=True)
        self.images = torch.randn(batch, 3, size, size, device="cuda").to(memory_format=torch.channels_last)
        self.labels = torch.randint(10, (batch,), device="cuda")
        self.forward = torch.compile(self.model, mode="reduce-overhead") if way == "compile" else self.model
        self.step = self.train_once
        self.repeat(3)
        if way == "graph":
            self.record()

    def train_once(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = functional.cross_entropy(self.forward(self.images), self.labels)
        loss.backward()
        self.optimizer.step()

    def record(self):
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self.repeat(3)
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.train_once()
        self.step = graph.replay

    def repeat(self, times):
        for _ in range(times):
            self.step()
        torch.cuda.synchronize()

    def rate(self, seconds):
        begin = time.perf_counter()
        self.repeat(3)
        iterations = max(3, int(3 * seconds / (time.perf_counter() - begin)))
        begin = time.perf_counter()
        self.repeat(iterations)
        return self.batch * iterations / (time.perf_counter() - begin)


def kit_rates(size, batch, precision, rounds, seconds, guess, peak):
    """Images/s: median, least, greatest; and TFLOP/s. `guess`: images/s, to choose the iterations of a round."""
    iterations = max(3, int(seconds * guess / batch))
    output = subprocess.run([BENCH, "--device=cuda", f"--precision={precision}", f"--image-size={size}",
                             f"--batchsize={batch}", f"--rounds={rounds}", f"--iterations={iterations}",
                             f"--peak-tflops={peak}", "--autotune"], capture_output=True, text=True)
    found = re.search(r"([0-9.]+) images/s \(.*?; ([0-9.]+) \.\. ([0-9.]+)\), ([0-9.]+) TFLOP/s", output.stdout)
    if output.returncode or not found:
        sys.exit(f"compare_pytorch_gpu.py: {BENCH} ended with exit code {output.returncode}: {output.stdout}{output.stderr}")
    return [float(group) for group in found.groups()]


def matrix_peak():
    """TFLOP/s of an 8192 x 8192 x 8192 bf16 matrix product on random numbers: median of ten."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    times = []
    for i in range(13):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        a @ b
        end.record()
        end.synchronize()
        if i >= 3:
            times.append(begin.elapsed_time(end) / 1e3)
    return 2 * 8192**3 / statistics.median(times) / 1e12


def compare(setting, args, peak):
    size, batch = (int(number) for number in setting.split("x"))
    rivals = {way: Rival(way, size, batch) for way in args.rivals}
    rates = {f"PyTorch {way}": [] for way in rivals}

    def time_rivals(rounds):
        for _ in range(rounds):
            for way, rival in rivals.items():
                rates[f"PyTorch {way}"].append(rival.rate(args.seconds))

    time_rivals((args.rounds + 1) // 2)
    guess = max((values[-1] for values in rates.values()), default=batch * 10)
    tflops = 0.0
    for precision in args.precisions:
        median, least, greatest, tflops_now = kit_rates(size, batch, precision, args.rounds, args.seconds, guess, peak)
        rates[f"kit {precision}"] = [least, median, greatest]
        if precision == "bf16":
            tflops = tflops_now
    time_rivals(args.rounds // 2)
    print(f"VGG {size}x{size}, batch {batch}")
    for name, values in rates.items():
        print(f"  {name:16} {statistics.median(values):10.0f} images/s ({min(values):.0f} .. {max(values):.0f})")
    ratios = {}
    for way in rivals if "bf16" in args.precisions else ():
        ratios[way] = statistics.median(rates["kit bf16"]) / statistics.median(rates[f"PyTorch {way}"])
        print(f"  kit bf16 / PyTorch {way}: {ratios[way]:.2f}")
    print(f"  kit bf16: {tflops:.1f} TFLOP/s, {100 * tflops / peak:.1f} % of a matrix product's {peak:.0f}", flush=True)
    return {"setting": setting, "images_per_second": rates, "ratios": ratios, "tflops": tflops}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", nargs="+", default=["32x128", "32x512", "256x32"])
    parser.add_argument("--precisions", nargs="+", default=["bf16", "tf32", "fp32"])
    parser.add_argument("--rivals", nargs="*", choices=["eager", "graph", "compile"], default=["eager", "graph", "compile"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        missing("there is no GPU that this PyTorch can use.")
    torch.backends.cudnn.benchmark = True
    peak = matrix_peak()
    result = {"gpu": torch.cuda.get_device_name(), "pytorch": torch.__version__, "peak_tflops": peak, "settings": []}
    print(f"{result['gpu']}, PyTorch {result['pytorch']}")
    for setting in args.settings:
        result["settings"].append(compare(setting, args, peak))
        if args.json:
            args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
