# SPDX-License-Identifier: Apache-2.0
"""A class of twelve submissions in the four forms in which platforms hand them out: a zip of Moodle's, an export of
Gradescope's, clones of GitHub Classroom's, and a shared folder. Everybody's mark is worked out by hand.

    class_forms.py FOLDER       writes FOLDER/{moodle,gradescope,github,shared}
"""

import datetime
import io
import json
import os
import pathlib
import re
import sys
import zipfile

KIT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM, SCRIPT = "exercises/01_multi_gpu/train_cifar_multi_gpu.cpp", "jobscripts/run_multi_gpu_training.sh"
RING = "exercises/03_ring/ring.cpp"
SOLUTIONS = {PROGRAM: "solutions/01_multi_gpu/train_cifar_multi_gpu.cpp",
             SCRIPT: "solutions/01_multi_gpu/run_multi_gpu_training.sh", RING: "solutions/03_ring/ring.cpp"}
SETTINGS = {"title": "Tasks 1 and 3", "language": "en", "tasks": {"multi_gpu": 2, "ring": 1}, "speedup": 0,
            "deadline": "2026-12-01T18:00Z", "late": "10%/day", "roster": ["roster.csv", "times.csv"]}


def utc(day, hour):
    """A time of November 2026: 31 is 1 December."""
    return datetime.datetime(2026, 11, 1, hour, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=day - 1)


IN_TIME, EARLY, LATE = utc(30, 12), utc(25, 9), utc(33, 6)  # LATE: a day and a half after the deadline


def blanks(text):
    """{number: the lines between the question and END BLANK}, by the marks."""
    found, number, lines = {}, 0, []
    for line in text.splitlines(keepends=True):
        mark = re.match(r"\s*(?://|#) BLANK (\d+):", line)
        if mark:
            number, lines = int(mark[1]), []
        elif number and re.match(r"\s*(?://|#) END BLANK", line):
            found[number], number = "".join(lines), 0
        elif number and (lines or not re.match(r"\s*(?://|# )", line)):
            lines.append(line)
    return found


def answer(file, only=None, **other):
    """The exercise with the kit's answers in its blanks, or in `only` these; other={"b8": TEXT} fills in others."""
    text = (KIT / file).read_text()
    empty, right = blanks(text), blanks((KIT / SOLUTIONS[file]).read_text())
    at = 0
    for number in empty:
        fill = other.get(f"b{number}", right[number] if only is None or number in only else empty[number])
        at = text.index(empty[number], text.index(f"BLANK {number}:", at))
        text = text[:at] + fill + text[at + len(empty[number]):]
    return text


def unfilled(file):
    return (KIT / file).read_text()


def name_of(file):
    return file.rsplit("/", 1)[1]


def zipped(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, IN_TIME.timetuple()[:6]), text)
    return data.getvalue()


class Student:
    """`files`: {path: (text or bytes, time)}; `clone`: what a clone has on top of the kit instead of these."""

    def __init__(self, number, name, user, files, mark, clone=None, submitted=IN_TIME):
        self.number, self.name, self.user, self.mark, self.submitted = number, name, user, mark, submitted
        self.email = f"{user}@example.org"
        self.files = {path: text if isinstance(text, tuple) else (text, submitted) for path, text in files.items()}
        self.clone = {path: data for path, (data, _) in self.files.items()} if clone is None else clone


def mark(multi_gpu, ring):
    """The tasks have the weights 2 and 1."""
    return round((2 * multi_gpu + ring) / 3, 2)


def students():
    """Points of multi_gpu without a speedup, blank by blank, of 100: 31.25, 5, 2.5, 2.5, 25, 25, 2.5 and 6.25 (the job
    script); of ring: 15, 10, 15, 15, 10, 15, 10, 10."""
    right = {PROGRAM: answer(PROGRAM), SCRIPT: answer(SCRIPT), RING: answer(RING)}
    flat = {name_of(file): text for file, text in right.items()}
    half = {PROGRAM: answer(PROGRAM, [1, 2]), SCRIPT: answer(SCRIPT)}
    outside = right[PROGRAM].replace("int main(", 'void hello() { system("id"); }\n\nint main(')
    windows = {name: text.replace("\n", "\r\n").encode() for name, text in flat.items()}
    program = name_of(PROGRAM)
    windows[program] = "// 佐藤の解答\r\n".encode("cp932") + windows[program]
    not_mean = {**right, RING: answer(RING, b8="  (void)n;\n")}
    return [
        Student(4001, "田中 太郎", "tanaka", right, mark(100, 100)),
        # A corrected copy, five days newer, next to the old file. Git has one version. No ring.
        Student(4002, "Ito Hanako", "ito",
                {program: (answer(PROGRAM, [2]), EARLY), "train_cifar_multi_gpu (1).cpp": right[PROGRAM],
                 name_of(SCRIPT): right[SCRIPT]}, mark(100, 0), {PROGRAM: right[PROGRAM], SCRIPT: right[SCRIPT]}),
        # Everything in a zip, in a clone next to the untouched exercises.
        Student(4003, "B. Jun", "bjun", {"homework.zip": zipped(flat)}, mark(100, 100)),
        # No job script (6.25); ring up to blank 4. In a clone at the top.
        Student(4004, "Mei Suzuki", "meisuzuki",
                {program: right[PROGRAM], name_of(RING): answer(RING, [1, 2, 3, 4])}, mark(93.75, 55)),
        Student(4005, "Jörg Müller", "mueller", {**right, PROGRAM: outside}, mark(100, 100)),
        Student(4006, "O'Brien, Pat", "obrien", right, mark(100, 100)),
        # The job script is as it was.
        Student(4007, "Kim Min", "kimmin", {**right, SCRIPT: unfilled(SCRIPT)}, mark(93.75, 100)),
        # A document, and nothing to mark.
        Student(4008, "Hana Novak", "hana", {"report.docx": b"PK"}, mark(0, 0)),
        # Shift-JIS and line ends of Windows.
        Student(4009, "佐藤 健", "satok", windows, mark(100, 100), {file: windows[name_of(file)] for file in right}),
        # Two days begun after the deadline, 10 points each, of both tasks.
        Student(4010, "Ana Garcia", "garcia", right, mark(80, 80), submitted=LATE),
        # Blanks 1 and 2 (36.25) and the job script (6.25). Ring: an override gives 10 of 100.
        Student(4011, "Lee Ann", "leeann", half, mark(42.5, 10)),
        # The sums aren't divided (10).
        Student(4012, "Baba Ken", "baba", not_mean, mark(100, 90)),
    ]


ABSENT = Student(4013, "Nobody Else", "nobody", {}, 0)  # in the list of students alone
OVERRIDES = "student,task,blank,points,file,comment\nleeann@example.org,ring,,10,,told me how\n"


def write_settings(results, form):
    """What an instructor puts into RESULTS: settings, overrides, a list of students, and what the platform says when."""
    results.mkdir(parents=True)
    (results / "course.json").write_text(json.dumps(SETTINGS))
    (results / "overrides.csv").write_text(OVERRIDES)
    everybody = [*students(), ABSENT]
    rows = ["identifier,github_username,github_id,name"] + [f'{s.email},{s.user},,"{s.name}"' for s in everybody]
    times = ["github_username,submission_timestamp"]
    if form == "moodle":
        rows = ["Identifier,Full name,Email address,Status,Grade"]
        rows += [f'Participant {s.number},"{s.name}",{s.email},,' for s in everybody]
    if form == "github":
        times += [f"{s.user},{s.submitted:%Y-%m-%d %H:%M:%S} UTC" for s in everybody if s is not ABSENT]
    (results / "roster.csv").write_text("\n".join(rows) + "\n")
    (results / "times.csv").write_text("\n".join(times) + "\n")


def write_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, time) in files.items():
            archive.writestr(zipfile.ZipInfo(name, time.timetuple()[:6]), data)


def write_tree(folder, files):
    for name, (data, time) in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        os.utime(path, (time.timestamp(), time.timestamp()))


def write_moodle(folder):
    """NAME_NUMBER_assignsubmission_file_/FILE, and a text typed online."""
    files = {f"{s.name}_{s.number}_assignsubmission_file_/{path}": data for s in students() for path, data in s.files.items()}
    files["田中 太郎_4001_assignsubmission_onlinetext_/onlinetext.html"] = ("<p>Done.</p>", IN_TIME)
    write_zip(folder / "moodle.zip", files)
    return folder / "moodle.zip"


def write_gradescope(folder):
    """One folder in the export for each submission, and who submitted them when."""
    metadata, files = "", {}
    for s in students():
        quoted = s.name.replace("'", "''")
        metadata += (f"submission_9{s.number}:\n  :submitters:\n  - :name: '{quoted}'\n    :sid: '{s.number}'\n"
                     f"    :email: {s.email}\n  :created_at: {s.submitted:%Y-%m-%d %H:%M:%S}.861687000 Z\n  :score: 0.0\n")
        files.update({f"assignment_1_export/submission_9{s.number}/{path}": data for path, data in s.files.items()})
    files["assignment_1_export/submission_metadata.yml"] = (metadata, LATE)
    write_zip(folder / "gradescope.zip", files)
    return folder / "gradescope.zip"


def write_github(folder):
    """A clone of the kit for each student, made now: the dates of files say nothing."""
    now = datetime.datetime.now(datetime.timezone.utc)
    kit = {file: unfilled(file) for file in (PROGRAM, SCRIPT, RING)}
    kit |= {".git/HEAD": "ref: refs/heads/main\n", "odori": "#!/bin/bash\n", "lib/comm/ring.cpp": "// of the library\n"}
    kit |= {SOLUTIONS[file]: unfilled(SOLUTIONS[file]) for file in SOLUTIONS}
    for s in students():
        write_tree(folder / "github" / f"tasks-{s.user}", {path: (data, now) for path, data in {**kit, **s.clone}.items()})
    return folder / "github"


def write_shared(folder):
    for s in students():
        write_tree(folder / "shared" / s.user, s.files)
    return folder / "shared"


FORMS = {"moodle": write_moodle, "gradescope": write_gradescope, "github": write_github, "shared": write_shared}

if __name__ == "__main__":
    for form, write in FORMS.items():
        pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        print(write(pathlib.Path(sys.argv[1])))
