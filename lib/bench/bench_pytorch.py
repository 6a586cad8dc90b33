#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How quick PyTorch trains the kit's VGG: the counterpart of bench_vgg. Needs Debian's python3-torch.

usage: bench_pytorch.py [--batchsize B] [--threads T] [--iterations I] [--rounds R]
"""
import argparse
import resource
import statistics
import time

import torch
from torch.nn import functional

import pytorch_vgg


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batchsize", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    model = pytorch_vgg.vgg().train()
    optimizer = pytorch_vgg.momentum_sgd(model)
    images = torch.randn(args.batchsize, 3, 32, 32)
    labels = torch.randint(10, (args.batchsize,))

    def iterate(times):
        for _ in range(times):
            optimizer.zero_grad()
            functional.cross_entropy(model(images), labels).backward()
            optimizer.step()

    iterate(2)
    rates = []
    for _ in range(args.rounds):
        begin = time.perf_counter()
        iterate(args.iterations)
        rates.append(args.batchsize * args.iterations / (time.perf_counter() - begin))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    print(f"PyTorch {torch.__version__}, batch {args.batchsize}, {args.threads} thread{'s'[:args.threads > 1]}: "
          f"{statistics.median(rates):.1f} images/s (median of {args.rounds} rounds of {args.iterations}; "
          f"{min(rates):.1f} .. {max(rates):.1f}), peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
