#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A class of twelve, in each of the four forms of class_forms.py: every mark is the one worked out by hand, and the files
for the platforms have their columns.

    class_forms_test.py BUILD WORK

Each answer is judged once: the records of the first student who has it, in the first form, are put where the others are
looked for, so that only answers with other texts are judged.
"""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

import class_forms

BUILD, WORK = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
TASKS = {"multi_gpu": (class_forms.PROGRAM, class_forms.SCRIPT), "ring": (class_forms.RING,)}
PLACES = {"moodle": "{0.name}_{0.number}", "gradescope": "submission_9{0.number}", "github": "tasks-{0.user}", "shared": "{0.user}"}


def answer_of(student, task):
    """What the marks and flags of two students have in common: where their files are, and the texts of this task's."""
    names = [class_forms.name_of(file) for file in TASKS[task]]
    return sorted(student.files), [data for path, (data, _) in student.files.items() if path.rsplit("/", 1)[-1] in names]


def lend_records(form, judged):
    """The records of the same answers, as if this batch had been stopped after them."""
    results = WORK / form
    (results / "lock").touch()
    (results / "batch.json").write_text((WORK / "moodle/batch.json").read_text())
    for student in class_forms.students():
        for task in TASKS:
            same = [other for other in judged if answer_of(other, task) == answer_of(student, task)]
            if not same:
                continue
            record = json.loads((WORK / "moodle/students" / PLACES["moodle"].format(same[0]) / f"{task}.json").read_text())
            folder = results / "students" / PLACES[form].format(student)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{task}.json").write_text(json.dumps({**record, "student": folder.name}))


def rows(file):
    return list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines(keepends=True)))


class ClassForms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        (WORK / "forms").mkdir(parents=True)
        cls.expected = {s.name: s.mark for s in [*class_forms.students(), class_forms.ABSENT]}
        for form, write in class_forms.FORMS.items():
            class_forms.write_settings(WORK / form, form)
            submissions, judged = write(WORK / "forms"), class_forms.students()
            if form == "moodle":
                judged = judged[:1]
                cls.grade(form, submissions, "--students", PLACES[form].format(*judged))
            lend_records(form, judged)
            cls.grade(form, submissions)
        assert not (WORK / "moodle/history").exists(), "a record was lent to somebody with another answer, and judged again"

    @staticmethod
    def grade(form, submissions, *flags):
        command = [BUILD / "bin/odori_classroom", submissions, "--out", WORK / form, "--build", BUILD, *flags]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TZ": "UTC"})
        print(f"--- {form}\n{ended.stdout.decode()}", flush=True)
        assert ended.returncode == 0, ended.returncode

    def students(self, form):
        return {s["name"]: s for s in json.loads((WORK / form / "results.json").read_text())["students"]}

    def test_every_mark_is_the_one_worked_out_by_hand(self):
        for form in class_forms.FORMS:
            marks = {name: round(student["points"], 2) for name, student in self.students(form).items()}
            self.assertEqual(marks, self.expected, form)

    def test_all_reports_agree(self):
        for form in class_forms.FORMS:
            table = rows(WORK / form / "marks.csv")
            self.assertEqual({row["name"]: float(row["total"]) for row in table}, self.expected, form)
            for row in table:
                gradescope = json.loads((WORK / form / "students" / row["folder"] / "results.json").read_text())
                self.assertEqual(gradescope["score"], float(row["total"]), row)
                self.assertEqual(gradescope["extra_data"]["max_score"], 100)
                page = (WORK / form / "students" / row["folder"] / "report.html").read_text()
                self.assertIn(f"<b>{row['total']} <small>/ 100</small></b>", page)

    def test_a_missing_script_is_missing(self):
        for form in ("moodle", "gradescope", "shared"):
            record = self.students(form)["Mei Suzuki"]["tasks"]["multi_gpu"]["record"]
            self.assertEqual(record["check"]["verdicts"][7]["verdict"], "MISSING", form)

    def test_the_file_that_was_marked_is_shown_with_the_others(self):
        for form in ("moodle", "gradescope", "shared"):
            record = self.students(form)["Ito Hanako"]["tasks"]["multi_gpu"]["record"]
            self.assertEqual(record["files"][0]["taken"], "train_cifar_multi_gpu (1).cpp", form)
            self.assertEqual([other["file"] for other in record["files"][0]["others"]], ["train_cifar_multi_gpu.cpp"])
            self.assertIn("flag_several_files", [flag["key"] for flag in record["flags"]])
        record = self.students("github")["B. Jun"]["tasks"]["multi_gpu"]["record"]
        self.assertEqual(record["files"][0]["taken"], "homework.zip/train_cifar_multi_gpu.cpp")
        self.assertEqual([other["filled"] for other in record["files"][0]["others"]], [False])

    def test_files_for_upload_have_the_columns_of_the_platforms(self):
        # Moodle: importgradeslib.php finds these by their headings; the identifier ends in the participant's number.
        moodle = rows(WORK / "moodle/upload/moodle.csv")
        self.assertLessEqual({"Identifier", "Full name", "Email address", "Grade", "Last modified (grade)", "Feedback comments"},
                             set(moodle[0]))
        self.assertEqual({row["Identifier"]: float(row["Grade"]) for row in moodle},
                         {f"Participant {s.number}": s.mark for s in [*class_forms.students(), class_forms.ABSENT]})
        self.assertIn("multi_gpu was submitted 2 days late: 20 points deducted.", {r["Full name"]: r for r in moodle}["Ana Garcia"]["Feedback comments"])
        self.assertIn("told me how", {r["Full name"]: r for r in moodle}["Lee Ann"]["Feedback comments"])
        # Canvas: gradebook_importer.rb wants Student, ID, SIS User ID and SIS Login ID, and Section last before assignments.
        canvas = list(csv.reader((WORK / "github/upload/canvas.csv").read_text().splitlines()))
        self.assertEqual(canvas[0], ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Tasks 1 and 3"])
        self.assertIn("Points Possible", canvas[1][0])
        self.assertEqual(canvas[1][5], "100")
        self.assertEqual({row[0]: float(row[5]) for row in canvas[2:]}, self.expected)
        gradescope = rows(WORK / "gradescope/upload/gradescope.csv")
        self.assertEqual({row["Email"]: float(row["Total Score"]) for row in gradescope},
                         {s.email: s.mark for s in [*class_forms.students(), class_forms.ABSENT]})
        self.assertEqual({row["Max Points"] for row in gradescope}, {"100"})

    def test_feedback_is_in_moodles_layout(self):
        with zipfile.ZipFile(WORK / "moodle/feedback.zip") as archive:
            names = archive.namelist()
            self.assertIn("田中 太郎_4001_assignsubmission_file_/report.html", names)
            for name in names:
                # importziplib.php: the first part of the path is NAME_NUMBER_PLUGIN_NAME_
                _, number, plugin, kind, rest = name.split("/")[0].split("_", 4)
                self.assertTrue(number.isdigit() and (plugin, kind, rest) == ("assignsubmission", "file", ""), name)
            page = archive.read("田中 太郎_4001_assignsubmission_file_/report.html").decode()
            self.assertIn("<b>100 <small>/ 100</small></b>", page)
        self.assertEqual(len([name for name in names if name.endswith("/report.html")]), 13)


if __name__ == "__main__":
    unittest.main(verbosity=2)
