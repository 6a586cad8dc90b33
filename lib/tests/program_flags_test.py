#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each program's --help lists the flags that the program reads, and no others; four programs have it in Japanese too.
    program_flags_test.py KIT BUILD"""

import os
import pathlib
import re
import subprocess
import sys

KIT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
# By what a program reads the flags of several programs, where it isn't args.FLAG.
READ_BY = {
    "--device": "devices",
    **dict.fromkeys(("--threads-per-device", "--share-devices", "--precision", "--workspace-mib"), r"devices(?!\.request)"),
    **dict.fromkeys(("--autotune", "--show-algorithms"), "autotune"),
    **dict.fromkeys(("--double-buffering", "--bucket-mib", "--allreduce-dtype", "--sharded"), "exchange"),
    "--compat": "gradient_rule"}
# A program under MPI starts alone here.
ENVIRONMENT = {**os.environ, "OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_plm_rsh_agent": "sh", "LC_ALL": "C.UTF-8"}

offered, sources = {}, {}
for source in sorted(KIT.glob("solutions/*/*.cpp")):
    if not (source.parent / "exercise.json").exists():
        continue  # a program of its own
    done = subprocess.run([BUILD / "bin/solutions" / source.stem, "--help"], env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{source.stem} --help: {done.stdout}"
    offered[source.stem] = set(re.findall(r"^ +(?:-h,)?(--[\w-]+)", done.stdout, re.MULTILINE)) - {"--help", "--lang"}
    support = sorted(KIT.glob(f"exercises/{source.parent.name}/support/*.cpp"))  # main hands its arguments to it
    sources[source.stem] = "".join(file.read_text() for file in [source, *support] if not file.stem.endswith("_test"))
assert len(offered) >= 8 and all(len(flags) > 1 for flags in offered.values()), offered

failures = []
for program, source in sources.items():
    own = set(re.findall(r'"(--[\w-]+)"', source))
    for flag in sorted(set().union(*offered.values())):
        reads = flag in own or re.search(rf"\bargs\.{READ_BY.get(flag, flag[2:].replace('-', '_'))}\b", source)
        if flag in offered[program] and not reads:
            failures.append(f"{program} takes {flag}, and doesn't read it.")
        if flag not in offered[program] and reads:
            failures.append(f"{program} reads {flag}, and doesn't take it.")

# These describe their flags in both languages.
for name in ("odori_compare", "odori_demo", "odori_predict", "odori_simulate"):
    flags = {}
    for language in ("en", "ja"):
        done = subprocess.run([BUILD / "bin" / name, "--help", "--lang", language], env=ENVIRONMENT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        descriptions = re.split(r"^ +(?=-)", done.stdout, flags=re.MULTILINE)[1:]
        flags[language] = [description.split()[0] for description in descriptions]
        japanese = [bool(re.search("[ぁ-んァ-ヶ一-龠]", description)) for description in descriptions]
        if done.returncode != 0 or len(flags[language]) < 6 or set(japanese) != {language == "ja"}:
            failures.append(f"{name} --help --lang {language} is not in this language:\n{done.stdout}")
    if flags["en"] != flags["ja"]:
        failures.append(f"{name} --help lists other flags in Japanese: {flags}")
print("\n".join(failures) or "Programs take the flags that they read.")
sys.exit(bool(failures))
