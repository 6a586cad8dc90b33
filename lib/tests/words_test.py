#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Headers, READMEs and help texts use the field's terms: no word of words.txt is in their prose, except as word_exceptions.txt says.
    words_test.py KIT
Prose is a header's comments, a page without code (fences, backticks, flags), and the strings of files that define flags."""

import fnmatch
import pathlib
import re
import sys

KIT, HERE = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
FOLDERS = ["datasets", "exercises", "grader", "jobscripts", "lib", "slides", "solutions"]
PAGES = ["AGENTS.md", "CONTRIBUTING.md", "INSTALL.md", "INSTRUCTORS.md", "NAMES.md", "README.md", "RESULTS.md", "handbook.md", "help.md"]
HELP = ["*flags.cpp", "arguments.cpp", "main.cpp"]
LEFT_OUT = re.compile(r"/(node_modules|corpus)/|/tests/main\.cpp$|support/")


def table(name):
    lines = (HERE / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def prose(path):
    """Its lines with all that is no prose left out."""
    code = False
    for line in path.read_text().splitlines():
        if path.suffix == ".h":
            line = "".join(re.findall(r"//.*", line))
        elif path.suffix == ".cpp":
            line = " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', line))
        elif line.lstrip().startswith("```"):
            code, line = not code, ""
        elif code:
            line = ""
        yield re.sub(r"`[^`]*`|--[\w-]+", "", line)


def files():
    yield from (path for path in KIT.glob("*.md") if path.name in PAGES)
    for folder in FOLDERS:
        for path in sorted((KIT / folder).rglob("*")):
            is_program = path.suffix == ".cpp" and folder == "solutions"
            is_help = is_program or any(fnmatch.fnmatch(path.name, pattern) for pattern in HELP)
            if path.name in PAGES or (path.suffix == ".h") or (is_help and "/tests/" not in str(path)):
                if not ("emulated/include" in str(path) or (path.suffix != ".h" and LEFT_OUT.search(str(path)))):
                    yield path


words = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in table("words.txt")]
exceptions = [(file, "".join(text)) for file, *text in table("word_exceptions.txt")]
failures, n_files, used = [], 0, set()
for path in files():
    n_files += 1
    file = str(path.relative_to(KIT))
    lines = path.read_text().splitlines()
    for n, text in enumerate(prose(path), 1):
        for word, instead in words:
            found = word.search(text)
            if not found:
                continue
            excepted = {one for one in exceptions if fnmatch.fnmatch(file, one[0]) and one[1] in lines[n - 1]}
            used |= excepted
            if not excepted:
                failures.append(f'{file}:{n}: "{found[0]}": {instead}')
failures += [f"word_exceptions.txt: nothing needs this line any more: {' '.join(one)}" for one in exceptions if one not in used]
if len(exceptions) > 20:
    failures.append("word_exceptions.txt has more than 20 exceptions.")
if n_files < 300:
    failures.append(f"Only {n_files} files were read: is {KIT} the kit?")
print("\n".join(failures) or f"{n_files} files use the standard terms.")
sys.exit(1 if failures else 0)
