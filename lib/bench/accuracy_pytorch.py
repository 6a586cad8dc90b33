#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Train the VGG in PyTorch and print one JSON line an epoch: what compare_accuracy.py sets the kit's log beside.

usage: accuracy_pytorch.py CIFAR10_FOLDER [--seed S] [--epoch E] [--batchsize B] [--fraction F] [--threads T]
                           [--device cpu|cuda]
"""
import argparse
import json

import torch
from torch.nn import functional

import pytorch_vgg


def evaluate(model, images, labels, batch):
    """Exact loss and accuracy: summed over the samples."""
    model.eval()
    loss = correct = 0.0
    with torch.no_grad():
        for begin in range(0, len(images), batch):
            logits, wanted = model(images[begin:begin + batch]), labels[begin:begin + batch]
            loss += functional.cross_entropy(logits, wanted, reduction="sum").item()
            correct += (logits.argmax(1) == wanted).sum().item()
    return loss / len(images), correct / len(images)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epoch", type=int, default=3)
    parser.add_argument("--batchsize", type=int, default=64)
    parser.add_argument("--learnrate", type=float, default=0.05)
    parser.add_argument("--fraction", type=float, default=0.2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    (images, labels), (test_images, test_labels) = [[tensor.to(args.device) for tensor in part]
                                                    for part in pytorch_vgg.load_cifar10(args.folder, args.fraction)]
    model = pytorch_vgg.vgg().to(args.device)
    optimizer = pytorch_vgg.momentum_sgd(model, args.learnrate)

    # As SerialIterator: every batch is full, one that reaches the end is completed from the next epoch's order.
    order, position = torch.randperm(len(images)), 0
    for epoch in range(1, args.epoch + 1):
        model.train()
        loss_sum = correct = seen = 0
        while position < len(images):
            chosen = order[position:position + args.batchsize]
            position += args.batchsize
            if position >= len(images):
                order, position = torch.randperm(len(images)), position - len(images)
                chosen, done = torch.cat([chosen, order[:position]]), True
            else:
                done = False
            logits = model(images[chosen])
            loss = functional.cross_entropy(logits, labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * len(chosen)
            correct += (logits.argmax(1) == labels[chosen]).sum().item()
            seen += len(chosen)
            if done:
                break
        validation = evaluate(model, test_images, test_labels, args.batchsize)
        print(json.dumps({"epoch": epoch, "main/loss": loss_sum / seen, "main/accuracy": correct / seen,
                          "validation/main/loss": validation[0], "validation/main/accuracy": validation[1]}), flush=True)


if __name__ == "__main__":
    main()
