#include "classroom/self_test/self_test.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <tuple>

#include "blanks/blanks.h"
#include "classroom/grade.h"
#include "classroom/marking/results.h"
#include "classroom/marking/student_name.h"
#include "classroom/self_test/arena.h"
#include "classroom/self_test/corpus.h"
#include "classroom/self_test/handed_in.h"
#include "errors/error.h"
#include "messages/messages.h"
#include "runner/run.h"
#include "runner/sandbox.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// A student of the class: an answer of the corpus, or an attack.
struct Examinee {
  std::string name, title, task;
  std::map<int, Expected> expected;
  std::vector<std::string> flags;
  const Attack* attack = nullptr;
};

/// Of each exercise a right answer and a wrong one; without `all`, of those that a class is marked on.
std::vector<CorpusEntry> chosen_answers(const fs::path& kit, bool all) {
  std::set<std::pair<std::string, bool>> there;
  std::vector<CorpusEntry> chosen;
  for (const CorpusEntry& entry : read_corpus(kit)) {
    if (!all && task_named(entry.task).optional) continue;
    const auto passes = [&](const auto& text) { return entry.expected.at(text.first).passes(); };
    const bool right = std::all_of(entry.texts.begin(), entry.texts.end(), passes);
    if (there.emplace(entry.task, right).second) chosen.push_back(entry);
  }
  return chosen;
}

/// Without `all`, only those that the sandbox stops, since only the sandbox differs between machines.
std::vector<Attack> chosen_attacks(const fs::path& kit, bool all) {
  std::vector<Attack> attacks = read_attacks(kit / "grader" / "attacks");
  const auto needs_sandbox = [](const Attack& attack) { return std::ranges::count(attack.walls, "sandbox") > 0; };
  if (!all) std::erase_if(attacks, [&](const Attack& attack) { return attack.slow || !needs_sandbox(attack); });
  return attacks;
}

/// Writes the class to `folder`.
std::vector<Examinee> write_class(const SelfTest& flags, const fs::path& folder, const std::vector<Attack>& attacks) {
  std::vector<Examinee> examinees;
  for (const CorpusEntry& entry : chosen_answers(flags.kit, flags.all)) {
    Examinee& answer = examinees.emplace_back(
        Examinee{fmt::format("answer_{:03}", examinees.size()), entry.title(), entry.task, entry.expected, {}});
    Attack none;
    none.task = entry.task;
    none.blanks = entry.texts;
    write_handed_in(flags.kit, none, folder / answer.name);
  }
  for (const Attack& attack : attacks) {
    const std::string chosen = attack.student.empty() ? attack.id() : attack.student;
    examinees.push_back({student_name(chosen), attack.title(), attack.task, attack.expected, attack.flags, &attack});
    write_handed_in(flags.kit, attack, folder / chosen);
  }
  return examinees;
}

/// "2 WRONG forbidden_word, 3 PASS"; of blanks that are left empty nothing.
std::string words_of(const std::vector<BlankVerdict>& verdicts) {
  std::vector<std::string> words;
  for (const BlankVerdict& verdict : verdicts)
    if (verdict.blank > 0 && verdict.verdict != Verdict::unfilled)
      words.push_back(fmt::format("{} {}{}", verdict.blank, name_of(verdict.verdict),
                                  verdict.finding ? " " + verdict.finding->key : ""));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string words_of(const std::map<int, Expected>& expected) {
  std::vector<std::string> words;
  for (const auto& [blank, what] : expected) {
    if (what.verdicts.front() == Verdict::unfilled) continue;
    std::vector<std::string> names;
    for (const Verdict verdict : what.verdicts) names.push_back(name_of(verdict));
    words.push_back(fmt::format("{} {}{}", blank, fmt::join(names, "|"), what.key.empty() ? "" : " " + what.key));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// What the class's results say of one of it.
class Judge {
 public:
  Judge(fs::path results, const Messages& messages) : results_(std::move(results)), messages_(messages) {}

  /// Prints its line. Returns whether all was as it had to be.
  bool judge(const Examinee& examinee) const {
    const Records records(results_ / "students", {});
    const auto record = records.read(examinee.name, examinee.task);
    const bool marked = record && record->state == RecordState::marked && record->check;
    const std::vector<BlankVerdict> verdicts = marked ? record->check->verdicts : std::vector<BlankVerdict>();
    std::vector<std::string> complaints;
    if (!marked) complaints.push_back(messages_.text("self_test_not_marked"));
    if (marked && !all_allowed(examinee, verdicts))
      complaints.push_back(
          messages_.text("self_test_marks", {{"expected", words_of(examinee.expected)}, {"seen", words_of(verdicts)}}));
    for (const std::string& key : examinee.flags)
      if (!record || std::none_of(record->flags.begin(), record->flags.end(),
                                  [&](const Finding& flag) { return flag.key == key; }))
        complaints.push_back(messages_.text("self_test_no_flag", {{"flag", key}}));
    if (const std::string sign = sign_of_success(examinee); !sign.empty())
      complaints.push_back(messages_.text("self_test_got_through", {{"shown", sign}}));
    const bool held = complaints.empty();
    fmt::print("{}  {:<52.52}  {}\n", messages_.text(held ? "self_test_right" : "self_test_wrong"), examinee.title,
               marked ? words_of(verdicts) : "-");
    for (const std::string& complaint : complaints) fmt::print("        {}\n", complaint);
    return held;
  }

 private:
  static bool all_allowed(const Examinee& examinee, const std::vector<BlankVerdict>& verdicts) {
    return std::all_of(verdicts.begin(), verdicts.end(), [&](const BlankVerdict& verdict) {
      return verdict.blank == 0 || expected_of(examinee.expected, verdict.blank).allows(verdict);
    });
  }
  /// What the attack left or shows; empty: nothing.
  std::string sign_of_success(const Examinee& examinee) const {
    if (!examinee.attack) return {};
    const auto& [leaves, shows] = std::tie(examinee.attack->leaves, examinee.attack->shows);
    if (!leaves.empty() && is_left(leaves)) return leaves;
    const std::string page = read_file(results_ / "students" / examinee.name / "report.html"),
                      table = '\n' + read_file(results_ / "marks.csv");
    const bool is_shown = page.find(shows) != page.npos || table.find('\n' + shows) != table.npos;
    return !shows.empty() && is_shown ? shows : std::string();
  }

  fs::path results_;
  const Messages& messages_;
};

}  // namespace

int self_test(const SelfTest& flags) {
  const Messages messages(flags.kit, language_or_default(flags.language));
  try {
    const Sandbox tried;
  } catch (const EnvironmentFault& fault) {
    fmt::print("{}\n{}\n", messages.text(fault.finding()), messages.text("batch_no_sandbox"));
    return fault.code();
  }
  const auto begin = std::chrono::steady_clock::now();
  const ScratchFolder scratch;
  const Arena arena;
  setenv("ODORI_SITE", "/dev/null", 1);  // its answers are for nodes of two devices, whatever this cluster has

  const std::vector<Attack> attacks = chosen_attacks(flags.kit, flags.all);
  const std::vector<Examinee> examinees = write_class(flags, scratch.path() / "class", attacks);
  const int code = grade_class({.submissions = scratch.path() / "class",
                                .out = scratch.path() / "results",
                                .kit = flags.kit,
                                .build = flags.build,
                                .jobs = flags.jobs,
                                .timings = false,
                                .language = flags.language});
  if (code == exit_code::interrupted) throw Error("Interrupted.", exit_code::interrupted);

  fmt::print("\n{}\n", messages.text("self_test_title"));
  const Judge judge(scratch.path() / "results", messages);
  int n_wrong = 0;
  for (const Examinee& examinee : examinees) n_wrong += judge.judge(examinee) ? 0 : 1;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool holds = n_wrong == 0;
  fmt::print("\n{}\n", messages.text(holds ? "self_test_holds" : "self_test_fails",
                                     {{"attacks", std::to_string(attacks.size())},
                                      {"answers", std::to_string(examinees.size() - attacks.size())},
                                      {"n", std::to_string(n_wrong)},
                                      {"seconds", fmt::format("{:.0f}", seconds)}}));
  return holds ? exit_code::ok : exit_code::failure;
}

}  // namespace odori::grader
