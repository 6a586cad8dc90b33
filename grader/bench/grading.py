# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of ./odori grade share: a class, a batch, and what its records say."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "lib/bench"))
from processes import descendants, gone_within  # noqa: F401, E402: their users have them from here


def make_class(build, students, folder):
    """Writes FOLDER/class and returns the verdicts that are known: {student: {task: {blank: [verdict]}}}."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([build / "bin/odori_make_class", str(students), folder], check=True)
    return json.loads((folder / "expected.json").read_text())


def prepare(results, **settings):
    """RESULTS with a course.json: prepare(results, speedup=0)."""
    pathlib.Path(results).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(results) / "course.json").write_text(json.dumps(settings))


def start(build, submissions, results, *flags, scratch=None):
    """The batch as a process in a session of its own, its output in a pipe. It builds and runs answers below `scratch`."""
    command = [build / "bin/odori_classroom", submissions, "--out", results, "--build", build, "--lang", "en", *flags]
    environment = {**os.environ, **({"TMPDIR": str(scratch)} if scratch else {})}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, env=environment
    )


def records(results):
    """{(student, task): record} of all records that are there, whole."""
    return {
        (path.parent.name, path.stem): json.loads(path.read_text())
        for path in pathlib.Path(results).glob("students/*/multi_*.json")
    }


def marks(record):
    """What must be the same however often a batch was killed."""
    check = record["check"] or {"verdicts": []}
    return [record["state"]] + [(v["blank"], v["verdict"], v["points"], v["of"]) for v in check["verdicts"]]


def kill(process, everything):
    """SIGKILL, to the batch alone or to all that it started as well, with nobody left to clean up."""
    targets = [process.pid] + (descendants(process.pid) if everything else [])
    for pid in targets:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.stdout.close()
    process.wait()
    return targets[1:]


def left_of(scratch, seconds):
    """Processes that, after so long, still have to do with what a batch builds and runs there, whoever started them."""
    words, deadline = f"{scratch}/".encode(), time.time() + seconds
    while True:
        left = []
        for command in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if words in command.read_bytes():
                    left.append(int(command.parent.name))
            except OSError:
                pass
        if not left or time.time() > deadline:
            return left
        time.sleep(0.1)
