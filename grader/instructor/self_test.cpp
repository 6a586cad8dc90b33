#include "instructor/self_test.h"

#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <set>

#include "batch/results.h"
#include "batch/student_name.h"
#include "errors/error.h"
#include "exercise/blanks.h"
#include "instructor/arena.h"
#include "instructor/corpus.h"
#include "instructor/grade.h"
#include "instructor/handed_in.h"
#include "messages/messages.h"
#include "worker/run.h"
#include "worker/sandbox.h"

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

/// Of each exercise a right answer and a wrong one.
std::vector<CorpusEntry> chosen_from(const std::vector<CorpusEntry>& corpus) {
  std::set<std::pair<std::string, bool>> there;
  std::vector<CorpusEntry> chosen;
  for (const CorpusEntry& entry : corpus) {
    const auto passes = [&](const auto& text) { return entry.expected.at(text.first).passes(); };
    const bool right = std::all_of(entry.texts.begin(), entry.texts.end(), passes);
    if (there.emplace(entry.task, right).second) chosen.push_back(entry);
  }
  return chosen;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) names.insert(entry.path().filename());
  return names;
}

/// Every Nth of them, from one by chance.
template <typename T>
void thin_out(std::vector<T>& all, int every) {
  std::size_t n = std::random_device()() % static_cast<unsigned>(every);
  std::erase_if(all, [&](const T&) { return n++ % static_cast<std::size_t>(every) != 0; });
}

/// The class on the disk.
class Class {
 public:
  Class(const SelfTest& flags, const fs::path& folder, Arena& arena, const std::vector<Attack>& attacks) {
    std::vector<CorpusEntry> corpus = read_corpus(flags.kit);
    if (!flags.all) corpus = chosen_from(corpus);
    thin_out(corpus, flags.every);
    for (const CorpusEntry& entry : corpus) {
      Examinee& answer = examinees_.emplace_back(
          Examinee{fmt::format("answer_{:03}", examinees_.size()), entry.title(), entry.task, entry.expected, {}});
      Attack none;
      none.task = entry.task;
      none.blanks = entry.texts;
      write_handed_in(flags.kit, none, folder / answer.name, [](std::string text) { return text; });
    }
    for (const Attack& attack : attacks) {
      Examinee& cheat = examinees_.emplace_back(
          Examinee{attack.id(), attack.title(), attack.task, attack.expected, attack.flags, &attack});
      arena.prepare(attack);
      const std::string chosen = arena.filled(attack, attack.student);
      if (!chosen.empty()) cheat.name = student_name(chosen);
      write_handed_in(flags.kit, attack, folder / (chosen.empty() ? cheat.name : chosen),
                      [&](std::string text) { return arena.filled(attack, std::move(text)); });
    }
  }
  const std::vector<Examinee>& examinees() const { return examinees_; }

 private:
  std::vector<Examinee> examinees_;
};

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
  bool judge(const Examinee& examinee, Arena& arena) const {
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
    if (examinee.attack && arena.succeeded(*examinee.attack, seen(examinee, verdicts)))
      complaints.push_back(messages_.text("self_test_got_through", {{"shown", examinee.attack->witness.kind}}));
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
  Seen seen(const Examinee& examinee, const std::vector<BlankVerdict>& verdicts) const {
    const fs::path own = results_ / "students" / examinee.name;
    return {.verdicts = verdicts,
            .said = read_file(own / (examinee.task + ".json")) + read_file(own / "results.json"),
            .page = read_file(own / "report.html"),
            .table = read_file(results_ / "marks.csv")};
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
  Arena arena(scratch.path() / "arena", flags.kit, flags.build);
  // A secret in the environment and an open file: what a grader might have, and no submission may see.
  setenv("ODORI_INSTRUCTORS_SECRET", arena.token().c_str(), 1);
  setenv("ODORI_SITE", "/dev/null", 1);  // its answers are for nodes of two devices, whatever this cluster has
  const int secret = open((arena.folder() / "secret").c_str(), O_RDONLY | O_CLOEXEC);
  [[maybe_unused]] const int left_open = fcntl(secret, F_DUPFD, 9);

  std::vector<Attack> attacks = read_attacks(flags.kit / "grader" / "attacks");
  if (!flags.all) std::erase_if(attacks, [](const Attack& attack) { return attack.slow; });
  thin_out(attacks, flags.every);
  const Class students(flags, scratch.path() / "class", arena, attacks);
  const auto shared_memory = names_in("/dev/shm");
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
  for (const Examinee& examinee : students.examinees()) n_wrong += judge.judge(examinee, arena) ? 0 : 1;
  std::vector<std::string> left;
  for (const std::string& name : names_in("/dev/shm"))
    if (!shared_memory.contains(name)) left.push_back(name);
  if (!left.empty())
    fmt::print("{}\n", messages.text("self_test_left", {{"files", fmt::format("{}", fmt::join(left, ", "))}}));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool holds = n_wrong == 0 && left.empty();
  fmt::print("\n{}\n", messages.text(holds ? "self_test_holds" : "self_test_fails",
                                     {{"attacks", std::to_string(attacks.size())},
                                      {"answers", std::to_string(students.examinees().size() - attacks.size())},
                                      {"n", std::to_string(n_wrong)},
                                      {"seconds", fmt::format("{:.0f}", seconds)}}));
  return holds ? exit_code::ok : exit_code::failure;
}

}  // namespace odori::grader
