#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./odori grade, from outside: a class is marked, stopped, resumed, refused, marked again.

    grade_test.py BUILD WORK
"""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import grading

BUILD, WORK = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
KIT = pathlib.Path(__file__).resolve().parents[2]


def grade(*flags, build=BUILD, language="en", environment={}):
    """Exit code and output."""
    command = [BUILD / "bin/odori_classroom", "--build", build, "--lang", language, *flags]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})
    return ended.returncode, ended.stdout.decode()


def hand_in(student, *files):
    folder = WORK / "class" / student
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copy(KIT / file, folder)
    return folder


class Grade(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        self.submissions, self.results = WORK / "class", WORK / "results"
        self.flags = [self.submissions, "--out", self.results]
        grading.prepare(self.results, speedup=0)

    def record(self, student, task):
        return json.loads((self.results / "students" / student / f"{task}.json").read_text())

    def points(self, student, task):
        return sum(verdict["points"] for verdict in self.record(student, task)["check"]["verdicts"])

    def test_a_class_is_marked_and_marked_again(self):
        hand_in("青木", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp", "solutions/01_multi_gpu/run_multi_gpu_training.sh")
        hand_in("baba", "exercises/02_multi_node/train_cifar_multi_node.cpp")
        code, output = grade(*self.flags)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.points("青木", "multi_gpu"), 80, output)
        self.assertEqual(self.points("baba", "multi_node"), 0)
        self.assertEqual(self.record("baba", "multi_node")["check"]["verdicts"][-2]["verdict"], "MISSING", "no script")
        self.assertEqual(self.record("baba", "multi_gpu")["state"], "absent")
        for file in ("report.html", "marks.csv", "results.json", "students/青木/report.html", "students/青木/results.json"):
            self.assertTrue((self.results / file).exists(), file)

        # Nothing is marked twice; what is handed in later is.
        before = {path: path.read_bytes() for path in self.results.glob("students/*/multi_*.json")}
        hand_in("baba", "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp")
        code, output = grade(*self.flags, language="ja")
        self.assertEqual(code, 0, output)
        self.assertIn("baba、multi_gpu: 100 点中 0 点", output)
        self.assertEqual(output.count("点中"), 1, output)
        changed = [path for path, text in before.items() if path.read_bytes() != text]
        self.assertEqual([str(path.relative_to(self.results)) for path in changed], ["students/baba/multi_gpu.json"])
        self.assertEqual(json.loads((self.results / "history/baba/multi_gpu.1.json").read_text())["state"], "absent")

        # As if an older version of the kit had been too hard on somebody.
        record = self.record("青木", "multi_gpu")
        record["check"]["verdicts"][2].update(verdict="WRONG", points=0, key="x", values={})
        record["content"] = "older"
        harsh = json.dumps(record)
        path = self.results / "students/青木/multi_gpu.json"
        path.write_text(harsh)
        batch = json.loads((self.results / "batch.json").read_text())
        (self.results / "batch.json").write_text(json.dumps({**batch, "kit": "older"}))
        code, output = grade(*self.flags)
        self.assertEqual(code, 2)
        self.assertIn("--regrade shows", output)
        code, output = grade(*self.flags, "--regrade")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"青木 +multi_gpu +3 +WRONG 0/2.5 +PASS 2.5/2.5")
        self.assertRegex(output, r"青木 +in all +48.75/100 +50/100")
        self.assertIn("1 change for 1 student, +1.25 points", output)
        self.assertEqual(path.read_text(), harsh, "nothing is changed yet")
        code, output = grade(*self.flags, "--regrade", "--apply")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.points("青木", "multi_gpu"), 80)
        self.assertEqual((self.results / "history/青木/multi_gpu.1.json").read_text(), harsh)
        self.assertEqual(grade(*self.flags)[0], 0, "it is this version's now")
        self.assertEqual(grade(*self.flags, "--regrade", "--apply")[0], 2, "there is nothing more to apply")

        # Without a change, nothing else is said; but another version has to be taken.
        kept = sorted(self.results.glob("history/*/*"))
        code, output = grade(*self.flags, "--regrade")
        self.assertEqual((code, output.splitlines()[-1]), (0, "Nothing would change."), output)
        self.assertNotIn("--apply", output)
        (self.results / "batch.json").write_text(json.dumps({**batch, "kit": "older"}))
        self.assertIn("To go on with this version", grade(*self.flags, "--regrade")[1])
        code, output = grade(*self.flags, "--regrade", "--apply")
        self.assertEqual((code, output), (0, "Nothing to change.\n"))
        self.assertEqual(sorted(self.results.glob("history/*/*")), kept)
        self.assertEqual(grade(*self.flags)[0], 0, "it is this version's now")

    def percents(self):
        lines = (self.results / "marks.csv").read_text(encoding="utf-8-sig").splitlines()
        column = lines[0].split(",").index("total")
        return {line.split(",")[0]: line.split(",")[column] for line in lines[1:]}

    def test_percentages_change_only_by_what_was_shown(self):
        script = "solutions/01_multi_gpu/run_multi_gpu_training.sh"  # read, not run: marked at once
        hand_in("aoki", script)
        hand_in("baba", "jobscripts/run_multi_gpu_training.sh")
        grading.prepare(self.results, tasks={"multi_gpu": 1}, speedup=0)
        self.assertEqual(grade(*self.flags)[0], 0)
        before = self.percents()
        self.assertEqual(before, {"aoki": "6.25", "baba": "0"})
        # Other settings, for some or for all, change nothing without being asked.
        for settings in ({"tasks": {"multi_gpu": 1}}, {"speedup": 0}, {"tasks": {"multi_gpu": 1}, "speedup": 0, "late": "refuse"}):
            grading.prepare(self.results, **settings)
            for more in ([], ["--students", "baba"], ["--regrade", "--students", "baba"]):
                code, output = grade(*self.flags, *more)
                self.assertEqual(code, 2, output)
                self.assertIn("has changed since the marks were made: `", output)
                self.assertEqual(self.percents(), before)
        # Without the file, a class keeps what it was marked by.
        (self.results / "course.json").unlink()
        self.assertEqual(grade(*self.flags)[0], 0)
        self.assertEqual(json.loads((self.results / "course.json").read_text())["tasks"], {"multi_gpu": 1})
        grading.prepare(self.results, speedup=0)  # two tasks now
        code, output = grade(*self.flags, "--regrade")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"aoki +in all +6.25/100 +3.13/100")
        self.assertEqual(self.percents(), before)
        code, output = grade(self.submissions, "--out", self.results, "--regrade", "--apply")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.percents(), {"aoki": "3.13", "baba": "0"}, "what was shown")
        self.assertEqual(grade(*self.flags)[0], 0)
        # What is marked meanwhile makes a regrade's table untrue.
        self.assertEqual(grade(*self.flags, "--regrade")[0], 0)
        hand_in("baba", script)
        code, output = grade(*self.flags)
        self.assertIn("baba, multi_gpu: 6.25 of 100 points; needs a look (instead of 0/100: its files changed)", output)
        self.assertEqual(grade(*self.flags, "--regrade", "--apply")[0], 2)

    def test_nothing_of_this_machine_is_in_what_students_get(self):
        text = (KIT / "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp").read_text()
        unfilled = (KIT / "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp").read_text()
        parts, empty = (program.split("  // END BLANK") for program in (text, unfilled))
        verdicts = {
            "words": [("  int x = ;\n", "COMPILE"), ('#include "/tmp/nowhere.h"\n', "WRONG"), ("  int nowhere(); nowhere();\n", "COMPILE")],
            "deeds": [("", "PASS"), ('  throw std::logic_error("/tmp/somewhere/x " __FILE__);\n', "CRASH"), ("  if (true)\n", "COMPILE")]}
        for student, added in verdicts.items():
            blanks = [part + code for part, (code, _) in zip(parts, added)] + empty[len(added):]
            (hand_in(student) / "train_cifar_multi_gpu.cpp").write_text("  // END BLANK".join(blanks))
        hand_in("missing", "solutions/01_multi_gpu/run_multi_gpu_training.sh")
        hand_in("absent", "README.md")
        hand_in("unfilled", "exercises/02_multi_node/train_cifar_multi_node.cpp")
        code, output = grade(*self.flags)
        self.assertEqual(code, 0, output)
        for student, added in verdicts.items():
            seen = self.record(student, "multi_gpu")["check"]["verdicts"]
            self.assertEqual([verdict["verdict"] for verdict in seen[:len(added)]], [verdict for _, verdict in added], output)
        for path in self.results.glob("students/*/*"):
            page = path.read_text()
            for place in (str(KIT), str(BUILD), str(WORK), "/tmp", str(pathlib.Path.home()) + "/"):
                for quoted in ("/tmp/nowhere.h", "/tmp/somewhere"):  # the student's own words
                    page = page.replace(quoted, "")
                self.assertNotIn(place, page, path)

    def test_waiting_for_another_batch_is_told(self):
        hand_in("aoki", "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp")
        home = WORK / "home"
        locks = home / ".cache/odori"
        locks.mkdir(parents=True)
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": ""}
        with open(locks / f"{socket.gethostname()}.machine", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            print("another machine, process 1", end="", file=lock, flush=True)
            command = [BUILD / "bin/odori_classroom", *self.flags, "--build", BUILD, "--lang", "en"]
            for end in ("interrupt", "release"):
                batch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
                limit = threading.Timer(60, batch.kill)  # seconds, for a batch that waits and says nothing of it
                limit.start()
                waiting = "another machine, process 1"
                self.assertTrue(any(waiting in line.decode() for line in batch.stdout), "it never said for whom it waits")
                limit.cancel()
                if end == "interrupt":
                    batch.send_signal(signal.SIGINT)
                    self.assertIn("the same command goes on", batch.communicate()[0].decode())
                    self.assertEqual(batch.returncode, 130)
                else:
                    fcntl.flock(lock, fcntl.LOCK_UN)
                    self.assertIn("aoki, multi_gpu: 0 of 100 points", batch.communicate()[0].decode())
                    self.assertEqual(batch.returncode, 0)

    def test_no_terminal_obeys_a_submission(self):
        hand_in("aoki\033[2J")
        for name in ("evil\033]0;x\007.cpp", "broken\033[31m.zip"):
            (hand_in("baba\n") / name).write_text("x")
        (self.submissions / "loose\033[1m.txt").write_text("x")
        code, output = grade(*self.flags)
        self.assertEqual(code, 0, output)
        self.assertNotIn("\033", output)
        self.assertIn("loose⟨U+001B⟩[1m.txt", output)
        for path in self.results.glob("**/*.*"):
            if path.is_file() and path.name != "batch.json" and path.suffix != ".zip":
                self.assertNotIn("\033", path.read_text(), path)

    def test_ctrl_c_ends_everything_and_says_how_to_go_on(self):
        for student in "abcdef":
            hand_in(student, "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        batch = grading.start(BUILD, self.submissions, self.results)
        self.addCleanup(batch.kill)
        # What it starts first tries the sandbox, before the results are its own.
        lock = self.results / "lock"
        while not (lock.exists() and lock.read_text() and (started := grading.descendants(batch.pid))):
            self.assertIsNone(batch.poll())
            time.sleep(0.1)
        code, output = grade(*self.flags)  # somebody else
        self.assertEqual(code, 20)
        self.assertIn(f"process {batch.pid}", output)
        started += grading.descendants(batch.pid)
        began = time.time()
        os.kill(batch.pid, signal.SIGINT)
        output = batch.communicate()[0].decode()
        self.assertLess(time.time() - began, 2 if os.getloadavg()[0] < os.cpu_count() else 30)
        self.assertEqual(batch.returncode, 130)
        self.assertIn("the same command goes on", output)
        self.assertTrue(grading.gone_within(started, 5))

    def test_a_fault_of_the_machine_costs_nobody_a_mark(self):
        hand_in("aoki", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        # A build folder whose compiler isn't there.
        broken = WORK / "build"
        (broken / "grader").mkdir(parents=True)
        (broken / "bin").symlink_to(BUILD / "bin")
        for name in ("compile.command", "link.command"):
            folder, _, *words = (BUILD / "grader" / name).read_text().splitlines()
            (broken / "grader" / name).write_text("\n".join([folder, "/nowhere/g++", *words]) + "\n")
        grading.prepare(self.results, tasks={"multi_gpu": 1}, speedup=0)
        flags = self.flags
        code, output = grade(*flags, build=broken)
        self.assertEqual(code, 20, output)
        record = self.record("aoki", "multi_gpu")
        self.assertEqual((record["state"], record["attempts"], record["check"]), ("ungraded", 3, None))
        self.assertIn("failed three times", output)
        self.assertEqual(json.loads((self.results / "students/aoki/results.json").read_text()).get("score"), None)
        code, output = grade(*flags)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.points("aoki", "multi_gpu"), 75)  # without the script

    def test_without_the_sandbox_nobody_gets_what_anothers_answer_has_built(self):
        for student in ("aoki", "baba"):
            hand_in(student, "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        build = WORK / "build"
        (build / "grader").mkdir(parents=True)
        (build / "bin").symlink_to(BUILD / "bin")
        for name in ("compile.command", "link.command"):
            (build / "grader" / name).symlink_to(BUILD / "grader" / name)
        grading.prepare(self.results, tasks={"multi_gpu": 1}, speedup=0)
        code, output = grade(*self.flags, "--unsafe", build=build)
        self.assertEqual(code, 0, output)
        self.assertEqual([self.points(student, "multi_gpu") for student in ("aoki", "baba")], [75, 75])
        self.assertEqual({path.name for path in (build / "grader").iterdir()}, {"compile.command", "link.command"})

    def test_the_end_sums_up_who_needs_a_look(self):
        right = hand_in("aoki", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp", "solutions/01_multi_gpu/run_multi_gpu_training.sh")
        program = (right / "train_cifar_multi_gpu.cpp").read_text()
        for student, change in (("baba", lambda text: text.replace("  // END BLANK", '  std::system("id");\n  // END BLANK', 1)),
                                ("chiba", lambda text: text.replace("BLANK", "BRANK"))):
            folder = hand_in(student, "solutions/01_multi_gpu/run_multi_gpu_training.sh")
            (folder / "train_cifar_multi_gpu.cpp").write_text(change(program))
        script = self.submissions / "chiba/run_multi_gpu_training.sh"
        script.write_text(script.read_text().replace("# END BLANK", "hostname\n# END BLANK", 1))
        code, output = grade(*self.flags)
        self.assertEqual(code, 0, output)
        self.assertEqual(output.splitlines()[-3:], [
            f'Nobody handed in multi_node. If you didn\'t ask for it, take it out of "tasks" in {self.results}/course.json.',
            "3 answers marked, 3 not handed in, 0 ungraded. 3 students need a look.",
            f"Open {self.results}/report.html."])
        self.assertIn("aoki, multi_gpu: 100 of 100 points", output)
        self.assertIn("chiba, multi_gpu: 6.25 of 100 points; needs a look", output)
        flags = {student: [(flag["key"], flag["values"]) for flag in self.record(student, "multi_gpu")["flags"]]
                 for student in ("aoki", "baba", "chiba")}
        self.assertEqual(flags, {"aoki": [], "baba": [("flag_unusual", {"blank": "1", "words": "`system`"})],
                                 "chiba": [("flag_hidden", {"n": "7"}), ("flag_unusual", {"blank": "8", "words": "`hostname`"})]})

    def test_refusals(self):
        hand_in("aoki", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        code, output = grade(self.submissions, "--out", self.submissions / "results")
        self.assertEqual((code, "within the submissions" in output), (2, True), output)
        code, output = grade(*self.flags, "--students", "aoki, aok1")
        self.assertEqual((code, '"aok1"' in output, "Names there: aoki\n" in output), (2, True, True), output)
        self.assertFalse((self.results / "lock").exists())
        code, output = grade(self.submissions / "aoki", "--out", self.results)
        self.assertEqual((code, "one student's folder" in output), (2, True), output)
        self.assertFalse((self.results / "lock").exists(), "nothing is left of what couldn't begin")
        code, output = grade(*self.flags, environment={"PATH": "/nowhere"})
        self.assertEqual((code, "--unsafe" in output), (20, True), output)
        self.assertEqual(grade(self.submissions)[0], 2)
        code, output = grade(*self.flags, "--regrade")
        self.assertEqual(code, 2, output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
