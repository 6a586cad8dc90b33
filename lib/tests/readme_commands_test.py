#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that a page for readers shows (README, INSTRUCTORS, INSTALL, RESULTS) is run: here, on little data, or by the test that
is named here.
    readme_commands_test.py KIT BUILD
A command is a line of a fenced block, or text in backticks, that begins as one does (STARTS). One without an entry in the
table below fails, as does an entry whose test is gone, or no longer holds what it is named for."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

KIT, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
SCRATCH = tempfile.TemporaryDirectory()
DATA = pathlib.Path(SCRATCH.name) / "synthetic"
STARTS = re.compile(
    r"""(\w+=("[^"]*"|\S+)\ )*(\./odori\b|build/(bin|tests)/|(lib|grader)/\S+\.(sh|py)\b
        |(bash|cmake|git|module|mpirun|qstat|qsub|sbatch|squeue)\ )""", re.VERBOSE)
ENVIRONMENT = {**os.environ, "ODORI_BUILD": str(BUILD), "ODORI_DATA": SCRATCH.name, "ODORI_READY": "1",
               "ODORI_STATE": f"{SCRATCH.name}/state", "LC_ALL": "C.UTF-8"}
failures, ended = [], set()


def ends(command, codes, says):
    """Runs it in the kit's folder, once."""
    command = re.sub(r"(?<![\w/])build/", f"{BUILD}/", command)
    if command in ended:
        return
    ended.add(command)
    done = subprocess.run(["bash", "-c", command], cwd=KIT, env=ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode not in codes or not re.search(says, done.stdout):
        failures.append(f"{command}\nexpected exit code {codes} and: {says}\ngot {done.returncode} and:\n{done.stdout}")


def here(says, *more, codes=(0,)):
    """It is cheap: run as it stands, with more flags."""
    return lambda command: ends(" ".join([command, *(flag for flag in more if flag not in command)]), codes, says)


def smaller(says, codes=(0,), more=" --no-snapshot"):
    """A training: of the kit's answer, as learners' may be unfinished, and of a small network on few images."""
    def run(command):
        command = re.sub(r" (--(model|batchsize|epoch|dataset|out|fraction) \S+|--solution|\.\.\.)", "", command)
        command = re.sub(r"--trace \S+", f"--trace {SCRATCH.name}/trace", command)
        command = re.sub(r"^\./odori run \w+", r"\g<0> --solution", command)
        device = "" if "--device" in command else " --device cpu"
        ends(f"{command}{device} --model tiny --batchsize 8 --epoch 1 --dataset {DATA} --out {SCRATCH.name}/out{more}",
             codes, says)
    return run


def on_little_data(says):
    """A training of the kit's answer with a network of its own."""
    return lambda command: ends(f"{command} --solution --dataset {DATA}", (0,), says)


def asynchronous(command):
    """Of few images: it trains a network of its own."""
    ends(f"./odori run asynchronous --solution --ranks 1 --epoch 1 --batchsize 8 --dataset {DATA} --out {SCRATCH.name}/asynchronous",
         (0,), "your seconds to it")


def pipeline(command):
    """Of few images: its network has a size of its own."""
    ends(f"./odori run pipeline --solution --ranks 3 --width 16 --epoch 1 --batchsize 8 --dataset {DATA}", (0,),
         "as one device computes them")


def sharded(command):
    """Of few images: its network has a size of its own."""
    ends(f"./odori run sharded --solution --ranks 3 --width 16 --epoch 1 --batchsize 6 --dataset {DATA}", (0,),
         "Part B, loss after 3 updates: .* compared with one process: right")


def timeline(command):
    """Of a training that writes its event stream."""
    trace = f"{SCRATCH.name}/traced"
    ends(f"./odori run single_gpu --solution --device cpu --model tiny --batchsize 8 --epoch 1 --dataset {DATA} "
         f"--out {SCRATCH.name}/out --no-snapshot --trace {trace} && {command.replace('DIR', trace)}", (0,), "/traced/timeline.html")


def by(test, file, *texts):
    """Dear, or not to be done to this kit: a test does the same, in this file, by these texts."""
    def look(command):
        if test not in TESTS:
            failures.append(f"{command}\nis said to be run by {test}, and ctest has no such test.")
        content = (KIT / file).read_text()
        for text in texts:
            if text not in content:
                failures.append(f"{command}\nis said to be run by {test}, but {file} doesn't hold: {text}")
    return look


def starts(command):
    """Measures for minutes or hours, or on machines that are lent: it says that it has these flags."""
    program = next(word for word in command.split() if re.match(r"(build|lib|grader)/", word))
    if program.endswith(".sh"):
        return ends(f"bash -n {program}", (0,), "")
    flags = "".join(rf"(?=(?s:.*){flag}\b)" for flag in re.findall(r"--[\w-]+", command))
    return ends(f"{program} --help", (0, 20), f"PyTorch is needed|{flags}")


def of_another_program(command):
    """Nothing of it is the kit's."""


SUBMIT = ("submit_test", "grader/tests/submit_test.cpp")
WORDS = ("commands_test", "grader/tests/commands_test.cpp")
DRIVER = ("driver_test", "lib/tests/driver_test.sh")
TABLE = [
    (r"\./odori( help( \w+)?)?", here("odori")),
    (r"\./odori demo", by("demo_test", "lib/tests/demo_test.sh", "odori_demo")),
    (r"\./odori test( --all|( \w+)*)", by("test_command_test", "lib/tests/test_command_test.sh", '"$odori" test)')),
    (r"\./odori data synthetic", here("Wrote the synthetic set", "--train 64 --test 16")),
    (r"\./odori data list", here("cifar10")),
    (r"\./odori data convert FROM", by("convert_test", "datasets/tests/convert_test.py", "cifar-10-batches-py")),
    (r"\./odori data fetch cifar10", by("fetch_test", "datasets/tests/fetch_test.py", "fetch_cifar.sh")),
    (r"\./odori run single_gpu --device cuda --precision bf16", smaller("Throughput: |GPU", codes=(0, 1, 2, 20))),
    (r"\./odori run single_gpu --device cpu --precision bf16", smaller("Throughput: |AMX", codes=(0, 2))),
    (r"\./odori run multi_gpu --share-devices", smaller("Throughput: ")),
    (r"\./odori run multi_node --help", here("--bucket-mib", "--solution")),
    (r"\./odori run (single_gpu|multi_gpu|multi_node|ring|horovod) ?.*", smaller("Throughput: ")),
    (r"\./odori run overlap --ranks 2 --strategy .*", smaller("Throughput: ")),
    (r"\./odori run overlap --ranks 2 .*", here("over a simulated link of 1 Gbit/s", "--solution", "--device cpu", "--iterations 2")),
    (r"ODORI_CHECK_CALLS=0 \./odori run multi_node .*", by("comm_failure_test", "lib/tests/comm_failure_test.cpp", "ODORI_CHECK_CALLS=0")),
    (r"\./odori run large_batch .*", smaller("held-out accuracy", more=" --accumulate 1")),
    (r"\./odori run asynchronous --ranks 1 .*", asynchronous),
    (r"\./odori run (more_)?debugging --program 1 .*", smaller("validation/main/accuracy", more="")),
    (r"\./odori run nccl --ranks 2", here("right on every rank", "--solution", "--device cpu")),
    (r"\./odori run prediction --model mid", here("With the ring alone", "--solution", "--device cpu")),
    (r"\./odori run pipeline --ranks 3 .*", pipeline),
    (r"\./odori run sharded .*", sharded),
    (r"\./odori run tensor_parallel .*", on_little_data("compared with one process: right")),
    (r"\./odori predict( .*)?", by("predict_runs", "lib/tests/CMakeLists.txt", "predict_runs")),
    (r"\./odori simulate( .*)?", by("simulate_command_test", "lib/tests/simulate_command_test.sh", "simulate")),
    (r"\./odori timeline DIR", timeline),
    (r"lib/bench/link_error.sh BUILD", starts),
    (r"lib/tests/(arm64|container|debian)\.sh", starts),
    (r"mpirun \$MPIRUN_FLAGS build/bin/odori_compare", by("hosts_test", "lib/tests/hosts_test.sh", 'build/bin/odori_compare"')),
    (r"\./odori compare( --[\w-]+ \S+)*", by("compare_test", "lib/tests/compare_test.sh", "--link")),
    (r"build/bin/solutions/train_cifar_single_gpu .*", smaller("Throughput: ")),
    (r"build/bin/solutions/race .*", starts),
    (r"ODORI_GPU_PLUGIN=.*", smaller("Throughput: ")),
    (r"\./odori check( \w+)?( --no-speedup)?", by("check_test", "grader/tests/check_test.cpp", "{} check {} --no-speedup")),
    (r"\./odori watch multi_gpu", by("watch", "grader/tests/watch_test.py", '"watch", "multi_gpu"')),
    (r"\./odori hint( multi_gpu 3)?", by(*DRIVER, '"$odori" hint multi_gpu 3')),
    (r"\./odori status", here("multi_gpu")),
    (r"\./odori reset multi_gpu 3", by(*WORDS, 'word("reset multi_gpu')),
    (r"\./odori solution( multi_gpu 3)?", by(*WORDS, 'word("solution multi_gpu')),
    (r"\./odori (exercise( new| check)?|run|watch)( NAME| sequence_parallel)?( --solution| --mutants 8)?",
     by("toy_exercise_test", "grader/tests/toy_exercise_test.sh", "exercise check toy", "run toy", "watch toy")),
    (r"\./odori cut", by("cut_exercises_test", "grader/tests/cut_exercises_test.cpp", "ODORI_CUT")),
    (r"\./odori doctor( --quick)?", here("", "--quick", codes=(0, 20))),
    (r"\./odori grade SUBMISSIONS --out RESULTS", by("grade", "grader/tests/grade_test.py", '"--out", self.results')),
    (r"\./odori grade SUBMISSIONS --out RESULTS --submit", by("class_job_test", "jobscripts/tests/class_job_test.sh", "--submit")),
    (r"\./odori grade \.\.\. --regrade", by("grade", "grader/tests/grade_test.py", 'grade(*self.flags, "--regrade")')),
    (r"\./odori grade --self-test( --all)?", by("self_test", "grader/tests/CMakeLists.txt", "odori_classroom_program> --self-test")),
    (r"(\w+=\S+ |FLAGS=\"[^\"]*\" )*\./odori submit( \w+( --print)?)?", by(*SUBMIT, "submit.sh", "--print")),
    (r"\./odori site \S+", by(*SUBMIT, "use_site.sh")),
    (r"(qstat -f ID \| )?\./odori explain( LOG)?", by("explain_test", "jobscripts/tests/explain_test.sh", '"$explain"')),
    (r"(CMAKE_PREFIX_PATH=\S+ )?\./odori setup( -D(MPI_HOME|ODORI_CUDA)=\S+)?",
     by("dependencies_test", "cmake/dependencies_test.cmake", "-DODORI_CUDA=")),
    (r"\./odori setup --vendor \.\.\. -DODORI_ONEDNN=OFF", by("dependencies_test", "cmake/dependencies_test.cmake", "-DODORI_ONEDNN=OFF")),
    (r"\./odori (vendor|setup --vendor) \S+", by("dependencies_test", "cmake/dependencies_test.cmake", "collect_sources.cmake", "-DODORI_VENDOR=")),
    (r"cmake --preset release", by("odd_places", "lib/tests/odd_places.sh", "cmake --preset release")),
    (r"\./odori slides( hands_on --lang ja --pdf)?", by("slides_pdf_test", "slides/tests/pdf.test.mjs")),
    (r"\./odori slides hands_on --room out/room", by("slides_traces_test", "slides/tests/traces.test.mjs", "A room")),
    (r"\./odori slides check .*", by("slides_layout", "slides/CMakeLists.txt", "main.mjs check --only")),
    (r"\./odori slides accept .*", by("slides_deck_test", "slides/tests/deck.test.mjs", "accept")),
    (r"(PROFILE=1 )?bash run_multi_\w+_training.sh", by("jobscripts_test", "grader/tests/jobscripts_test.cpp", "PROFILE=1")),
    (r"bash KIT/jobscripts/SCRIPT",
     by("jobscripts_test", "grader/tests/jobscripts_test.cpp", "AnInteractiveJobBeginsInAnotherFolder")),
    (r"qsub -j oe \S+", by("slurm_test", "jobscripts/tests/slurm_test.sh", "qsub -j oe run_multi_node_training.sh")),
    (r"sbatch SCRIPT", by("slurm_test", "jobscripts/tests/slurm_test.sh", "./odori submit makes #SBATCH lines")),
    (r"build/bin/(fuzz_readers \.|lexer_against_compiler)", by("fuzz_readers", "grader/bench/CMakeLists.txt",
                                                               "COMMAND lexer_against_compiler")),
    (r"build/bin/sandbox_cost", here("overhead", "1")),
    (r"(build/tests/corpus_run( \S+)?|cmake --build build --target corpus_run)", by("corpus_test", "grader/tests/CMakeLists.txt", "COMMAND corpus_run")),
    (r"cmake --build build --target benchmarks( fuzzers)?", by("build_benchmarks", "cmake/Targets.cmake", "add_test(NAME build_${target}")),
    (r"build/tests/attack_run", by("attack_test", "grader/tests/CMakeLists.txt", "COMMAND attack_run")),
    (r"grader/bench/kills\.py", by("grade_killed", "grader/tests/CMakeLists.txt", "grader/bench/kills.py")),
    (r"lib/bench/kill_and_resume\.py", by("kill_and_resume", "lib/tests/CMakeLists.txt", "lib/bench/kill_and_resume.py")),
    (r"lib/gpu_check\.sh", by("gpu_check_test", "lib/tests/CMakeLists.txt", "gpu_check_test.sh")),
    (r"lib/tests/odd_places.sh KIT BUILD", by("odd_places", "lib/tests/CMakeLists.txt", "odd_places.sh")),
    (r"lib/tests/hosts_test.sh BUILD", by("hosts_test", "lib/tests/CMakeLists.txt", "hosts_test.sh")),
    (r"lib/tests/mpirun_test.sh .*", by("mpirun_test", "lib/tests/CMakeLists.txt", "mpirun_test.sh")),
    (r"(mpirun -np 2 )?build/bin/(bench_|speedup_)\w+.*", starts),
    (r"(lib/bench/(compare|validate)_|grader/bench/class)\S+( .*)?", starts),
    (r"git (commit|pull) -.*", lambda command: UPDATES.append(command)),
    (r"(git clone|git pull|module load|mpirun -np 2 apptainer|qsub -I|qstat|squeue)( .*)?", of_another_program),
]
UPDATES = []


def commands():
    """And the pages that show each."""
    folders = ["cmake", "datasets", "exercises", "grader", "jobscripts", "lib", "slides", "solutions"]
    pages = [*KIT.glob("*.md"), *(page for folder in folders for page in (KIT / folder).rglob("*.md"))]
    shown = {}
    for path in pages:
        page = str(path.relative_to(KIT))
        if not re.fullmatch(r"((?!slides/node_modules).*/)?(README|INSTRUCTORS|INSTALL|RESULTS)(\.ja)?\.md", page):
            continue
        fenced = False
        for line in (KIT / page).read_text().splitlines():
            if line.lstrip().startswith("```"):
                fenced = not fenced
                continue
            for text in [line] if fenced else re.findall("`([^`]+)`", line):
                for part in re.sub(r"\s{2,}.*", "", text.strip()).split(" && "):
                    if STARTS.match(part):
                        shown.setdefault(part, set()).add(page)
    return shown


def update(pull):
    """A learner's answers are kept while the kit that they cloned goes on."""
    git = "git -c user.name=learner -c user.email=learner@localhost"
    ends(f"""cd {SCRATCH.name} && {git} init -q -b main kit && seq 20 >kit/exercise && {git} -C kit add . &&
        {git} -C kit commit -qm begin && git clone -q kit mine && sed -i 's/^3$/answer/' mine/exercise &&
        sed -i 's/^17$/better/' kit/exercise && {git} -C kit commit -qam better && cd mine &&
        {pull.replace("git ", git + " ")} && grep answer exercise && grep better exercise""", (0,), "answer")


TESTS = set(re.findall(r"Test +#\d+: (\S+)", subprocess.run(
    ["ctest", "--test-dir", str(BUILD), "-N"], text=True, check=True, stdout=subprocess.PIPE).stdout))
shown = commands()
unused = {pattern for pattern, _ in TABLE}
for command in sorted(shown):  # ./odori data synthetic is before what trains on it
    entry = next((entry for entry in TABLE if re.fullmatch(entry[0], command)), None)
    if entry is None:
        failures.append(f"{command}\nstands in {', '.join(sorted(shown[command]))}, and nothing is known to run it. Add it to the "
                        f"table of {pathlib.Path(__file__).name}.")
        continue
    unused.discard(entry[0])
    entry[1](command)
update(" && ".join(sorted(UPDATES)))
for pattern in sorted(unused):
    failures.append(f"{pattern}\nis in the table, and no README shows such a command any more. Take it out.")
print("\n\n".join(failures) or f"{len(shown)} commands of READMEs are run.")
sys.exit(1 if failures else 0)
