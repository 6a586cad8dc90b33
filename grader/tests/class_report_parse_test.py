#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what reads a class's reports reads them as they are meant: csv, json, and what a page of HTML really holds.
Students of the tests' class have names, lines and compilers' words that try to break out of each format.

    class_report_parse_test.py PROGRAM FOLDER      PROGRAM: class_report_write
"""
import csv
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

N_STUDENTS = 60
UNSEEN = {0x202E, 0x2066, 0x200B, 0xFEFF, 0x2028, 0x1B, 0x07, 0x00}
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Elements, attributes and scripts that a browser would see."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.links, self.handlers, self.open = {}, [], [], [], []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        self.handlers += [(tag, name, value) for name, value in attributes if name.startswith("on")]
        self.links += [value for name, value in attributes if name in ("href", "src", "action", "srcset", "data")]
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> ends {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text += data


def check_page(file, n_scripts):
    text = file.read_bytes().decode("utf-8")
    page = Page(text)
    assert not page.open, f"{file}: {page.open} aren't closed"
    assert len(page.scripts) == n_scripts, f"{file}: {len(page.scripts)} scripts"
    assert not page.handlers, f"{file}: {page.handlers[:3]}"
    for tag in ("img", "svg", "iframe", "object", "embed", "form", "link", "base"):
        assert tag not in page.tags, f"{file}: <{tag}>"
    for link in page.links:
        assert ":" not in link and not link.startswith("/") and ".." not in link.split("/"), f"{file}: links to {link}"
    own = page.scripts[-1]
    assert "hacked" not in own, f"{file}: {own}"
    seen = {ord(c) for c in text if ord(c) in UNSEEN}
    assert not seen, f"{file}: holds {[hex(c) for c in seen]}"
    assert "{{" not in own and "undefined" not in page.text, f"{file}: a template's name is left"
    return page


def check_csv(file):
    raw = file.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf"), "marks.csv has no byte order mark"
    rows = list(csv.DictReader(raw.decode("utf-8-sig").splitlines(keepends=True)))
    assert len(rows) == N_STUDENTS, f"marks.csv: {len(rows)} students"
    for row in rows:
        assert None not in row and None not in row.values(), f"marks.csv: {row} has another number of columns"
        for value in row.values():
            assert not value or value[0] not in "=+-@\t\r\n＝＋－＠", f"marks.csv: {value!r} may be a formula"
            assert len(value) < 300, f"marks.csv: {len(value)} characters"
    by_name = {row["name"]: row for row in rows}
    assert by_name["PASS"]["total"] == "100" and by_name["INCONCLUSIVE"]["total"] == "100"
    assert by_name["WRONG"]["total"] == "0" and by_name["WRONG"]["multi_gpu_1"] == "0"
    for name in ("ungraded", "waiting"):
        assert by_name[name]["total"] == "" and by_name[name]["multi_gpu_1"] == "", by_name[name]
    assert by_name["absent"]["total"] == "0" and by_name["absent"]["needs_look"] == "yes"
    assert 'O\'Brien, "Bob"; a,b' in by_name
    return rows


def check_gradescope(file):
    """What the specification demands of results.json."""
    results = json.loads(file.read_text("utf-8"))
    top = {"score", "execution_time", "output", "output_format", "visibility", "stdout_visibility", "extra_data", "tests"}
    assert set(results) <= top, f"{file}: {set(results) - top}"
    for test in results["tests"]:
        known = {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags", "visibility"}
        assert set(test) <= known, f"{file}: {set(test) - known}"
        assert test["visibility"] == "visible" and test["output_format"] == "text" and test["name_format"] == "text"
        assert test.get("status") in (None, "passed", "failed")
        assert ("score" in test) == ("max_score" in test) and test.get("score", 0) <= test.get("max_score", 0)
    has_scores = any("score" in test for test in results["tests"])
    assert has_scores == ("score" in results), f"{file}: scores that Gradescope would add up by itself"
    assert not UNSEEN & {ord(c) for c in file.read_text("utf-8")} and "flag" not in file.read_text("utf-8")


def check_class_json(file, rows):
    results = json.loads(file.read_text("utf-8"))
    for student, row in zip(results["students"], rows, strict=True):
        assert row["name"] in (student["name"], "'" + student["name"]), row["name"]
    states = [task["state"] for student in results["students"] for task in student["tasks"].values()]
    assert len(states) == 2 * N_STUDENTS and states.count("waiting") == 2 and states.count("ungraded") == 2
    total = sum(student["points"] or 0 for student in results["students"])
    assert abs(total - sum(float(row["total"] or 0) for row in rows)) < 0.005 * len(rows)  # rounded in the table


def dom_of(browser, file, *flags):
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", *flags, file.as_uri()],
                          capture_output=True, timeout=120, check=True).stdout.decode("utf-8")


def check_width(browser, program, folder):
    """All columns of a class with all tasks are in a window of 1400 pixels."""
    subprocess.run([program, str(folder), str(N_STUDENTS), "all"], check=True)
    page = folder / "report.html"
    measure = ('<script>const table = document.getElementById("students"); document.documentElement.dataset.room = '
               'table.parentElement.clientWidth - table.scrollWidth;</script></body>')
    page.write_text(page.read_text("utf-8").replace("</body>", measure), "utf-8")
    room = int(re.search(r'data-room="(-?\d+)"', dom_of(browser, page, "--window-size=1400,1000")).group(1))
    assert room >= 0, f"{page}: the table of students is {-room} pixels wider than a window of 1400"


def check_in_a_browser(browser, folder):
    """No name's script runs. The class's page has all the names; a few students' pages stand for the others."""
    for file in [folder / "report.html", folder / "students/12/report.html", folder / "students/15/report.html"]:
        hacked = folder / "hacked.html"
        text = file.read_text("utf-8")
        trap = "<script>function hacked() { document.documentElement.dataset.hacked = 1; }</script><title>"
        hacked.write_text(text.replace("<title>", trap, 1), "utf-8")
        seen = dom_of(browser, hacked)
        assert "Odori" in seen and "data-hacked" not in seen.split(">", 2)[1], f"{file}: a script ran"


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([program, str(folder), str(N_STUDENTS)], check=True)
    rows = check_csv(folder / "marks.csv")
    check_class_json(folder / "results.json", rows)
    page = check_page(folder / "report.html", 3)  # data, Chart.js, the page's own
    assert page.text.count("WRONG") > 10 and json.loads(page.scripts[0])["percents"]
    bars = re.findall(r'<span class="bar" aria-hidden="true">(.*?)</span>', (folder / "report.html").read_text("utf-8"))
    assert len(bars) == 9 + 8, len(bars)
    for bar in bars:
        assert sum(map(int, re.findall(r"flex: (\d+)", bar))) == N_STUDENTS - 3, bar  # all but ungraded, absent, waiting
    files = sorted(folder.glob("students/*/report.html"))
    assert len(files) == N_STUDENTS
    for file in files:
        check_page(file, 1)
        check_gradescope(file.with_name("results.json"))
    browser = shutil.which("chromium")
    if browser:
        check_in_a_browser(browser, folder)
        check_width(browser, program, folder / "all_tasks")
    print(f"{len(files)} students' reports and the class's are read as they are meant"
          f"{', by a browser too' if browser else '; no chromium here, so no browser was asked'}.")


main()
