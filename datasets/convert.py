#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behind `./odori data convert FROM [--out DIR]`: images in a form that other frameworks use, rewritten in CIFAR's binary format.

FROM is one of
  a folder of torchvision (cifar-10-batches-py, cifar-100-python), or the one that contains it
  a .npz file with x_train, y_train, x_test, y_test (as Keras has them): [n, 32, 32, 3] bytes and [n] or [n, 1] labels
  a folder with train/CLASS/*.png and test/CLASS/*.png; classes are numbered in the order of their names
Needs Python alone, no NumPy. Exit codes: 0, 2 FROM is none of these, 1 something in it is wrong.
"""
import argparse
import ast
import os
import pathlib
import pickle
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib

SIDE, PIXELS = 32, 3 * 32 * 32


class Wrong(Exception):
    """A sentence for the user, and the exit code."""
    def __init__(self, sentence, code=1):
        super().__init__(sentence)
        self.code = code


# ---- torchvision's: pickled dictionaries that hold a NumPy array

class Array:
    """What is needed of a pickled numpy.ndarray: its bytes, if they are unsigned bytes in C order."""
    def __init__(self, *_):
        self.bytes = b""

    def __setstate__(self, state):
        _, self.shape, self.type, fortran, self.bytes = state
        if fortran or self.type.code not in ("u1", "|u1"):
            raise Wrong("its pixels are not unsigned bytes in rows.")


class Type:
    def __init__(self, code, *_):
        self.code = code.decode() if isinstance(code, bytes) else code

    def __setstate__(self, state):
        pass


class Unpickler(pickle.Unpickler):
    """Makes arrays and nothing else: a pickle from the internet could otherwise start any program."""
    def find_class(self, module, name):
        if name == "_reconstruct" and module.startswith("numpy."):
            return lambda *_: Array()
        known = {("numpy", "ndarray"): Array, ("numpy", "dtype"): Type,
                 ("_codecs", "encode"): lambda text, encoding: text.encode(encoding)}
        if (module, name) not in known:
            raise Wrong(f"it wants {module}.{name}, which no data set needs.")
        return known[module, name]


def batch(path):
    with open(path, "rb") as file:
        entries = Unpickler(file, encoding="bytes").load()
    pixels = entries[b"data"].bytes
    labels = entries[b"labels"] if b"labels" in entries else list(zip(entries[b"coarse_labels"], entries[b"fine_labels"]))
    return list(zip(labels, (pixels[at:at + PIXELS] for at in range(0, len(pixels), PIXELS)), strict=True))


def from_torchvision(folder):
    if (folder / "data_batch_1").exists():
        return [image for n in range(1, 6) for image in batch(folder / f"data_batch_{n}")], batch(folder / "test_batch")
    return batch(folder / "train"), batch(folder / "test")


# ---- .npz: a zip of .npy files

def array(archive, name):
    """Shape and elements, flat."""
    try:
        content = archive.read(f"{name}.npy")
    except KeyError:
        raise Wrong(f"it has no array {name}; x_train, y_train, x_test and y_test are needed.") from None
    start = 10 if content[6] == 1 else 12
    length = struct.unpack_from("<H" if start == 10 else "<I", content, 8)[0]
    header = ast.literal_eval(content[start:start + length].decode("latin1"))
    code = header["descr"]
    codes = {"|u1": "B", "|i1": "b", "<i2": "<h", "<i4": "<i", "<i8": "<q", "<u2": "<H", "<u4": "<I", "<u8": "<Q"}
    if header["fortran_order"] or code not in codes:
        raise Wrong(f"{name} has elements of type {code} and should have whole numbers, row by row: images as bytes 0 to 255.")
    data = content[start + length:]
    return header["shape"], data if code == "|u1" else [value for value, in struct.iter_unpack(codes[code], data)]


def from_npz(file):
    sets = []
    with zipfile.ZipFile(file) as archive:
        for name in ("train", "test"):
            shape, pixels = array(archive, f"x_{name}")
            if tuple(shape[1:]) != (SIDE, SIDE, 3) or not isinstance(pixels, bytes):
                raise Wrong(f"x_{name} has the shape {shape}; [n, {SIDE}, {SIDE}, 3] bytes are needed.")
            labels = array(archive, f"y_{name}")[1]
            images = (pixels[at:at + PIXELS] for at in range(0, len(pixels), PIXELS))
            sets.append([(label, planes(image)) for label, image in zip(labels, images, strict=True)])
    return sets


def planes(pixels):
    """red green blue red green blue ... to all red, all green, all blue."""
    return pixels[0::3] + pixels[1::3] + pixels[2::3]


# ---- PNG files (ISO/IEC 15948): 8 bits a channel, RGB, not interlaced

def png(path):
    content, at, data, header = path.read_bytes(), 8, b"", None
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        chunk = content[at + 8:at + 8 + length]
        header = struct.unpack(">IIBBBBB", chunk) if kind == b"IHDR" else header
        data += chunk if kind == b"IDAT" else b""
        at += length + 12
    if header is None or header[:4] != (SIDE, SIDE, 8, 2) or header[6] != 0:
        raise Wrong(f"{path} is not a PNG of {SIDE} x {SIDE} pixels, RGB, 8 bits, not interlaced.")
    rows, data, width = [bytes(3 * SIDE)], zlib.decompress(data), 3 * SIDE
    for y in range(SIDE):
        kind, line = data[y * (width + 1)], bytearray(data[y * (width + 1) + 1:(y + 1) * (width + 1)])
        above = rows[-1]
        for x in range(width):
            left, up, corner = (line[x - 3] if x >= 3 else 0), above[x], (above[x - 3] if x >= 3 else 0)
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(guess - value))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        rows.append(bytes(line))
    return planes(b"".join(rows[1:]))


def from_png(folder):
    classes = sorted(path.name for path in (folder / "train").iterdir() if path.is_dir())
    return [[(label, png(path)) for label, name in enumerate(classes) for path in sorted((folder / part / name).glob("*.png"))]
            for part in ("train", "test")]


# ---- CIFAR's binary format

def read(source):
    for inner in ("cifar-10-batches-py", "cifar-100-python"):
        source = source / inner if (source / inner).is_dir() else source
    if (source / "data_batch_1").is_file() or (source / "train").is_file():
        return from_torchvision(source)
    if source.suffix == ".npz" and source.is_file():
        return from_npz(source)
    if any(source.glob("train/*/*.png")):
        return from_png(source)
    raise Wrong(f"{source} is no set that can be converted: neither torchvision's folder (cifar-10-batches-py, cifar-100-python), "
                "nor a .npz file, nor a folder with train/CLASS/*.png and test/CLASS/*.png.", 2)


def is_cifar100(train):
    return isinstance(train[0][0], tuple) or max(label for label, _ in train) > 9


def write(train, test, folder):
    """The folder appears complete, or not at all."""
    hundred = is_cifar100(train)
    if folder.exists():
        raise Wrong(f"{folder} exists already. Remove it, or give another one: --out DIR", 2)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=".convert_", dir=folder.parent))
    try:
        n = len(train)
        names = ["train.bin"] if hundred else [f"data_batch_{i}.bin" for i in range(1, 6)]
        parts = {name: train[n * i // len(names):n * (i + 1) // len(names)] for i, name in enumerate(names)}
        parts["test.bin" if hundred else "test_batch.bin"] = test
        for name, images in parts.items():
            with open(scratch / name, "wb") as file:
                for label, pixels in images:
                    labels = label if isinstance(label, tuple) else (0, label) if hundred else (label,)
                    file.write(bytes(labels) + pixels)
        os.chmod(scratch, 0o755)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    flags = argparse.ArgumentParser(prog="./odori data convert", description="Rewrites images in CIFAR's binary format.")
    flags.add_argument("source", metavar="FROM", type=pathlib.Path,
                       help="torchvision's folder, a .npz file, or a folder with train/CLASS/*.png and test/CLASS/*.png")
    flags.add_argument("--out", type=pathlib.Path, help="the folder to write; without it, CIFAR's own place below datasets/cache")
    flags.add_argument("--cache", type=pathlib.Path, help=argparse.SUPPRESS)
    flags = flags.parse_args()
    try:
        train, test = read(flags.source)
        if not train or not test:
            raise Wrong("it has no training images or no test images.")
        out = flags.out
        if out is None:
            if (len(train), len(test)) != (50000, 10000):
                raise Wrong(f"it has {len(train)} + {len(test)} images, not CIFAR's 50000 + 10000. Name a folder for them: --out DIR", 2)
            out = flags.cache / ("cifar-100-binary" if is_cifar100(train) else "cifar-10-batches-bin")
        write(train, test, out)
    except Wrong as wrong:
        print(f"{flags.source}: {wrong}" if wrong.code == 1 else wrong, file=sys.stderr)
        sys.exit(wrong.code)
    except (OSError, KeyError, ValueError, IndexError, EOFError, struct.error, zlib.error, zipfile.BadZipFile, pickle.UnpicklingError) as error:
        sys.exit(f"{flags.source} is damaged, or of another format: {error or type(error).__name__}.")
    print(f"Wrote {len(train)} + {len(test)} images to {out}. Train on them: --dataset {out}")


main()
