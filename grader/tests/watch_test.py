#!/usr/bin/env python3
"""./odori watch at a terminal of its own: keys, saves, sizes, Ctrl-C; on one that can't be drawn on, and without one.

watch_test.py KIT ODORI_GRADER ODORI_CUT SCRATCH

Only the job script's blank is filled in here, which needs no build: so each check takes a moment only.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

source, grader, cut, kit = sys.argv[1:5]
PATIENCE = 60  # seconds; a busy machine may be slow
script = f"{kit}/jobscripts/run_multi_gpu_training.sh"


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Watch:
    def __init__(self, *flags, task="multi_gpu", columns=100, rows=40, terminal="xterm"):
        self.child, self.terminal = pty.openpty()
        self.before = termios.tcgetattr(self.terminal)
        self.resize(columns, rows)
        self.seen = ""
        self.shown = 0  # where the screen begins that was asked for last
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            [grader, "watch", task, "--kit", kit, *flags], env={**os.environ, "TERM": terminal},
            stdin=self.terminal, stdout=self.terminal, stderr=self.terminal,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        if select.select([self.child], [], [], 0.1)[0]:
            self.seen += self.decoder.decode(os.read(self.child, 65536))

    def expect(self, text):
        """What comes up to this text, which has to come."""
        end = time.time() + PATIENCE
        while text not in self.seen:
            assert time.time() < end, f"waited for {text!r}; there came {self.seen!r}"
            self.read()
        before, self.seen = self.seen.split(text, 1)
        self.shown = 0
        return before

    def shows(self, *texts):
        """The lines of a screen that holds all of these texts: of the one that was asked for last, or a later one."""
        end = time.time() + PATIENCE
        while True:
            for frame in re.finditer("\033\\[H(.*?)\033\\[J", self.seen, re.DOTALL):
                lines = frame[1].replace("\033[K", "").split("\r\n")
                fits = len(lines) <= self.rows and all(
                    width(re.sub("\033\\[[0-9;]*m", "", line)) <= self.columns for line in lines)
                if frame.start() >= self.shown and fits and all(
                        text in " ".join(" ".join(lines).split()) for text in texts):
                    self.shown = frame.start()
                    return lines
            assert time.time() < end, f"waited for {texts!r} on {self.columns} x {self.rows}; there stands {lines!r}"
            self.read()

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


def at_a_terminal(columns, rows):
    """Whatever is asked for, the verdicts stay on the screen."""
    if os.path.exists(f"{kit}/.odori_state"):
        os.remove(f"{kit}/.odori_state")  # no hints taken
    watch = Watch("--lang", "en", columns=columns, rows=rows)

    def shows(*texts, verdict="PASS"):
        lines = watch.shows(*texts, "the speedup", "q quit")
        assert [line[:2] for line in lines[1:9]] == [f" {n}" for n in range(1, 9)], lines
        assert "UNFILLED" in lines[1] and verdict in lines[8], lines

    shows("Waiting", "Next: fill in blank 1", verdict="UNFILLED")
    fill("select=1:mpiprocs=2:ompthreads=1")
    shows("Waiting", "WRONG", "as in task 2", verdict="WRONG")
    fill("select=1:mpiprocs=1:ompthreads=2")
    shows("Waiting", "PASS")

    for step in 1, 2:  # a hint for the first blank that isn't right, one more each time
        watch.press("h")
        shows(f"blank 1: hint {step} of 3")
    watch.press("s")
    shows("Task 1, multi_gpu")
    watch.press("cs")  # the second key waits for the end of the check, and is named until then
    shows("Checking ... 0 s, then s")
    shows("Task 1, multi_gpu", "Waiting")
    watch.press("o")
    shows("answer to blank 1?")
    watch.press("n")
    shows("Next: fill in blank 1")
    watch.press("O")
    shows("answer to blank 1?")
    watch.press("y")
    shows("multi_gpu, blank 1: One iterator a device")
    if rows == 20:
        watch.press(" ")  # the question fills the screen
    shows("split_dataset_n_random")
    for key in "\033[A", "\033[B", "\033[6~", "\033[5~", "\033[15~", "\033", "?", "\u3042", "\x04":
        watch.press(key)
    watch.press("r")
    shows("Checking")
    shows("Waiting", "Next: fill in blank 1")
    watch.resize(columns + 20, rows - 4)
    shows("Waiting")
    watch.resize(30, 5)
    watch.shows("multi_gpu: 5 of")
    watch.resize(columns, rows)

    with open(script) as file:
        whole = file.read()
    with open(script, "w") as file:  # half-written for longer than a look takes
        file.write("")
        file.flush()
        time.sleep(0.5)
        file.write(whole)
    shows("Checking")
    shows("Waiting")
    watch.press("q")
    lines = watch.shows("Bye.")
    assert "PASS" in lines[8], lines
    watch.ends_with(0)
    fill("PUT_YOUR_CODE")


def commands_stay_whole():
    watch = Watch("--lang", "en", columns=60)
    watch.shows("Waiting", "q quit")
    watch.press("s")
    watch.shows("To check after each save: ./odori watch multi_gpu")
    watch.press("q")
    watch.ends_with(0)


def of_a_task_without_a_speedup():
    watch = Watch("--lang", "en", task="ring")
    watch.shows("Waiting", "s status, o answer, q quit")
    watch.press("r")
    watch.press("s")
    shown = "\n".join(watch.shows("Task 3, ring"))
    assert "speedup" not in shown, shown
    watch.press("q")
    watch.ends_with(0)


def in_japanese():
    watch = Watch("--lang", "ja", columns=60, rows=20)
    fill("select=4:mpiprocs=1")
    lines = watch.shows("保存を待っています", "WRONG", "q 終了")
    assert "1  学習データのイテレータ" in lines[1], lines
    watch.press("h")
    watch.shows("ヒント 3 / 3")
    watch.press("q")
    watch.ends_with(0)
    fill("PUT_YOUR_CODE")


def on_a_terminal_that_cannot_be_drawn_on():
    watch = Watch("--lang", "en", terminal="dumb")
    shown = watch.expect("q quit")
    assert "UNFILLED" in shown and "\033" not in shown, shown
    watch.press("s")
    assert "blank  verdict" in watch.expect("q quit")
    watch.press("q")
    watch.expect("Bye.")
    watch.ends_with(0)


def interrupted():
    watch = Watch("--lang", "ja")
    watch.shows("保存を待っています")
    watch.press("\x03")
    watch.ends_with(130)
    watch = Watch("--lang", "en")
    watch.expect("Checking")
    os.kill(watch.process.pid, signal.SIGTERM)
    watch.ends_with(143)


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
at_a_terminal(60, 20)
at_a_terminal(100, 40)
commands_stay_whole()
of_a_task_without_a_speedup()
in_japanese()
on_a_terminal_that_cannot_be_drawn_on()
interrupted()
without_a_terminal()
print("It watches.")
