# SPDX-License-Identifier: Apache-2.0
"""fetch_cifar.sh against a server on loopback that breaks off, cuts, damages, stalls, drips. Stand-in archives of the same
structure, and a table of their sizes and checksums, take the place of the real ones."""
import hashlib
import http.server
import io
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
import unittest

FETCH = pathlib.Path(__file__).resolve().parent.parent / "fetch_cifar.sh"
FILES = {"data_batch_1.bin": 200000, "test_batch.bin": 100000}


def make_archive(files):
    """A .tar.gz of a folder `images` with random bytes, which don't compress."""
    source, target = random.Random(1), io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for name, size in files.items():
            info = tarfile.TarInfo(f"images/{name}")
            info.size = size
            tar.addfile(info, io.BytesIO(source.randbytes(size)))
    return target.getvalue()


ARCHIVE = make_archive(FILES)
PACES = {"drips": (1, 0.1), "bursts": (5000, 0.2)}  # bytes at a time, and the seconds between


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves /BEHAVIOUR/small.tar.gz. Each request is noted as [behaviour, first byte asked for, bytes sent]."""

    def do_GET(self):
        behaviour = self.path.split("/")[1]
        body, start = self.server.archive, 0
        if behaviour == "corrupt":
            body = body[:5000] + b"damaged!" + body[5008:]
        elif behaviour == "short":
            body = body[:-1000]
        elif behaviour == "long":
            body = body + b"more"
        elif behaviour == "page":
            body = b"<html>This is the network's login page</html>"
        asked = self.headers.get("Range")
        if asked and behaviour != "no_range":
            start = int(asked.removeprefix("bytes=").split("-")[0])
        note = [behaviour, start, 0]
        self.server.notes.append(note)
        if behaviour == "missing":
            return self.send_error(404)
        if start and start >= len(body):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = {"breaks": min(start + 100000, len(body)), "breaks_once": len(body) if start else 150000,
               "stalls": 70000, "slow": 50000}.get(behaviour, len(body))
        if behaviour in PACES:
            self.close_connection = True
            return self.drip(body[start:], *PACES[behaviour])
        self.wfile.write(body[start:end])
        self.wfile.flush()
        note[2] = max(0, end - start)
        if behaviour in ("stalls", "slow"):
            self.server.released.wait(30)
        self.close_connection = True

    def drip(self, body, size, seconds):
        for begin in range(0, len(body), size):
            try:
                self.wfile.write(body[begin:begin + size])
            except ConnectionError:  # curl has left
                return
            if self.server.released.wait(seconds):
                return

    def log_message(self, *_):
        pass


class Fetch(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.notes, self.server.released = [], threading.Event()
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.root = self.scratch / "cache"
        self.target, self.part = self.root / "images", self.root / ".small.tar.gz.part"

    def tearDown(self):
        self.server.released.set()
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.scratch)

    def address(self, behaviour):
        return f"http://127.0.0.1:{self.server.server_port}/{behaviour}"

    def start(self, *mirrors, flags=(), checksum=None, files=FILES, largest_file=None, archive=ARCHIVE, least_pace=5000, path="",
              stall_seconds=2):
        def limit():
            if largest_file:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        self.server.archive = archive
        table = [f"mirror {m if ':' in m else self.address(m)}" for m in mirrors]
        checksum = checksum or f"sha256 {hashlib.sha256(archive).hexdigest()}"
        table.append(f"archive small small.tar.gz {len(archive)} {checksum} images")
        table += [f"file small {name} {size}" for name, size in files.items()]
        (self.scratch / "table").write_text("\n".join(table) + "\n")
        environment = dict(os.environ, ODORI_ARCHIVES=str(self.scratch / "table"), ODORI_DATA=str(self.root),
                           ODORI_STALL_SECONDS=str(stall_seconds), ODORI_LEAST_PACE=str(least_pace), no_proxy="127.0.0.1",
                           PATH=f"{path}:{os.environ['PATH']}".strip(":"))
        return subprocess.Popen(["bash", FETCH, "small", *flags], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                preexec_fn=limit, restore_signals=False)  # SIGXFSZ stays ignored

    def fetch(self, *mirrors, expect, says=(), **how):
        process = self.start(*mirrors, **how)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, expect, output)
        for sentence in says:
            self.assertIn(sentence, output)
        return output

    def assert_complete(self, target=None):
        target = target or self.target
        self.assertEqual({f.name: f.stat().st_size for f in target.iterdir()}, FILES)
        with tarfile.open(fileobj=io.BytesIO(ARCHIVE)) as tar:
            for name in FILES:
                self.assertEqual((target / name).read_bytes(), tar.extractfile(f"images/{name}").read())
        self.assertEqual([p.name for p in target.parent.iterdir()], [target.name], "something was left beside it")

    def assert_nothing_there(self, partial=0):
        self.assertFalse(self.target.exists())
        left = sorted(p.name for p in self.root.iterdir())
        self.assertEqual(left, [self.part.name] if partial else [])
        if partial:
            self.assertEqual(self.part.read_bytes(), ARCHIVE[:partial])

    def test_good_mirror(self):
        self.fetch("good", expect=0, says=["small is there now", "sha256 checksum and sizes verified"])
        self.assert_complete()
        self.fetch("good", expect=0, says=["small is there already"])
        self.assertEqual(len(self.server.notes), 1)

    def test_md5_and_another_folder(self):
        self.fetch("good", expect=0, checksum=f"md5 {hashlib.md5(ARCHIVE).hexdigest()}",
                   flags=["--out", self.scratch / "else/where"])
        self.assert_complete(self.scratch / "else/where")

    def test_own_mirror_comes_first(self):
        self.fetch("missing", expect=0, flags=["--mirror", self.address("good") + "/"])
        self.assertEqual([n[0] for n in self.server.notes], ["good"])
        self.assert_complete()

    def test_mirror_in_a_folder(self):
        (self.scratch / "small.tar.gz").write_bytes(ARCHIVE)
        self.fetch(expect=0, flags=["--mirror", f"file://{self.scratch}"])
        self.assert_complete()

    def test_missing_then_next(self):
        self.fetch("missing", "good", expect=0, says=["it doesn't have the file"])
        self.assert_complete()

    def test_no_server_then_next(self):
        self.fetch("http://127.0.0.1:9", "good", expect=0, says=["no connection"])
        self.assert_complete()

    def test_all_fail(self):
        self.fetch("missing", "missing", expect=1, says=["No mirror gave small.tar.gz", "./odori data synthetic"])
        self.assert_nothing_there()

    def test_broken_connections_are_taken_up(self):
        self.fetch("breaks", expect=0, says=["the connection broke", "Going on at byte 100000 "])
        self.assertEqual([n[1] for n in self.server.notes], [0, 100000, 200000, 300000])
        self.assertEqual(sum(n[2] for n in self.server.notes), len(ARCHIVE), "a byte was sent twice")
        self.assert_complete()

    def test_stall_ends_and_is_kept(self):
        begin = time.monotonic()
        self.fetch("stalls", "missing", expect=1, says=["it stalled", f"70000 of {len(ARCHIVE)} bytes are kept"])
        self.assertLess(time.monotonic() - begin, 40)
        self.assert_nothing_there(partial=70000)
        self.fetch("good", expect=0, says=["Going on at byte 70000 "])
        self.assertEqual(self.server.notes[-1], ["good", 70000, len(ARCHIVE) - 70000])
        self.assert_complete()

    def test_dripping_mirror_is_left(self):
        self.fetch("drips", "good", expect=0, says=["fewer than 5000 bytes a second", "Going on at byte "])
        self.assertEqual([n[0] for n in self.server.notes], ["drips", "good"])
        self.assert_complete()

    def test_bursts_are_held_to_the_pace_too(self):
        # Long pauses between bursts escape curl's limit on the last seconds. Here it is left out, to be quick.
        curl = self.scratch / "curl"
        curl.write_text(f"""#!/bin/bash
flags=("$@")
for i in "${{!flags[@]}}"; do [[ ${{flags[i]}} != --speed-* ]] || flags[i+1]=0; done
exec {shutil.which("curl")} "${{flags[@]}}"
""")
        curl.chmod(0o755)
        self.fetch("bursts", "good", expect=0, least_pace=100000, path=self.scratch,
                   says=["fewer than 100000 bytes a second", "Going on at byte "])
        self.assertEqual([n[0] for n in self.server.notes], ["bursts", "good"])
        self.assert_complete()

    def test_interrupt_is_kept(self):
        process = self.start("slow", stall_seconds=60)
        while not self.part.exists() or self.part.stat().st_size < 50000:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal sends Ctrl-C: to the script and to curl
        output, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, output)
        self.assertIn(f"Interrupted. 50000 of {len(ARCHIVE)} bytes are kept", output)
        self.assert_nothing_there(partial=50000)

    def test_two_at_once(self):
        process = self.start("slow", stall_seconds=60)
        while not self.part.exists() or self.part.stat().st_size < 50000:
            time.sleep(0.05)
        self.fetch("good", expect=1, says=["Another fetch of small"])
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
        self.assert_nothing_there(partial=50000)

    def test_corrupt_is_discarded(self):
        self.fetch("corrupt", expect=1, says=["checksum of small.tar.gz", "is wrong", "discarded"])
        self.assert_nothing_there()
        self.fetch("corrupt", "good", expect=0)
        self.assert_complete()

    def test_damaged_start_of_an_earlier_download(self):
        self.root.mkdir()
        self.part.write_bytes(b"?" * 1000)
        self.fetch("good", expect=0, says=["Going on at byte 1000 ", "discarded"])
        self.assertEqual([n[1] for n in self.server.notes], [1000, 0])
        self.assert_complete()

    def test_whole_download_needs_no_server(self):
        self.root.mkdir()
        self.part.write_bytes(ARCHIVE)
        self.fetch("good", expect=0)
        self.assertEqual(self.server.notes, [])
        self.assert_complete()

    def test_too_much_of_an_earlier_download(self):
        self.root.mkdir()
        self.part.write_bytes(ARCHIVE + b"more")
        self.fetch("good", expect=0)
        self.assert_complete()

    def test_short_file(self):
        self.fetch("short", expect=1, says=[f"a file of {len(ARCHIVE) - 1000} bytes instead of {len(ARCHIVE)}"])
        self.assert_nothing_there()

    def test_login_page_does_not_spoil_the_next_mirror(self):
        self.fetch("page", "good", expect=0, says=["instead of"])
        self.assertEqual([n[:2] for n in self.server.notes], [["page", 0], ["good", 0]])
        self.assert_complete()

    def test_long_file(self):
        self.fetch("long", expect=1, says=["larger than"])
        self.assert_nothing_there()

    def test_server_without_ranges(self):
        self.root.mkdir()
        self.part.write_bytes(ARCHIVE[:1000])
        self.fetch("no_range", expect=0, says=["it can't go on in the middle of a file"])
        self.assert_complete()

    def test_archive_without_its_files(self):
        self.fetch("good", expect=1, files={"data_batch_1.bin": 1}, says=["has 200000 bytes instead of 1: discarded"])
        self.assert_nothing_there()
        self.fetch("good", expect=1, files={"labels.bin": 1}, says=["labels.bin is missing: discarded"])
        self.assert_nothing_there()

    def test_archive_that_cannot_be_unpacked(self):
        for archive in (b"no archive " * 1000, ARCHIVE[:200000]):
            self.fetch("other", "good", expect=1, archive=archive, says=["can't be unpacked: discarded"])
            self.assert_nothing_there()
            self.assertIn("good", [n[0] for n in self.server.notes])

    def test_what_cannot_be_unpacked_is_not_kept(self):
        archive = ARCHIVE[:200000]
        self.root.mkdir()
        self.part.write_bytes(archive)
        self.fetch("missing", expect=1, archive=archive, says=["can't be unpacked: discarded"])
        self.assert_nothing_there()

    def test_folder_of_another_kind_is_not_touched(self):
        self.target.mkdir(parents=True)
        (self.target / "data_batch_1.bin").write_bytes(b"mine")
        self.fetch("good", expect=1, says=["isn't a complete small", "has 4 bytes instead of 200000"])
        self.assertEqual((self.target / "data_batch_1.bin").read_bytes(), b"mine")
        self.assertEqual(self.server.notes, [])

    def test_folder_that_cannot_be_made(self):
        (self.scratch / "file").write_text("")
        self.fetch("good", expect=1, flags=["--out", self.scratch / "file/set"], says=["can't be made"])

    def test_full_disk(self):  # a limit on the size of a file stands for it
        self.fetch("good", "good", expect=1, largest_file=100000,
                   says=["disk full?", f"100000 of {len(ARCHIVE)} bytes are kept"])
        self.assert_nothing_there(partial=100000)
        self.root.joinpath(self.part.name).write_bytes(ARCHIVE)
        self.fetch("good", expect=1, largest_file=150000, says=["can't be unpacked"])
        self.assert_nothing_there(partial=len(ARCHIVE))
        self.fetch("good", expect=0)
        self.assert_complete()

    def test_usage(self):
        self.fetch("good", expect=0, flags=["--help"], says=["usage: ./odori data fetch"])
        self.fetch("good", expect=2, flags=["--fast"], says=["There is no flag --fast"])
        self.fetch("good", expect=2, flags=["other"], says=["One set at a time"])
        self.fetch("good", expect=2, flags=["--mirror"], says=["--mirror needs a value"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
