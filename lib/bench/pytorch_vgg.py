# SPDX-License-Identifier: Apache-2.0
"""The kit's VGG, layer for layer, in PyTorch: what the kit's speed and accuracy are measured against.

Same architecture (lib/model/vgg.cpp), initial weights (LeCun normal), batch normalisation (decay 0.9, eps 2e-5) and
optimizer (momentum 0.9, weight decay 5e-4 on everything). Needs PyTorch (Debian: python3-torch).
"""
import math
import pathlib

import numpy as np
import torch
from torch import nn

MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)  # as lib/data/cifar.cpp


def vgg(n_classes=10, image_size=32):
    """N x 3 x S x S -> N x n_classes logits; S is a multiple of 32."""
    layers = []

    def block(inputs, outputs, *after):
        layers.extend([nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
                       nn.BatchNorm2d(outputs, eps=2e-5, momentum=0.1), nn.ReLU(inplace=True), *after])

    pool = lambda: nn.MaxPool2d(2)
    block(3, 64, nn.Dropout(0.3)), block(64, 64, pool())
    block(64, 128, nn.Dropout(0.4)), block(128, 128, pool())
    block(128, 256, nn.Dropout(0.4)), block(256, 256, nn.Dropout(0.4)), block(256, 256, pool())
    block(256, 512, nn.Dropout(0.4)), block(512, 512, nn.Dropout(0.4)), block(512, 512, pool())
    block(512, 512, nn.Dropout(0.4)), block(512, 512, nn.Dropout(0.4)), block(512, 512, pool(), nn.Dropout(0.5))
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(512 * (image_size // 32)**2, 512, bias=False), nn.BatchNorm1d(512, eps=2e-5),
                          nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(512, n_classes, bias=False))
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):  # LeCun normal: deviation sqrt(1 / inputs of one output)
            nn.init.normal_(layer.weight, std=math.sqrt(1.0 / layer.weight[0].numel()))
    return model


def momentum_sgd(model, rate=0.05, **options):
    """Chainer's MomentumSGD with WeightDecay(5e-4): the same rule as torch's at a constant learning rate."""
    return torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=5e-4, **options)


def load_cifar10(folder, fraction=1.0):
    """((images, labels) of training, of test): float32 N x 3 x 32 x 32, normalised; int64 N; the first part of each."""
    def read(names):
        records = np.concatenate([np.fromfile(pathlib.Path(folder, name), np.uint8).reshape(-1, 3073)
                                  for name in names])
        records = records[:int(len(records) * fraction)]
        images = torch.from_numpy(records[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255)
        images = (images - torch.tensor(MEAN).view(1, 3, 1, 1)) / torch.tensor(DEVIATION).view(1, 3, 1, 1)
        return images, torch.from_numpy(records[:, 0].astype(np.int64))

    return read([f"data_batch_{i}.bin" for i in range(1, 6)]), read(["test_batch.bin"])
