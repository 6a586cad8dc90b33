"""What the benchmarks of ./odori grade share: a class, a batch, and what its records say."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time


def make_class(build, students, folder):
    """Writes FOLDER/class and returns the verdicts that are known: {student: {task: {blank: [verdict]}}}."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([build / "bin/odori_make_class", str(students), folder], check=True)
    return json.loads((folder / "expected.json").read_text())


def start(build, submissions, results, *flags):
    """The batch as a process in a session of its own, its output in a pipe."""
    command = [build / "bin/odori_grader", "grade", submissions, "--out", results, "--build", build, "--lang", "en", *flags]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


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


def descendants(pid):
    """Of a process that lives, itself not included."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        except (OSError, IndexError):
            pass
    found, ahead = [], [pid]
    while ahead:
        more = children.get(ahead.pop(), [])
        found += more
        ahead += more
    return found


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


def gone_within(pids, seconds):
    """Have all of them ended?"""
    deadline = time.time() + seconds
    while any(state_of(pid) not in ("", "Z") for pid in pids):
        if time.time() > deadline:
            return False
        time.sleep(0.05)
    return True


def left_of(build, seconds):
    """Processes that still have to do with what is graded in this build folder, however they came to be."""
    words, deadline = f"{build}/grader/".encode(), time.time() + seconds
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


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
