#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records `./odori watch multi_gpu` on a terminal of its own, for the picture in README.md.

    record_watch.py KIT > watch.cast      asciicast version 2

A learner's file is changed three times: a wrong answer to blank 1, and, after a hint, the right one. Waiting is shortened to two seconds.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

COLUMNS, ROWS, LONGEST_PAUSE = 104, 30, 2.0
WRONG = """\
  std::vector<SerialIterator> train_iters;
  for (int device = 0; device < args.n_gpus; ++device)
    train_iters.emplace_back(train, args.batchsize, IteratorOptions{.seed = args.seed});
"""
kit = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = "01_multi_gpu/train_cifar_multi_gpu.cpp"


def blank_of(text, number=1):
    """What stands between a blank's question and its end: [begin, end) in the text."""
    question = re.search(rf"  // BLANK {number}:.*\n(?:  // .*\n)*", text)
    return question.end(), text.index("  // END BLANK", question.end())


def main():
    with tempfile.TemporaryDirectory() as scratch:
        clone = pathlib.Path(scratch) / "odori"
        subprocess.run(["git", "clone", "--quiet", "--shared", kit, clone], check=True)
        file = clone / "exercises" / PROGRAM
        solution = (clone / "solutions" / PROGRAM).read_text()
        right = solution[slice(*blank_of(solution))]

        def save(answer):
            text = file.read_text()
            begin, end = blank_of(text)
            file.write_text(text[:begin] + answer + text[end:])

        master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        watch = subprocess.Popen(
            [kit / "build/bin/odori_grader", "watch", "multi_gpu", "--kit", clone, "--lang", "en"], cwd=clone,
            env={**os.environ, "TERM": "xterm-256color"}, stdin=terminal, stdout=terminal, stderr=terminal,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        os.close(terminal)
        shown, last = 0.0, time.time()  # seconds of the recording; when something was printed last
        print(json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "title": "./odori watch multi_gpu"}))

        def until(pattern, quiet):
            """Records until the pattern was printed and nothing more was for `quiet` seconds."""
            nonlocal shown, last
            text = ""
            while True:
                ready = select.select([master], [], [], quiet)[0]
                if not ready:
                    if re.search(pattern, text):
                        return
                    if time.time() - last > 120:
                        sys.exit(f"record_watch.py: {pattern} was not printed within 120 s: {text}")
                    continue
                piece = os.read(master, 65536).decode(errors="replace").replace(str(clone), "~/odori")
                shown, last = shown + min(time.time() - last, LONGEST_PAUSE), time.time()
                text += piece
                print(json.dumps([round(shown, 3), "o", piece]))

        until("UNFILLED", 3)
        save(WRONG)
        until("WRONG", 3)
        shown += 3  # to read
        os.write(master, b"h")
        until("1 / 3|1 of 3", 2)
        shown += 3
        save(right)
        until("PASS", 3)
        shown += 3
        print(json.dumps([round(shown, 3), "o", ""]))
        os.killpg(watch.pid, signal.SIGINT)
        watch.wait()


main()
