#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes what one training step of the VGG gives, with PyTorch in double precision: backend_vgg_golden.json.

    /usr/bin/python3 lib/tests/make_vgg_golden.py > lib/tests/backend_vgg_golden.json      (Debian: python3-torch; a minute)

Images and weights come from a formula of integers that backend_vgg_test.cpp has as well, and dropout's masks from the
rules of random_rules.h, written anew here. Of each gradient the file holds the norm, and the product with a vector of
signs of the same formula, which a transposed or shuffled gradient would change.
"""
import json
import math
import sys

import numpy
import torch

BATCH, SEED = 16, 7
WIDTHS = [(64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512)]
RATIOS = [0.3, 0.4, 0.4, 0.4, 0.4]


def hashed(stream, n):
    """n numbers of 32 bits; the finaliser of MurmurHash3 (A. Appleby, 2011) over position and stream."""
    x = numpy.arange(n, dtype=numpy.uint32) + numpy.uint32(stream * 0x9E3779B9 & 0xFFFFFFFF)
    x ^= x >> numpy.uint32(16)
    x *= numpy.uint32(0x85EBCA6B)
    x ^= x >> numpy.uint32(13)
    x *= numpy.uint32(0xC2B2AE35)
    return x ^ x >> numpy.uint32(16)


def uniform(stream, n):
    """n floats of [-1, 1)."""
    return (hashed(stream, n) >> numpy.uint32(8)).astype(numpy.float32) * numpy.float32(2**-23) - numpy.float32(1)


def philox(counter, key):
    """Philox4x32-10 (J. Salmon et al., 2011) on arrays of counters."""
    c = [numpy.asarray(word, dtype=numpy.uint64) for word in numpy.broadcast_arrays(*counter)]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    low, shift = numpy.uint64(0xFFFFFFFF), numpy.uint64(32)
    for _ in range(10):
        p0, p1 = numpy.uint64(0xD2511F53) * c[0], numpy.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> shift) ^ c[1] ^ numpy.uint64(k0), p1 & low, (p0 >> shift) ^ c[3] ^ numpy.uint64(k1), p0 & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return numpy.stack(c)


class Dropout(torch.nn.Module):
    def __init__(self, ratio, layer):
        super().__init__()
        self.ratio, self.layer = ratio, layer

    def forward(self, x):
        if not self.training:
            return x
        n, c, h, w = (list(x.shape) + [1, 1])[:4]
        place = numpy.indices((n, c, h, w))
        element = (((place[0] * ((c + 15) // 16) + place[1] // 16) * h + place[2]) * w + place[3]) * 16 + place[1] % 16
        words = philox((element // 128 * 16 + element % 16, 0, 0, 3 | self.layer << 8), SEED)
        part = element % 128 // 16
        word = numpy.take_along_axis(words, part[None] // 2, axis=0)[0]
        bits = word >> (part % 2 * 16).astype(numpy.uint64) & numpy.uint64(0xFFFF)
        kept = bits >= int(self.ratio * 65536 + 0.5)
        return x * torch.from_numpy(kept).reshape(x.shape) / (1 - self.ratio)


def vgg():
    layers, channels, dropouts = [], 3, 0

    def drop(ratio):
        nonlocal dropouts
        layers.append(Dropout(ratio, dropouts))
        dropouts += 1

    for widths, ratio in zip(WIDTHS, RATIOS):
        for i, width in enumerate(widths):
            layers += [torch.nn.Conv2d(channels, width, 3, padding=1, bias=False),
                       torch.nn.BatchNorm2d(width, eps=2e-5, momentum=0.1), torch.nn.ReLU()]
            channels = width
            if i + 1 < len(widths):
                drop(ratio)
        layers.append(torch.nn.MaxPool2d(2))
    drop(0.5)
    layers += [torch.nn.Flatten(), torch.nn.Linear(512, 512, bias=False),
               torch.nn.BatchNorm1d(512, eps=2e-5, momentum=0.1), torch.nn.ReLU()]
    drop(0.5)
    layers.append(torch.nn.Linear(512, 10, bias=False))
    return torch.nn.Sequential(*layers).double()


def summary(stream, tensor):
    values = tensor.detach().numpy().reshape(-1)
    signs = numpy.where(hashed(stream, values.size) & 1, 1.0, -1.0)
    return {"norm": float(numpy.linalg.norm(values)), "signed_sum": float(values @ signs)}


def main():
    model = vgg()
    parameters = list(model.parameters())
    for i, p in enumerate(parameters):
        values = uniform(i, p.numel())
        if p.dim() == 1:  # gammas around 1, betas around 0
            values = values * numpy.float32(0.25) + numpy.float32(i % 3 == 1)
        else:
            values = values * numpy.float32(math.sqrt(3 / p[0].numel()))
        p.data = torch.from_numpy(values.astype(numpy.float64)).reshape(p.shape)
    pixels = (hashed(1000, BATCH * 3072) >> numpy.uint32(24)).astype(numpy.float64).reshape(BATCH, 3, 32, 32)
    images = torch.from_numpy((pixels / 255 - 0.5) / 0.25)
    labels = torch.arange(BATCH) * 7 % 10

    logits = model(images)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    statistics = [b for name, b in model.named_buffers() if not name.endswith("num_batches_tracked")]
    golden = {
        "made_by": "make_vgg_golden.py, PyTorch " + torch.__version__,
        "loss": loss.item(),
        "correct": int((logits.argmax(1) == labels).sum()),
        "gradients": [summary(2000 + i, p.grad) for i, p in enumerate(parameters)],
        "statistics": [summary(3000 + i, s) for i, s in enumerate(statistics)],
    }
    model.eval()
    losses = torch.nn.functional.cross_entropy(model(images), labels, reduction="none")
    golden["evaluation_losses"] = losses.tolist()
    json.dump(golden, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
