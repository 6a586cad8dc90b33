// SPDX-License-Identifier: Apache-2.0
#include "classroom/self_test/self_test.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "blanks/blanks.h"
#include "blanks/task.h"
#include "classroom/marking/results.h"
#include "classroom/marking/student_name.h"
#include "classroom/self_test/arena.h"
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
  std::string name;
  AnswerEntry entry;
};

/// Of each exercise a right answer and a wrong one; without `all`, of those that a class is marked on.
std::vector<AnswerEntry> chosen_answers(const fs::path& kit, bool all) {
  std::set<std::pair<std::string, bool>> there;
  std::vector<AnswerEntry> chosen;
  for (const AnswerEntry& entry : read_corpus(kit)) {
    if (!all && task_named(entry.task).optional) continue;
    const bool right =
        std::ranges::all_of(entry.blanks, [&](const auto& text) { return entry.expected.at(text.first).passes(); });
    if (there.emplace(entry.task, right).second) chosen.push_back(entry);
  }
  return chosen;
}

/// Without `all`, only those that the sandbox stops, since only the sandbox differs between machines.
std::vector<AnswerEntry> chosen_attacks(const fs::path& kit, bool all) {
  std::vector<AnswerEntry> attacks = read_attacks(kit);
  const auto needs_sandbox = [](const AnswerEntry& attack) {
    return attack.fact("wall").find("sandbox") != std::string::npos;
  };
  if (!all)
    std::erase_if(attacks, [&](const auto& attack) { return attack.facts.contains("slow") || !needs_sandbox(attack); });
  return attacks;
}

/// Writes the class to `folder`. Students are marked in the order of their names: slow attacks first, so that the
/// others are marked meanwhile.
std::vector<Examinee> write_class(const fs::path& kit, const fs::path& folder, const std::vector<AnswerEntry>& answers,
                                  const std::vector<AnswerEntry>& attacks) {
  std::vector<Examinee> examinees;
  const auto add = [&](const std::string& name, const AnswerEntry& entry) {
    examinees.push_back({student_name(name), entry});
    write_handed_in(kit, entry, folder / name);
  };
  for (const AnswerEntry& answer : answers) add(fmt::format("answer_{:03}", examinees.size()), answer);
  for (const AnswerEntry& attack : attacks) {
    const std::string chosen = attack.fact("student");
    const char* const prefix = attack.facts.contains("slow") ? "a_slow_attack" : "attack";
    add(chosen.empty() ? fmt::format("{}_{:03}", prefix, examinees.size()) : chosen, attack);
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

/// What an attack left on this machine, or shows in the class's reports; empty: nothing.
std::string sign_of_success(const Examinee& examinee, const fs::path& results) {
  const std::string leaves = examinee.entry.fact("leaves"), shows = examinee.entry.fact("shows");
  if (!leaves.empty() && is_left(leaves)) return leaves;
  const std::string page = read_file(results / "students" / examinee.name / "report.html"),
                    table = '\n' + read_file(results / "marks.csv");
  const bool is_shown = page.find(shows) != page.npos || table.find('\n' + shows) != table.npos;
  return is_shown ? shows : "";
}

/// Compares an examinee's results with what they had to be, and prints a line. Returns whether they agree.
bool judge(const Examinee& examinee, const fs::path& results, const Messages& messages) {
  const AnswerEntry& entry = examinee.entry;
  const auto record = Records(results / "students", {}).read(examinee.name, entry.task);
  const bool marked = record && record->check;
  const std::vector<BlankVerdict> verdicts = marked ? record->check->verdicts : std::vector<BlankVerdict>();
  std::vector<std::string> complaints;
  if (!marked) complaints.push_back(messages.text("self_test_not_marked"));
  if (!std::ranges::all_of(verdicts, [&](const BlankVerdict& seen) {
        return seen.blank == 0 || entry.expected_of(seen.blank).allows(seen);
      }))
    complaints.push_back(
        messages.text("self_test_marks", {{"expected", words_of(entry.expected)}, {"seen", words_of(verdicts)}}));
  if (const auto flags = entry.facts.find("also"); flags != entry.facts.end())
    for (const std::string& key : flags->second)
      if (!record || std::ranges::find(record->flags, key, &Finding::key) == record->flags.end())
        complaints.push_back(messages.text("self_test_no_flag", {{"flag", key}}));
  if (const std::string sign = sign_of_success(examinee, results); !sign.empty())
    complaints.push_back(messages.text("self_test_got_through", {{"shown", sign}}));
  const bool held = complaints.empty();
  fmt::print("{}  {:<52.52}  {}\n", messages.text(held ? "self_test_right" : "self_test_wrong"), entry.title(),
             marked ? words_of(verdicts) : "-");
  for (const std::string& complaint : complaints) fmt::print("        {}\n", complaint);
  return held;
}

}  // namespace

int self_test(const GradeFlags& flags) {
  const Messages messages(flags.kit, language());
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

  const std::vector<AnswerEntry> answers = chosen_answers(flags.kit, flags.all),
                                 attacks = chosen_attacks(flags.kit, flags.all);
  const std::vector<Examinee> examinees = write_class(flags.kit, scratch.path() / "class", answers, attacks);
  Settings settings;
  settings.terms.speedup = 0;
  for (const Task& task : all_tasks()) settings.terms.weights[task.name] = 1;
  write_settings(scratch.path() / "results" / course_file, settings);
  const int code = grade_class({.submissions = scratch.path() / "class",
                                .out = scratch.path() / "results",
                                .kit = flags.kit,
                                .build = flags.build,
                                .jobs = flags.jobs});
  if (code == exit_code::interrupted) throw Error(Text{"Interrupted.", "中断しました。"}, exit_code::interrupted);

  fmt::print("\n{}\n", messages.text("self_test_title"));
  const auto n_wrong = std::ranges::count_if(
      examinees, [&](const auto& each) { return !judge(each, scratch.path() / "results", messages); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool holds = n_wrong == 0;
  fmt::print("\n{}\n", messages.text(holds ? "self_test_holds" : "self_test_fails",
                                     {{"attacks", std::to_string(attacks.size())},
                                      {"answers", std::to_string(answers.size())},
                                      {"n", std::to_string(n_wrong)},
                                      {"seconds", fmt::format("{:.0f}", seconds)}}));
  return holds ? exit_code::ok : exit_code::failure;
}

}  // namespace odori::grader
