// SPDX-License-Identifier: Apache-2.0
// ./odori exercise check NAME: proves an exercise from its folders alone (README.md).
#include <algorithm>
#include <fstream>
#include <set>

#include "authoring/equivalent.h"
#include "authoring/in_processes.h"
#include "authoring/mutants.h"
#include "authoring/texts.h"
#include "blanks/cutter.h"
#include "blanks/lexer.h"
#include "blanks/planted_fault.h"
#include "checks/judge_answer.h"
#include "errors/error.h"
#include "flags/command_line.h"
#include "messages/messages.h"
#include "program/program.h"
#include "runner/run.h"
#include "threads/cores.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

const fs::path kit = ODORI_FOLDER, build_folder = ODORI_BUILD_FOLDER;

struct Flags {
  std::string task;
  int blank = 0;  // 0: all
  std::size_t n_mutants = 20;
  std::uint64_t seed = 1;
  int jobs = 2 * usable_cores();
  bool list = false;
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line("Proves an exercise.", "./odori exercise check", argc, argv);
  line.add_option("task", flags.task, "The exercise's name").required().check(line.one_of(names_of_tasks()));
  line.add_option("--blank", flags.blank, "Mutants of this blank alone").check(line.whole_number(1, 1000));
  line.add_number("--mutants", flags.n_mutants, 0, 100'000, "At most N mutants a blank");
  line.add_number("--seed", flags.seed, 0, 1'000'000'000, "Chooses the mutants and the data");
  line.add_option("--jobs", flags.jobs, "Answers that are judged at once; without it, two a core")
      .check(line.whole_number(1, 1000));
  line.add_flag("--list", flags.list, "Print every mutant with its verdict");
  line.parse();
  const int n_blanks = task_named(flags.task).n_blanks();
  if (flags.blank > n_blanks)
    throw UsageError(fmt::format("{} has no blank {}; it has 1 to {}.", flags.task, flags.blank, n_blanks));
  return flags;
}

/// An answer to judge: a mutant of one blank, the others unfilled, so that they are judged as the kit's; or another
/// text.
struct Candidate {
  int blank = 0;  // 0: no mutant
  Mutant mutant;
  std::map<int, Lines> texts;
};

struct Judged {
  std::string verdict, key, message, fault_of_message;
};

/// The program as it is given would be UNFILLED: one empty statement more makes it an answer.
Lines text_to_judge(const Mutant& mutant) {
  Lines text = mutant.text;
  if (mutant.kind == MutantKind::given) text.push_back(";");
  return text;
}

/// One line for each blank, fields between tabs: its number and the members of Judged.
std::string judge(const Task& task, const Candidate& candidate, std::uint64_t seed) {
  const ScratchFolder folder;
  fs::path program, script;
  for (const ExerciseFile& file : task.files()) {
    const fs::path path = folder.path() / file.solution.filename();
    std::ofstream(path, std::ios::binary) << filled_exercise(kit / file.solution, candidate.texts);
    (language_of(path.string()) == Language::cpp ? program : script) = path;
  }
  const Question question{
      .task = task, .kit = kit, .build = build_folder, .program = program, .script = script, .seed = seed};
  static const Messages english(kit, "en");
  std::string lines;
  judge_answer(question, read_answers(question), exam_of(task), [&](const BlankVerdict& verdict) {
    const Finding finding = verdict.finding.value_or(Finding{});
    std::string message = verdict.finding ? english.text(finding) : "";
    std::ranges::replace_if(
        message, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    lines += fmt::format("{}\t{}\t{}\t{}\t{}\n", verdict.blank, name_of(verdict.verdict), finding.key, message,
                         verdict.finding ? fault_of_message(kit, task, finding) : "");
  });
  return lines;
}

std::map<int, Judged> read_verdicts(const std::string& lines) {
  std::map<int, Judged> verdicts;
  for (const std::string& line : split_lines(lines)) {
    const Lines fields = split(line, '\t');
    verdicts[std::stoi(fields.at(0))] = {fields.at(1), fields.at(2), fields.at(3), fields.at(4)};
  }
  return verdicts;
}

/// What would show an answer to a learner, or isn't what cutting makes.
Lines faults_of_exercise(const Task& task, const std::map<int, Blank>& answers) {
  Lines faults;
  for (const ExerciseFile& file : task.files()) {
    const std::string wanted = filled_exercise(kit / file.solution, {});  // throws if it shows an answer
    const std::string found = fs::exists(kit / file.exercise) ? read_file(kit / file.exercise) : "";
    if (const std::string difference = first_difference(wanted, found); !difference.empty())
      faults.push_back(
          fmt::format("{}: {}. ./odori cut writes it from the solution; --force also over answers of yours.",
                      file.exercise.string(), difference));
  }
  const fs::path support = kit / "exercises" / task.folder / "support";
  if (!fs::exists(support)) return faults;
  for (const auto& file : fs::recursive_directory_iterator(support)) {
    if (!file.is_regular_file()) continue;
    const std::string text = read_file(file.path());
    for (const auto& [number, blank] : answers) {
      if (planted_fault_of(blank, "The solution")) continue;  // the exercise shows nearly all of it
      for (const std::string& line : blank.text)
        if (identifiers_in({line}).size() > 2 && text.find(trim(line)) != std::string::npos)
          faults.push_back(fmt::format("{} shows a line of blank {}'s answer: {}",
                                       fs::relative(file.path(), kit).string(), number, trim(line)));
    }
  }
  return faults;
}

class Proof {
 public:
  explicit Proof(Flags flags)
      : flags_(std::move(flags)),
        task_(task_named(flags_.task)),
        answers_(answers_of(kit, task_)),
        list_(fs::path("solutions") / task_.folder / "equivalent.md"),
        reasons_(read_equivalents(kit / list_)),
        faults_(outdated(reasons_, answers_, task_)) {
    const std::size_t n = answers_.size(), n_titles = task_.blanks.size();
    require(n == n_titles,
            "The array \"blanks\" in solutions/{}/exercise.json should have one entry for each blank of the solution, "
            "{} in all and in their order. It has {}.",
            task_.folder.string(), n, n_titles);
    points_of(task_, kit);  // throws if they are not 100 in all
  }

  /// Prints what was found. Returns the exit code.
  int run() {
    report("texts", faults_of_texts(kit, task_));
    report("exercise", faults_of_exercise(task_, answers_));
    collect_candidates();
    judge_candidates(0, 2);
    report("unfilled", faults_of_all(unfilled_, "UNFILLED"));
    const Lines faults = faults_of_all(solution_, "PASS");
    report("solution", faults);
    // Checks that reject the solution reject any mutant.
    if (!faults.empty()) {
      report("mutants", {"None was judged: the solution has to pass first."});
      return 1;
    }
    judge_candidates(2, candidates_.size());
    if (flags_.n_mutants > 0) {
      report("messages", Lines(faults_of_messages_.begin(), faults_of_messages_.end()));
      print_table();
      print_blanks_without_mutants();
    }
    report("mutants", faults_, flags_.n_mutants == 0 ? "not run" : "ok");
    return n_faults_ > 0 ? 1 : 0;
  }

 private:
  struct Row {
    int n = 0, equivalent = 0, survived = 0;
    std::map<std::string, int> verdicts;
  };

  void report(const char* what, const Lines& faults, const char* without_faults = "ok") {
    fmt::print("{:<9} {}\n", what, faults.empty() ? without_faults : fmt::format("{} to fix:", faults.size()));
    for (const std::string& fault : faults) fmt::print("  {}\n", fault);
    std::fflush(stdout);
    n_faults_ += faults.size();
  }

  void judge_candidates(std::size_t begin, std::size_t end) {
    const std::size_t n = in_processes(
        end - begin, flags_.jobs, [&](std::size_t i) { return judge(task_, candidates_[begin + i], flags_.seed); },
        [&](std::size_t i, const std::string& lines) { take(candidates_[begin + i], read_verdicts(lines)); });
    require(n == end - begin, "{} of {} answers were judged.", n, end - begin);
  }

  void collect_candidates() {
    candidates_ = {{}, {}};  // nothing is filled in; all is the kit's
    for (const auto& [number, blank] : answers_) {
      candidates_[1].texts[number] = blank.text;
      const Language language = task_.is_in_script(number) ? Language::shell : Language::cpp;
      const std::vector<Mutant> all = mutants_of(blank, language, task_.siblings);
      if (flags_.blank != 0 && flags_.blank != number) continue;
      rows_[number];
      for (const Mutant& mutant : chosen(all, flags_.n_mutants, flags_.seed + static_cast<std::uint64_t>(number)))
        candidates_.push_back({number, mutant, {{number, text_to_judge(mutant)}}});
    }
  }

  void take(const Candidate& candidate, const std::map<int, Judged>& verdicts) {
    if (candidate.blank == 0) {
      (candidate.texts.empty() ? unfilled_ : solution_) = verdicts;
      return;
    }
    const auto& [verdict, key, message, fault] = verdicts.at(candidate.blank);
    if (!fault.empty()) faults_of_messages_.insert(fault);
    const LineChange change = change_of(answers_.at(candidate.blank).text, candidate.mutant);
    const auto reason = reasons_.find(change);
    const bool is_listed = reason != reasons_.end();
    const std::string what =
        fmt::format("blank {}, {} ({})", candidate.blank, candidate.mutant.description, name_of(candidate.mutant.kind));
    if (flags_.list) {
      fmt::print("{}: {} {}\n", what, verdict, is_listed ? "equivalent: " + reason->second : key);
      std::fflush(stdout);
    }
    Row& row = rows_.at(candidate.blank);
    ++row.n;
    ++(verdict != "PASS" ? row.verdicts[verdict] : is_listed ? row.equivalent : row.survived);
    if (verdict == "PASS" && !is_listed)
      faults_.push_back(fmt::format("{} survives:\n{}", what, as_diff(change)));
    else if (verdict == "ENVIRONMENT" || verdict == "not checked")
      faults_.push_back(fmt::format("{} was not judged: {} {}", what, verdict, key));
    else if (verdict != "PASS" && is_listed)
      faults_.push_back(fmt::format("{} is listed in {}, and is rejected: {} {}", what, list_.string(), verdict, key));
  }

  Lines faults_of_all(const std::map<int, Judged>& verdicts, const std::string& wanted) const {
    Lines faults;
    for (const auto& [blank, judged] : verdicts)
      if (judged.verdict != wanted)
        faults.push_back(fmt::format("blank {} is {} {}, and should be {}. {}", blank, judged.verdict, judged.key,
                                     wanted, judged.message));
    return faults;
  }

  /// Names the blanks of which no mutant was run: the table alone does not say that nothing was proved there.
  void print_blanks_without_mutants() const {
    for (const auto& [blank, row] : rows_) {
      const auto compile = row.verdicts.find("COMPILE");
      const int n_run = row.n - (compile == row.verdicts.end() ? 0 : compile->second);
      if (n_run > 0) continue;
      fmt::print(
          "blank {}: {}, so only the wrong answers of its corpus prove its checks. \"siblings\" in exercise.json "
          "make more mutants.\n",
          blank, row.n == 0 ? "its answer has no mutants" : "none of these mutants compiles");
    }
  }

  void print_table() const {
    std::vector<Lines> table{
        {"blank", "mutants", "rejected", "(WRONG", "CRASH", "HANG)", "don't compile", "equivalent", "survived"}};
    for (const auto& [blank, row] : rows_) {
      const auto n_of = [&row = row](const char* verdict) {
        const auto found = row.verdicts.find(verdict);
        return found == row.verdicts.end() ? 0 : found->second;
      };
      const int wrong = n_of("WRONG") + n_of("UNFILLED"), crash = n_of("CRASH"), hang = n_of("HANG");
      Lines cells{fmt::format("{} {}", blank, task_.blanks.at(static_cast<std::size_t>(blank - 1)).english)};
      for (const int n :
           {row.n, wrong + crash + hang, wrong, crash, hang, n_of("COMPILE"), row.equivalent, row.survived})
        cells.push_back(std::to_string(n));
      table.push_back(cells);
    }
    fmt::print("\n{}: at most {} mutants a blank, seed {}\n", task_.folder.string(), flags_.n_mutants, flags_.seed);
    for (const std::string& line : table_lines(table)) fmt::print("{}\n", line);
    fmt::print("\n");
  }

  const Flags flags_;
  const Task& task_;
  const std::map<int, Blank> answers_;
  const fs::path list_;  // of equivalent mutants
  const std::map<LineChange, std::string> reasons_;
  std::vector<Candidate> candidates_;
  std::map<int, Row> rows_;
  std::map<int, Judged> unfilled_, solution_;
  Lines faults_;  // of mutants
  std::set<std::string> faults_of_messages_;
  std::size_t n_faults_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  return Proof(parse_flags(argc, argv)).run();
} catch (const EnvironmentFault& fault) {
  fmt::print(stderr, "{}\n", Messages(kit, "en").text(fault.finding()));
  return fault.code();
} catch (...) {
  return report_failure();
}
