#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured: iterations of 1, 2 and 4 ranks on this machine, by communicator and link.

    lib/bench/validate_prediction.py [--model mid] [--batchsize 64] [--communicators flat,ring,tree] [--rounds 5]
                                     [--links none,1gbit,100mbit] [--ranks 1,2,4]

Measured once a round: iterations of one rank with a fourth of the batch and with all of it, from which
`./odori predict --timings` draws its line, and the all-reduce of 2 ranks by ring, which tells what shared memory brings a
second. The rest is predicted, then measured in the same rounds: all ranks train on random images, and wait for each other.
Over a link (ODORI_LINK) each rank is a node of its own. Ranks that outnumber the cores share them, for computing
(--devices-per-core) as for what they copy within the machine. Medians of the rounds.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile

KIT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.join(os.environ.get("ODORI_BUILD", os.path.join(KIT, "build")), "bin")


def ranks(n, *command, link="none"):
    """What n ranks print, each a node over a link."""
    start = [os.path.join(KIT, "lib/comm/mpirun.sh"), "mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(n)]
    if os.geteuid() == 0:
        start.append("--allow-run-as-root")
    if n > os.cpu_count():
        start += ["--mca", "mpi_yield_when_idle", "1"]
    environment = {name: value for name, value in os.environ.items() if name not in ("ODORI_NODES", "ODORI_LINK")}
    if link != "none" and n > 1:
        environment |= {"ODORI_NODES": ",".join(map(str, range(n))), "ODORI_LINK": link}
    program = [os.path.join(BIN, command[0]), *map(str, command[1:])]
    return subprocess.run(start + program, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def iteration(args, n, batch, communicator, link="none"):
    """Seconds of an iteration of n ranks."""
    rate = float(ranks(n, "bench_scaling", "--rank-of", communicator, "--model", args.model, "--batchsize", batch,
                       "--iterations", args.iterations, "--threads", 1, link=link).split()[-1])
    return n * batch / rate


def bandwidth(args):
    """Bytes a second: a ring of 2 ranks takes bytes / bandwidth."""
    said = ranks(2, "bench_allreduce", "--device", "cpu", "--communicator", "ring", "--model", args.model, "--rounds", 1,
                 "--iterations", args.iterations)
    megabytes, milliseconds = re.search(r"ranks, ([\d.]+) MB: ([\d.]+) ms", said).groups()
    return float(megabytes) * 1e6 / (float(milliseconds) / 1e3)


def predicted(args, n, timings, bytes_a_second, communicator, link):
    share = max(1, -(-n // os.cpu_count()))
    within = f"{bytes_a_second / share * 8 / 1e9:.6f}gbit,5us"
    cluster = (["--nodes", "1", "--gpus-per-node", str(n)] if link == "none" else
               ["--nodes", str(n), "--gpus-per-node", "1", "--network", link])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "forecast.json")
        subprocess.run([os.path.join(BIN, "odori_predict"), "--model", args.model, "--batchsize", str(args.batchsize),
                        "--timings", timings, *cluster, "--within", within, "--communicator", communicator,
                        "--devices-per-core", str(share), "--json", path], check=True, stdout=subprocess.DEVNULL)
        with open(path) as file:
            return json.load(file)["scaling"][-1]["weak"]["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mid", choices=["vgg", "mid"], help="the network")
    parser.add_argument("--batchsize", type=int, default=64, help="images a rank and iteration")
    parser.add_argument("--communicators", default="flat,ring,tree")
    parser.add_argument("--links", default="none,1gbit,100mbit", help="as ODORI_LINK has them; none: one node")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=20, help="of a measurement")
    args = parser.parse_args()
    points = [(1, "flat", "none")] + [(n, name, link) for link in args.links.split(",")
                                      for n in map(int, args.ranks.split(",")) if n > 1
                                      for name in args.communicators.split(",")]
    small, seen, speeds = [], {point: [] for point in points}, []
    for _ in range(args.rounds):
        small.append(iteration(args, 1, args.batchsize // 4, "flat"))
        speeds.append(bandwidth(args))
        for n, name, link in points:
            seen[n, name, link].append(iteration(args, n, args.batchsize, name, link))
    median = statistics.median
    fourth, whole = args.batchsize // 4, median(seen[points[0]])
    # More than in proportion is noise, and an iteration without images would take less than no time.
    timings = f"{fourth}:{max(median(small), 1.0001 * whole * fourth / args.batchsize)},{args.batchsize}:{whole}"
    memory, cores = median(speeds), os.cpu_count()
    print(f"{args.model}, {args.batchsize} images a rank, {cores} cores, {args.rounds} rounds. One rank: {timings}. "
          f"Shared memory: {memory / 1e9:.2f} GB/s.")
    print("ranks  link      communicator     predicted ms  measured ms (least .. greatest)   error")
    for n, name, link in points:
        times = [1e3 * t for t in seen[n, name, link]]
        guess = 1e3 * predicted(args, n, timings, memory, name, link)
        note = f"  {n} ranks share {cores} cores" if n > cores else ""
        print(f"{n:5}  {link:8}  {name:15}  {guess:12.2f}  {median(times):11.2f} ({min(times):.2f} .. {max(times):.2f})  "
              f"{100 * (guess / median(times) - 1):+6.1f} %{note}")


if __name__ == "__main__":
    main()
