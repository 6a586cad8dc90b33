#!/usr/bin/env python3
"""./odori grade, from outside: a class is marked, stopped, resumed, refused, marked again.

    grade_test.py BUILD WORK
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import grading

BUILD, WORK = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
KIT = pathlib.Path(__file__).resolve().parents[2]


def grade(*flags, build=BUILD, language="en", environment={}):
    """Exit code and output."""
    command = [BUILD / "bin/odori_grader", "grade", "--build", build, "--lang", language, *flags]
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
        self.flags = [self.submissions, "--out", self.results, "--no-timings"]

    def record(self, student, task):
        return json.loads((self.results / "students" / student / f"{task}.json").read_text())

    def points(self, student, task):
        return sum(verdict["points"] for verdict in self.record(student, task)["check"]["verdicts"])

    def test_a_class_is_marked_and_marked_again(self):
        hand_in("青木", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp", "solutions/jobscripts/run_multi_gpu_training.sh")
        hand_in("baba", "exercises/02_multi_node/train_cifar_multi_node.cpp")
        code, output = grade(*self.flags)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.points("青木", "multi_gpu"), 80, output)
        self.assertEqual(self.points("baba", "multi_node"), 0)
        self.assertEqual(self.record("baba", "multi_node")["check"]["verdicts"][-2]["verdict"], "COMPILE", "no script")
        self.assertEqual(self.record("baba", "multi_gpu")["state"], "absent")
        for file in ("report.html", "marks.csv", "results.json", "students/青木/report.html", "students/青木/results.json"):
            self.assertTrue((self.results / file).exists(), file)

        # Nothing is marked twice; what is handed in later is.
        before = {path: path.read_bytes() for path in self.results.glob("students/*/multi_*.json")}
        hand_in("baba", "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp")
        code, output = grade(*self.flags, language="ja")
        self.assertEqual(code, 0, output)
        self.assertIn("baba、multi_gpu: 80 点中 0 点", output)
        self.assertEqual(output.count("点中"), 1, output)
        changed = [path for path, text in before.items() if path.read_bytes() != text]
        self.assertEqual([str(path.relative_to(self.results)) for path in changed], ["students/baba/multi_gpu.json"])
        self.assertEqual(json.loads((self.results / "history/baba/multi_gpu.1.json").read_text())["state"], "absent")

        # As if an older version of the kit had been too hard on somebody.
        record = self.record("青木", "multi_gpu")
        record["check"]["verdicts"][2].update(verdict="WRONG", points=0, key="x", values={})
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
        self.assertRegex(output, r"青木 +multi_gpu +3 +WRONG 0/10 +PASS 10/10")
        self.assertRegex(output, r"青木 +in all +70/160 +80/160")
        self.assertIn("1 change for 1 student, +10 points", output)
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
        self.assertIn("To mark on with this version", grade(*self.flags, "--regrade")[1])
        code, output = grade(*self.flags, "--regrade", "--apply")
        self.assertEqual((code, output), (0, "Nothing to change.\n"))
        self.assertEqual(sorted(self.results.glob("history/*/*")), kept)
        self.assertEqual(grade(*self.flags)[0], 0, "it is this version's now")

    def test_ctrl_c_ends_everything_and_says_how_to_go_on(self):
        for student in "abcdef":
            hand_in(student, "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        batch = grading.start(BUILD, self.submissions, self.results, "--no-timings")
        time.sleep(2)
        code, output = grade(*self.flags)  # somebody else
        self.assertEqual(code, 20)
        self.assertIn(f"process {batch.pid}", output)
        started = grading.descendants(batch.pid)
        self.assertTrue(started)
        began = time.time()
        os.kill(batch.pid, signal.SIGINT)
        output = batch.communicate()[0].decode()
        self.assertLess(time.time() - began, 2 if os.getloadavg()[0] < os.cpu_count() else 10)
        self.assertEqual(batch.returncode, 130)
        self.assertIn("the same command goes on", output)
        self.assertTrue(grading.gone_within(started, 1))

    def test_a_fault_of_the_machine_costs_nobody_a_mark(self):
        hand_in("aoki", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        # A build folder whose compiler isn't there.
        broken = WORK / "build"
        (broken / "grader").mkdir(parents=True)
        (broken / "bin").symlink_to(BUILD / "bin")
        for name in ("compile.command", "link.command"):
            folder, _, *words = (BUILD / "grader" / name).read_text().splitlines()
            (broken / "grader" / name).write_text("\n".join([folder, "/nowhere/g++", *words]) + "\n")
        flags = [*self.flags, "--tasks", "multi_gpu"]
        code, output = grade(*flags, build=broken)
        self.assertEqual(code, 20, output)
        record = self.record("aoki", "multi_gpu")
        self.assertEqual((record["state"], record["attempts"], record["check"]), ("ungraded", 3, None))
        self.assertIn("three times over", output)
        self.assertEqual(json.loads((self.results / "students/aoki/results.json").read_text()).get("score"), None)
        code, output = grade(*flags)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.points("aoki", "multi_gpu"), 75)  # without the script

    def test_the_end_sums_up_who_needs_a_look(self):
        right = hand_in("aoki", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp", "solutions/jobscripts/run_multi_gpu_training.sh")
        program = (right / "train_cifar_multi_gpu.cpp").read_text()
        for student, change in (("baba", lambda text: text.replace("  // END BLANK", '  std::system("id");\n  // END BLANK', 1)),
                                ("chiba", lambda text: text.replace("BLANK", "BRANK"))):
            (hand_in(student) / "train_cifar_multi_gpu.cpp").write_text(change(program))
        code, output = grade(*self.flags)
        self.assertEqual(code, 0, output)
        self.assertEqual(output.splitlines()[-3:], [
            "Nobody handed in multi_node. If you didn't ask for it: --tasks multi_gpu",
            "3 answers marked (2 need a look), 3 not handed in, 0 ungraded.",
            f"Open {self.results}/report.html."])
        self.assertIn("aoki, multi_gpu: 80 of 80 points", output)
        self.assertIn("chiba, multi_gpu: 0 of 80 points; needs a look", output)
        flags = {student: [(flag["key"], flag["values"]) for flag in self.record(student, "multi_gpu")["flags"]]
                 for student in ("aoki", "baba", "chiba")}
        self.assertEqual(flags, {"aoki": [], "baba": [("flag_forbidden", {"blank": "1", "word": "system"})],
                                 "chiba": [("flag_hidden", {"n": "7"})]})

    def test_refusals(self):
        hand_in("aoki", "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp")
        code, output = grade(self.submissions, "--out", self.submissions / "results")
        self.assertEqual((code, "within the submissions" in output), (2, True), output)
        code, output = grade(*self.flags, "--students", "aoki, aok1")
        self.assertEqual((code, '"aok1"' in output, ": aoki." in output), (2, True, True), output)
        self.assertFalse(self.results.exists())
        code, output = grade(*self.flags, environment={"PATH": "/nowhere"})
        self.assertEqual((code, "--unsafe" in output), (20, True), output)
        self.assertEqual(grade(self.submissions)[0], 2)
        code, output = grade(*self.flags, "--regrade")
        self.assertEqual(code, 2, output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
