#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdicts that READMEs show are in the words that the grader uses today.
    readme_verdicts_test.py KIT"""

import pathlib
import re
import sys

KIT = pathlib.Path(sys.argv[1])
SHOWN = {
    "README": ["whole_set_for_each_device", "hint_command"],
    "exercises/README": ["whole_set_for_each_device", "hint_command", "compile_misspelt", "process_for_each_device",
                         "speedup_waits", "points"],
}


def sections(language):
    """Their texts by key, of the first two exercises and of what all have in common."""
    found = {}
    for folder in ["grader/messages", "grader/exercises/01_multi_gpu"]:
        for path in (KIT / folder).glob("*.md"):
            if path.name.endswith(".ja.md") == (language == ".ja"):
                found.update(re.findall(r"^## (\w+)\n(.*?)(?=\n## |\Z)", path.read_text(), re.MULTILINE | re.DOTALL))
    return found


def pattern(text):
    """The message with anything in its places, whatever lines it is broken into."""
    text = re.sub(r"\s+", "", text)
    return ".+?".join(re.escape(part) for part in re.split(r"\{[^{}]*\}", text))


failures = []
for page, keys in SHOWN.items():
    for language in ["", ".ja"]:
        text = re.sub(r"\s+", "", (KIT / f"{page}{language}.md").read_text())
        for key in keys:
            if not re.search(pattern(sections(language)[key]), text):
                failures.append(f"{page}{language}.md shows no verdict in the words of \"{key}\". Run ./odori check, and copy.")
print("\n".join(failures) or "READMEs show what the grader says.")
sys.exit(1 if failures else 0)
