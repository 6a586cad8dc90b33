# SPDX-License-Identifier: Apache-2.0
"""./odori data convert: random images as torchvision, Keras and folders of PNG files have them, and what is none of these."""
import os
import pathlib
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import zipfile
import zlib

CONVERT = pathlib.Path(__file__).resolve().parent.parent / "convert.py"
PIXELS = 3 * 32 * 32


def images(n, classes, seed):
    """Labels, and bytes in planes."""
    source = random.Random(seed)
    return [(at % classes, source.randbytes(PIXELS)) for at in range(n)]


def interleaved(planes):
    return bytes(planes[plane * 1024 + at] for at in range(1024) for plane in range(3))


# ---- As the frameworks write them

class FakeType:
    def __reduce__(self):
        return DTYPE, ("u1", False, True), (3, "|", None, None, None, -1, -1, 0)


class FakeArray:
    def __init__(self, shape, content):
        self.shape, self.content = shape, content

    def __reduce__(self):
        return RECONSTRUCT, (NDARRAY, (0,), b"b"), (1, self.shape, FakeType(), False, self.content)


def named(name, module, kind):
    """Something that is pickled as a name of NumPy's."""
    thing = type(name, (), {}) if kind == "class" else types.FunctionType((lambda *_: None).__code__, {}, name)
    thing.__module__, thing.__qualname__, thing.__name__ = module, name, name
    sys.modules.setdefault(module, types.ModuleType(module))
    setattr(sys.modules[module], name, thing)
    return thing


for parent in ("numpy", "numpy.core"):
    sys.modules[parent] = types.ModuleType(parent)
RECONSTRUCT = named("_reconstruct", "numpy.core.multiarray", "function")
NDARRAY, DTYPE = named("ndarray", "numpy", "class"), named("dtype", "numpy", "class")


def torchvision(path, batch, **labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = {key.encode(): value for key, value in (labels or {"labels": [label for label, _ in batch]}).items()}
    entries[b"data"] = FakeArray((len(batch), PIXELS), b"".join(pixels for _, pixels in batch))
    path.write_bytes(pickle.dumps(entries, protocol=2))


def npy(shape, code, content):
    header = repr({"descr": code, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + content


def png(pixels, kind):
    """Each row by one of the five filters of PNG."""
    rows, lines, width = [bytes(96)], b"", 96
    content = interleaved(pixels)
    for y in range(32):
        row = content[y * width:(y + 1) * width]
        line = bytearray(row)
        for x in range(width):
            left, up, corner = (row[x - 3] if x >= 3 else 0), rows[-1][x], (rows[-1][x - 3] if x >= 3 else 0)
            paeth = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[x] = (row[x] - (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        lines += bytes([kind]) + line
        rows.append(row)
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


class Convert(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.source, self.out = pathlib.Path(self.scratch.name) / "source", pathlib.Path(self.scratch.name) / "out"
        self.train, self.test = images(20, 10, 1), images(7, 10, 2)

    def convert(self, source=None, out=True):
        flags = ["--out", self.out] if out else ["--cache", self.scratch.name]
        ended = subprocess.run([sys.executable, CONVERT, source or self.source, *flags], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        return ended.returncode, ended.stdout

    def expect_cifar10(self, source=None):
        code, output = self.convert(source)
        self.assertEqual(code, 0, output)
        self.assertIn(f"Wrote 20 + 7 images to {self.out}. Train on them: --dataset {self.out}", output)
        for n in range(5):
            self.assertEqual((self.out / f"data_batch_{n + 1}.bin").read_bytes(),
                             b"".join(bytes([label]) + pixels for label, pixels in self.train[4 * n:4 * n + 4]))
        self.assertEqual((self.out / "test_batch.bin").read_bytes(), b"".join(bytes([label]) + pixels for label, pixels in self.test))

    def write_torchvision(self, folder):
        for n in range(5):
            torchvision(folder / f"data_batch_{n + 1}", self.train[4 * n:4 * n + 4])
        torchvision(folder / "test_batch", self.test)

    def test_torchvision(self):
        self.write_torchvision(self.source / "cifar-10-batches-py")
        self.expect_cifar10()

    def test_torchvision_with_100_classes(self):
        for name, batch in (("train", self.train), ("test", self.test)):
            torchvision(self.source / name, batch, coarse_labels=[label // 5 for label, _ in batch],
                        fine_labels=[label for label, _ in batch])
        code, output = self.convert()
        self.assertEqual(code, 0, output)
        for name, batch in (("train", self.train), ("test", self.test)):
            self.assertEqual((self.out / f"{name}.bin").read_bytes(),
                             b"".join(bytes([label // 5, label]) + pixels for label, pixels in batch))

    def test_npz(self):
        self.source = self.source.with_suffix(".npz")
        with zipfile.ZipFile(self.source, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, batch, code, kind in (("train", self.train, "|u1", "B"), ("test", self.test, "<i8", "q")):
                archive.writestr(f"x_{name}.npy", npy((len(batch), 32, 32, 3), "|u1", b"".join(interleaved(p) for _, p in batch)))
                archive.writestr(f"y_{name}.npy", npy((len(batch), 1), code, struct.pack(f"<{len(batch)}{kind}", *(label for label, _ in batch))))
        self.expect_cifar10()

    def test_png(self):
        for part, batch in (("train", self.train), ("test", self.test)):
            for at, (label, pixels) in enumerate(batch):
                folder = self.source / part / f"class{label}"
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{at:03}.png").write_bytes(png(pixels, at % 5))
        by_class = lambda batch: sorted(batch, key=lambda image: image[0])
        self.train, self.test = by_class(self.train), by_class(self.test)
        self.expect_cifar10()

    def test_what_is_none_of_these(self):
        self.source.mkdir()
        code, output = self.convert()
        self.assertEqual((code, "is no set that can be converted" in output), (2, True), output)
        self.write_torchvision(self.source)
        code, output = self.convert(out=False)
        self.assertEqual((code, "it has 20 + 7 images, not CIFAR's 50000 + 10000" in output), (2, True), output)
        self.out.mkdir()
        code, output = self.convert()
        self.assertEqual((code, "exists already" in output), (2, True), output)
        self.out.rmdir()
        (self.source / "test_batch").write_bytes((self.source / "test_batch").read_bytes()[:5000])
        code, output = self.convert()
        self.assertEqual((code, "is damaged" in output, self.out.exists()), (1, True, False), output)
        (self.source / "test_batch").write_bytes(pickle.dumps(os.getcwd))
        code, output = self.convert()
        self.assertEqual((code, "it wants posix.getcwd" in output), (1, True), output)


unittest.main(verbosity=2)
