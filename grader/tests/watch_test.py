#!/usr/bin/env python3
"""./odori watch at a terminal of its own: keys, saves, Ctrl-C, and without a terminal.

watch_test.py KIT ODORI_GRADER ODORI_CUT SCRATCH

Only the job script's blank is filled in here, which needs no build: so each check takes a moment only.
"""
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


class Watch:
    def __init__(self, *flags):
        self.child, self.terminal = pty.openpty()
        self.before = termios.tcgetattr(self.terminal)
        self.seen = ""
        self.process = subprocess.Popen(
            [grader, "watch", "multi_gpu", "--kit", kit, *flags],
            stdin=self.terminal, stdout=self.terminal, stderr=self.terminal,
            preexec_fn=lambda: (os.setsid(), __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0)))

    def expect(self, text):
        """What comes up to this text, which has to come."""
        end = time.time() + PATIENCE
        while text not in self.seen:
            assert time.time() < end, f"waited for {text!r}; there came {self.seen!r}"
            if select.select([self.child], [], [], 0.1)[0]:
                self.seen += os.read(self.child, 65536).decode(errors="replace")
        before, self.seen = self.seen.split(text, 1)
        return before

    def press(self, key):
        os.write(self.child, key.encode())

    def ends_with(self, code):
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
    watch = Watch("--lang", "en")
    shown = watch.expect("q quit")
    assert "\033[2J" in shown, "the screen isn't cleared"
    assert "UNFILLED" in shown
    fill("select=1:mpiprocs=2:ompthreads=1")
    assert "WRONG" in watch.expect("q quit")
    fill("select=1:mpiprocs=1:ompthreads=2")
    assert "PASS" in watch.expect("q quit")

    for step in 1, 2:  # a hint for the first blank that isn't right, one more each time
        watch.press("h")
        watch.expect(f"blank 1: hint {step} of 3")
        watch.expect("q quit")
    watch.press("s")
    assert "PASS" in watch.expect("q quit")
    watch.press("c")
    assert "\033[2J" in watch.expect("q quit")
    watch.press("o")
    watch.expect("blank 1?")
    watch.press("n")
    assert "split_dataset" not in watch.expect("q quit")
    watch.press("o")
    watch.expect("blank 1?")
    watch.press("y")
    assert "split_dataset_n_random" in watch.expect("q quit")

    with open(script) as file:
        whole = file.read()
    with open(script, "w") as file:  # half-written for longer than a look takes
        file.write("")
        file.flush()
        time.sleep(0.5)
        file.write(whole)
    assert "PASS" in watch.expect("q quit")
    watch.press("q")
    watch.expect("Bye.")
    watch.ends_with(0)


def interrupted():
    watch = Watch("--lang", "ja")
    watch.expect("q 終了")
    watch.press("\x03")
    watch.ends_with(130)
    watch = Watch("--lang", "en")
    watch.expect("Checking")
    os.kill(watch.process.pid, signal.SIGTERM)
    watch.ends_with(143)


def without_a_terminal():
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
subprocess.run([cut, "--kit", kit], check=True, stdout=subprocess.DEVNULL)
os.environ.pop("ODORI_STATE", None)
at_a_terminal()
interrupted()
without_a_terminal()
print("It watches.")
