#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The race's recipe in PyTorch, in double precision on a CPU: what race_test compares the C++ program with.

usage: reference.py OUT.json       (made with PyTorch 1.13.1 and Python 3.11, Debian 12; takes half a minute)

Trains the size "tiny" for two epochs on 512 images that a formula makes, and writes the initial parameters, which image
each step has and how it is moved and turned, each step's loss and accuracy, and what the trained network makes of the
first images, as they are and of six views. Written from the paper and the network's description (K. Jordan, 2024, "94% on
CIFAR-10 in 3.29 seconds on a single GPU", arXiv 2404.00498) with PyTorch's own layers, loss and optimizer.
"""
import json
import math
import sys

import torch
from torch import nn
from torch.nn import functional

IMAGES, BATCH, EPOCHS, TESTED = 512, 64, 2, 32
WIDTHS = (8, 8, 16)
RATE, DECAY, MOMENTUM, BIAS_FACTOR = 11.5, 0.0153, 0.85, 64.0
WHITENING_BIAS_EPOCHS = 1  # so that the freezing is seen within two epochs
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def made_images():
    """512 x 3 x 32 x 32 bytes: noise, and stripes that depend on the class i % 10. As race_test.cpp makes them."""
    state, images = 1, torch.empty(IMAGES, 3, 32, 32, dtype=torch.float64)
    for i in range(IMAGES):
        label, pixels = i % 10, []
        for c in range(3):
            for y in range(32):
                for x in range(32):
                    state = (state * 1664525 + 1013904223) % 2**32
                    stripe = 100 if (x * (label + 1) + y * (c + 1)) // 8 % 2 else 0
                    pixels.append(stripe + (state >> 24) // 2)
        images[i] = torch.tensor(pixels, dtype=torch.float64).view(3, 32, 32)
    return images, torch.arange(IMAGES) % 10


def moved(images, dy, dx, flip):
    """Pixel (y, x) is pixel (y + dy, x + dx) of the reflected image, then columns are mirrored if `flip`."""
    padded = functional.pad(images, (2, 2, 2, 2), mode="reflect")
    part = padded[..., 2 + dy : 34 + dy, 2 + dx : 34 + dx]
    return part.flip(-1) if flip else part


def block(inputs, outputs):
    def normalization():
        layer = nn.BatchNorm2d(outputs, eps=1e-12, momentum=0.4)
        layer.weight.requires_grad = False
        return layer

    return [
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.MaxPool2d(2), normalization(), nn.GELU(),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), normalization(), nn.GELU(),
    ]


class Ninth(nn.Module):
    def forward(self, x):
        return x / 9


def made_network(images):
    net = nn.Sequential(
        nn.Conv2d(3, 24, 2), nn.GELU(), *block(24, WIDTHS[0]), *block(WIDTHS[0], WIDTHS[1]),
        *block(WIDTHS[1], WIDTHS[2]), nn.MaxPool2d(3), nn.Flatten(), nn.Linear(WIDTHS[2], 10, bias=False), Ninth(),
    )
    # Values of few digits, which the data file then has exactly.
    with torch.no_grad():
        for layer in net:
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                layer.weight.copy_((layer.weight * 1e4).round() / 1e4)
            if isinstance(layer, nn.Conv2d) and layer.kernel_size == (3, 3):
                nn.init.dirac_(layer.weight[: layer.in_channels])
        patches = functional.unfold(images, 2).transpose(1, 2).reshape(-1, 12)
        eigenvalues, vectors = torch.linalg.eigh(patches.T @ patches / len(patches))
        directions = (vectors / torch.sqrt(eigenvalues + 5e-4)).T.flip(0)
        directions = (directions * 1e7).round() / 1e7
        net[0].weight.copy_(torch.cat([directions, -directions]).view(24, 3, 2, 2))
        net[0].bias.zero_()
    net[0].weight.requires_grad = False
    return net


def parameters_in_order(net):
    """In the order of Classifier::parameters(); batch normalisation's scale too, all 1."""
    return [p.detach() for layer in net for p in layer.parameters()]


def main(path):
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    images, labels = made_images()
    normalised = (images / 255 - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(DEVIATION).view(3, 1, 1)
    net = made_network(normalised)
    result = {"parameters": [p.flatten().tolist() for p in parameters_in_order(net)], "steps": []}

    scale = 1024 * (1 + 1 / (1 - MOMENTUM))
    rate, decay = RATE / scale, DECAY * BATCH / scale
    biases = [layer.bias for layer in net if isinstance(layer, nn.BatchNorm2d)]
    others = [p for p in net.parameters() if p.requires_grad and not any(p is b for b in biases)]
    groups = [
        {"params": biases, "lr": rate * BIAS_FACTOR, "weight_decay": decay / (rate * BIAS_FACTOR)},
        {"params": others, "lr": rate, "weight_decay": decay / rate},
    ]
    optimizer = torch.optim.SGD(groups, lr=rate, momentum=MOMENTUM, nesterov=True)
    steps = IMAGES // BATCH * EPOCHS
    rising = int(steps * 0.23)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda t: 0.2 + 0.8 * t / rising if t < rising else 1 - 0.93 * (t - rising) / (steps - rising),
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.2, reduction="sum")

    def averaged():
        return [v for v in net.state_dict().values() if v.dtype == torch.float64]

    average = [v.clone() for v in averaged()]

    def look_ahead(weight):
        for kept, value in zip(average, averaged()):
            kept.mul_(weight).add_(value, alpha=1 - weight)
            value.copy_(kept)

    for t in range(steps):
        if t % (IMAGES // BATCH) == 0:
            order = torch.randperm(IMAGES).tolist()
        chosen = order[t % (IMAGES // BATCH) * BATCH :][:BATCH]
        moves = [(*torch.randint(-2, 3, (2,)).tolist(), torch.randint(0, 2, (1,)).item()) for _ in chosen]
        inputs = torch.stack([moved(normalised[i : i + 1], *move)[0] for i, move in zip(chosen, moves)])
        if t // (IMAGES // BATCH) >= WHITENING_BIAS_EPOCHS:
            net[0].bias.requires_grad = False
        net.train()
        outputs = net(inputs)
        optimizer.zero_grad(set_to_none=True)
        loss_of(outputs, labels[chosen]).backward()
        optimizer.step()
        schedule.step()
        plain = functional.cross_entropy(outputs, labels[chosen]).item()
        hits = (outputs.argmax(1) == labels[chosen]).sum().item()
        examples = [[i, *move] for i, move in zip(chosen, moves)]
        result["steps"].append({"examples": examples, "loss": round(plain, 8), "correct": hits})
        if (t + 1) % 5 == 0:
            look_ahead(0.95**5 * ((t + 1) / steps) ** 3)
        if t + 1 == steps:
            look_ahead(1.0)
        assert math.isfinite(plain)

    net.eval()
    with torch.no_grad():
        def logits(dy, dx, flip):
            return net(moved(normalised[:TESTED], dy, dx, flip))

        def both(dy, dx):
            return (logits(dy, dx, False) + logits(dy, dx, True)) / 2

        views = both(0, 0) / 2 + (both(-1, -1) + both(1, 1)) / 4
        rounded = lambda values: [round(v, 7) for v in values.flatten().tolist()]  # noqa: E731
        result["logits"], result["view_logits"] = rounded(logits(0, 0, False)), rounded(views)
        result["trained"] = [[float(f"{v:.6g}") for v in p.flatten().tolist()] for p in parameters_in_order(net)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
