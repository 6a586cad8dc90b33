// SPDX-License-Identifier: Apache-2.0
// Real checks of right and of slow answers (bench/speedup_answers), again and again: is the speedup decided, and
// rightly?
//
//   build/bin/speedup_checks [--times 20] [--busy] [--only WORDS] [--every N]
//
// --times 0 asks their blanks alone, and no speedup. --every N takes every Nth answer, from one by chance. --busy keeps
// a core busy half of the time meanwhile, by a second on and a second off. Prints a line a check, and a table in the
// end. Exit code 1 if a right answer was WRONG, a slow one PASS, or anything but the speedup not PASS. A check takes up
// to a minute and a half: all of them, 20 times, five hours.
#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "blanks/blanks.h"
#include "checks/check_record.h"
#include "classroom/self_test/answer_files.h"
#include "errors/error.h"
#include "flags/command_line.h"
#include "program/process.h"
#include "program/program.h"
#include "report/machine.h"
#include "runner/run.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

const fs::path kit = ODORI_FOLDER, build_folder = ODORI_BUILD_FOLDER;

/// Keeps a core busy by the second while it lives.
class Busy {
 public:
  Busy() {
    thread_ = std::jthread([](const std::stop_token& stop) {
      using namespace std::chrono_literals;
      const auto begin = std::chrono::steady_clock::now();
      while (!stop.stop_requested())
        if ((std::chrono::steady_clock::now() - begin) / 1s % 2 == 1) std::this_thread::sleep_for(1ms);
    });
  }

 private:
  std::jthread thread_;
};

/// The kit's own program with the answer's texts in their blanks.
std::string program_of(const Task& task, const AnswerEntry& answer) {
  const fs::path solution = kit / task.program.solution;
  std::vector<std::string> lines = split_lines(read_file(solution));
  const std::vector<Blank> places = parse_blanks(lines, solution.string());
  for (auto blank = places.rbegin(); blank != places.rend(); ++blank)
    if (const auto text = answer.blanks.find(blank->number); text != answer.blanks.end())
      lines = with_text(std::move(lines), *blank, text->second);
  return join_lines(lines);
}

struct Seen {
  std::string verdict, key, others;  // of the speedup; "5: WRONG" of the blanks that aren't PASS
  std::string rounds, speedup, kits, ceiling;
  double seconds = 0;
};

Seen check(const Task& task, const fs::path& program, const fs::path& scratch, bool speedup) {
  const fs::path json = scratch / "check.json";
  fs::remove(json);
  Command command{.arguments = {(build_folder / "bin" / "odori_grader").string(), "check", task.name, "--lang", "en",
                                "--program", program.string(), "--script", (kit / task.script->solution).string(),
                                "--json", json.string(), "--out", scratch.string()}};
  if (!speedup) command.arguments.push_back("--no-speedup");
  const Ended ended = run_process(command, {.time = std::chrono::minutes(10)});
  Seen seen{.seconds = ended.seconds};
  require(fs::exists(json), "The check of {} wrote no verdicts: {}", program.string(), end_of(ended.output));
  const CheckRecord check = check_output_from_json(read_file(json)).check;
  for (const BlankVerdict& verdict : check.verdicts) {
    const std::string key = verdict.finding ? verdict.finding->key : "";
    if (verdict.blank == 0)
      seen.verdict = name_of(verdict.verdict), seen.key = key;
    else if (verdict.verdict != Verdict::pass)
      seen.others += fmt::format(" {}: {} {}", verdict.blank, name_of(verdict.verdict), key);
  }
  const auto measured = [&](const char* name) {
    const bool has = check.speedup && check.speedup->contains(name);
    return has ? check.speedup->at(name) : "-";
  };
  seen.rounds = measured("rounds"), seen.speedup = measured("speedup");
  seen.kits = measured("kits"), seen.ceiling = measured("ceiling");
  return seen;
}

struct Tally {
  std::string title;
  int pass = 0, wrong = 0, inconclusive = 0, other = 0;
  std::vector<double> seconds;
};

bool run(int times, const std::string& only, unsigned every) {
  const ScratchFolder scratch;
  std::vector<Tally> table;
  bool all_well = true;
  unsigned n = std::random_device()() % every;
  for (const AnswerEntry& answer : read_answer_files(kit / "grader" / "bench" / "speedup_answers")) {
    const Task& task = task_named(fs::path(answer.file).stem().string());
    Tally tally{.title = fmt::format("{}: {}", task.name, answer.name)};
    if (tally.title.find(only) == std::string::npos || n++ % every != 0) continue;
    const fs::path program = scratch.path() / task.program.solution.filename();
    std::ofstream(program) << program_of(task, answer);
    const Seen without = check(task, program, scratch.path(), false);
    require(without.others.empty(), "{} isn't right:{}", tally.title, without.others);
    if (times == 0) fmt::print("{}: all blanks PASS\n", tally.title);
    for (int i = 0; i < times; ++i) {
      const Seen seen = check(task, program, scratch.path(), true);
      const double seconds = seen.seconds - without.seconds;
      const bool wrong = seen.verdict == "WRONG", pass = seen.verdict == "PASS";
      const bool right = answer.expected.at(0).passes();
      const bool well = seen.others.empty() && !(right ? wrong : pass);
      all_well &= well;
      ++(pass ? tally.pass : wrong ? tally.wrong : seen.verdict == "INCONCLUSIVE" ? tally.inconclusive : tally.other);
      tally.seconds.push_back(seconds);
      fmt::print("{}  {:44} {} {}, {} pairs, speedup {}, the kit's {}, ceiling {}, {:.0f} s{}{}\n", now(), tally.title,
                 seen.verdict, seen.key, seen.rounds, seen.speedup, seen.kits, seen.ceiling, seconds, seen.others,
                 well ? "" : "  WHICH MUST NOT BE");
      std::fflush(stdout);
    }
    table.push_back(std::move(tally));
  }
  if (times == 0) return true;
  fmt::print("\n{}, {}\n{:44} {:>5} {:>6} {:>13} {:>6} {:>9} {:>9}\n", describe(this_machine()), now(), "answer",
             "PASS", "WRONG", "INCONCLUSIVE", "other", "median s", "longest s");
  for (Tally& tally : table) {
    std::sort(tally.seconds.begin(), tally.seconds.end());
    fmt::print("{:44} {:>5} {:>6} {:>13} {:>6} {:>9.0f} {:>9.0f}\n", tally.title, tally.pass, tally.wrong,
               tally.inconclusive, tally.other, tally.seconds[tally.seconds.size() / 2], tally.seconds.back());
  }
  return all_well;
}

}  // namespace

int main(int argc, char** argv) try {
  CommandLine line("Real checks of right and of slow answers, again and again.", argv[0], argc, argv);
  int times = 20, every = 1;
  bool busy = false;
  std::string only;
  line.add_option("--times", times, "How often each answer is checked").check(line.whole_number(0, 1 << 20));
  line.add_flag("--busy", busy, "Keep a core busy half of the time meanwhile");
  line.add_option("--only", only, "Only answers whose line holds these words");
  line.add_option("--every", every, "Every Nth answer alone, from one by chance").check(line.whole_number(1, 1 << 20));
  line.parse();
  std::optional<Busy> load;
  if (busy) load.emplace();
  return run(times, only, static_cast<unsigned>(every)) ? 0 : 1;
} catch (...) {
  return report_failure();
}
