#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./odori watch on a terminal: keys, saves, Ctrl-C; on a terminal that cannot be cleared, and without one.

watch_test.py KIT ODORI_GRADER ODORI_CUT SCRATCH

Only the job script's blank is filled in here, which needs no build: so each check takes a moment only.
"""
import codecs
import fcntl
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

source, grader, cut, kit = sys.argv[1:5]
PATIENCE = 60  # seconds; a busy machine may be slow
script = f"{kit}/jobscripts/run_multi_gpu_training.sh"


CLEAR = "\033[H\033[2J"


class Watch:
    def __init__(self, *flags, terminal="xterm"):
        self.child, self.terminal = pty.openpty()
        self.before = termios.tcgetattr(self.terminal)
        self.seen = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            [grader, "watch", "multi_gpu", "--kit", kit, *flags], env={**os.environ, "TERM": terminal},
            stdin=self.terminal, stdout=self.terminal, stderr=self.terminal,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))

    def read(self):
        if select.select([self.child], [], [], 0.1)[0]:
            self.seen += self.decoder.decode(os.read(self.child, 65536))

    def shows(self, *texts):
        """A screen that holds these texts in this order: the first one since the last call."""
        end = time.time() + PATIENCE
        while True:
            screens = self.seen.split(CLEAR)
            for i, screen in enumerate(screens):
                at = 0
                for text in texts:
                    at = screen.find(text, at) + len(text) if at >= 0 and text in screen[at:] else -1
                if at >= 0:
                    self.seen = CLEAR.join([screen[at:], *screens[i + 1:]])
                    return screen[:at]
            assert time.time() < end, f"waited for {texts!r}; there came {self.seen!r}"
            self.read()

    def drain(self):
        """All that came, and what is there now."""
        before = None
        while before != self.seen:
            before = self.seen
            self.read()
        return self.seen

    def press(self, key):
        os.write(self.child, key.encode())

    def ends_with(self, code):
        end = time.time() + PATIENCE
        while self.process.poll() is None and time.time() < end:
            self.read()
        assert self.process.wait(PATIENCE) == code, self.process.returncode
        after = termios.tcgetattr(self.terminal)
        assert after == self.before, "the terminal isn't as it was"
        os.close(self.child)
        os.close(self.terminal)


def fill(text):
    """Saves as editors do: a new file, renamed."""
    lines = open(script).read().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("#PBS -l") and "walltime" not in line)
    lines[at] = "#PBS -l " + text
    with open(script + ".new", "w") as file:
        file.write("\n".join(lines))
    os.rename(script + ".new", script)


def at_a_terminal():
    """Whatever is asked for, the verdicts are above it."""
    watch = Watch("--lang", "en")
    watch.shows("Checking", " 1  the training data's iterators", "UNFILLED", " 8  ", "UNFILLED", "Next: blank 1", "q quit")
    fill("select=1:mpiprocs=2:ompthreads=1")
    watch.shows("Saved.", "WRONG", "as in task 2", "q quit")
    fill("select=1:mpiprocs=1:ompthreads=2")
    watch.shows("Saved.", "PASS", "q quit")

    for step in 1, 2:  # a hint for the first blank that isn't right, one more each time
        watch.press("h")
        watch.shows("Task 1, multi_gpu", "UNFILLED", "PASS", f"blank 1: hint {step} of 3", "q quit")
    watch.press("s")
    assert "./odori watch" not in watch.shows("Task 1, multi_gpu", "PASS", "q quit")
    watch.press("c")
    watch.shows("Checking", "PASS", "q quit")
    watch.press("o")
    watch.shows("Task 1, multi_gpu", "PASS", "answer to blank 1?")
    watch.press("n")
    assert "split_dataset_n_random" not in watch.shows("q quit")
    watch.press("O")
    watch.shows("answer to blank 1?")
    watch.press("y")
    watch.shows("multi_gpu, blank 1: One iterator a device", "split_dataset_n_random", "q quit")
    for key in "\033[A", "\033[C", "\033[H", "\033OP", "\033[15~", "\033", "?", "\u3042", "\x04", "\0":
        watch.press(key)
        time.sleep(0.2)
    assert "hint" not in watch.drain().lower(), watch.seen
    watch.press("r")
    watch.shows("measuring the speedup")
    watch.press("s")  # waits for the check's end
    watch.shows("PASS")
    watch.shows("Task 1, multi_gpu", "q quit")

    with open(script) as file:
        whole = file.read()
    with open(script, "w") as file:  # half-written for longer than a look takes
        file.write("")
        file.flush()
        time.sleep(0.5)
        file.write(whole)
    watch.shows("Saved.", "PASS", "q quit")
    watch.press("q")
    watch.shows("Bye.")
    watch.ends_with(0)
    fill("PUT_YOUR_CODE")


def in_japanese():
    watch = Watch("--lang", "ja")
    watch.shows("q 終了")
    fill("select=4:mpiprocs=1")
    watch.shows("保存されました", "1  学習データのイテレータ", "WRONG", "保存を待っています", "q 終了")
    watch.press("h")
    watch.shows("ヒント 3 / 3")
    watch.press("q")
    watch.ends_with(0)
    fill("PUT_YOUR_CODE")


def on_a_terminal_that_cannot_be_cleared():
    watch = Watch("--lang", "en", terminal="dumb")
    shown = watch.shows("UNFILLED", "q quit")
    watch.press("s")
    shown += watch.shows("blank  verdict", "q quit")
    watch.press("q")
    shown += watch.shows("Bye.")
    assert "\033" not in shown, shown
    watch.ends_with(0)


def interrupted():
    watch = Watch("--lang", "ja")
    watch.shows("保存を待っています")
    watch.press("\x03")
    watch.ends_with(130)
    watch = Watch("--lang", "en")
    watch.shows("Checking")
    os.kill(watch.process.pid, signal.SIGTERM)
    watch.ends_with(130)


def without_a_terminal():
    fill("select=1:mpiprocs=1:ompthreads=2")
    process = subprocess.Popen([grader, "watch", "multi_gpu", "--kit", kit, "--lang", "en"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = iter(process.stdout.readline, "")
    before = next(line for line in lines if line.startswith(" 8"))
    next(line for line in lines if line.startswith("Waiting"))
    fill("select=4:mpiprocs=1")
    after = next(line for line in lines if line.startswith(" 8"))
    assert "PASS" in before and "WRONG" in after, (before, after)
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 130 and "\033[" not in before + after + rest, (process.returncode, rest)


shutil.rmtree(kit, ignore_errors=True)
for folder in "solutions", "grader", "lib/flags", "lib/trace":
    shutil.copytree(f"{source}/{folder}", f"{kit}/{folder}")
os.makedirs(f"{kit}/jobscripts")
shutil.copy(f"{source}/jobscripts/site_in_force.sh", f"{kit}/jobscripts")
subprocess.run([cut, "--kit", kit], check=True, stdout=subprocess.DEVNULL)
os.environ.pop("ODORI_STATE", None)
os.environ.pop("ODORI_SITE", None)
at_a_terminal()
in_japanese()
on_a_terminal_that_cannot_be_cleared()
interrupted()
without_a_terminal()
print("It watches.")
