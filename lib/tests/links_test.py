#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link in a page leads to a file that is there, and to a heading that the file has.
    links_test.py KIT"""

import pathlib
import re
import sys

KIT = pathlib.Path(sys.argv[1])
FOLDERS = ["cmake", "datasets", "exercises", "grader", "jobscripts", "lib", "slides", "solutions"]


def anchors(page):
    """Of its headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


failures, n_links = [], 0
pages = [*KIT.glob("*.md"), *(page for folder in FOLDERS for page in (KIT / folder).rglob("*.md"))]
for page in pages:
    # The links of decks begin in the kit's folder; the slides' tests check them.
    if re.search(r"/slides/(decks|node_modules)/", str(page)):
        continue
    text = re.sub(r"```.*?```|`[^`\n]*`|(?m:^ {4}[^\n]*$)", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"(https?|mailto|picture):", link):
            continue
        n_links += 1
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            failures.append(f"{page.relative_to(KIT)}: there is no {link}.")
        elif anchor and anchor not in anchors(target):
            failures.append(f"{page.relative_to(KIT)}: {path or 'this page'} has no heading #{anchor}.")
if n_links < 100:
    failures.append(f"Only {n_links} links were found: is {KIT} the kit?")
print("\n".join(failures) or f"{n_links} links lead to something.")
sys.exit(1 if failures else 0)
