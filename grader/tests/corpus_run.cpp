// SPDX-License-Identifier: Apache-2.0
// The corpus, graded: every answer has to get its verdict, for its reason, in the words of both languages.
//
//   corpus_run [WORDS] [--seed SEED] [--every N] [--seconds S]
//
// only entries whose title holds WORDS; the data's seed, without it a new one; every Nth entry, counted from one that
// goes by the seed, and of these as many as are begun in S seconds of grading. Says what the grader said otherwise,
// once more at the end, and ends with exit code 1 if there was anything to say. Two workers a core grade them.
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>

#include "authoring/in_processes.h"
#include "blanks/cutter.h"
#include "checks/judge_answer.h"
#include "classroom/self_test/answer_files.h"
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

const fs::path kit = ODORI_FOLDER, build_folder = ODORI_BUILD_FOLDER;

struct Answer {
  AnswerEntry entry;
  fs::path program, script;
};

std::vector<Answer> write_answers(const std::vector<AnswerEntry>& entries, const fs::path& to) {
  std::vector<Answer> answers;
  for (const AnswerEntry& entry : entries) {
    const Task& task = task_named(entry.task);
    const fs::path folder = to / std::to_string(answers.size());
    fs::create_directories(folder);
    Answer& answer = answers.emplace_back(Answer{entry, folder / task.program.solution.filename(), {}});
    if (task.script) answer.script = folder / task.script->solution.filename();
    for (const ExerciseFile& file : task.files())
      std::ofstream(folder / file.solution.filename()) << filled_exercise(kit / file.solution, entry.blanks);
  }
  return answers;
}

Question question_of(const Answer& answer, std::uint64_t seed) {
  return {.task = task_named(answer.entry.task),
          .kit = kit,
          .build = build_folder,
          .program = answer.program,
          .script = answer.script,
          .seed = seed};
}

/// All that the screen would say to the verdicts.
std::string words_of(const std::vector<BlankVerdict>& verdicts, const Messages& messages) {
  std::string text;
  for (const BlankVerdict& verdict : verdicts) {
    if (!verdict.finding) continue;
    text += messages.text(*verdict.finding) + '\n';
    if (verdict.verdict == Verdict::hang) text += messages.text("hang_collective", verdict.finding->values) + '\n';
  }
  return text;
}

/// What is wrong with the verdicts; nothing if nothing is.
std::string complaints_about(const AnswerEntry& entry, const std::vector<BlankVerdict>& verdicts,
                             const std::map<int, double>& points) {
  static const Messages english(kit, "en"), japanese(kit, "ja");
  std::string complaints;
  for (const BlankVerdict& verdict : verdicts) {
    const Expected expected = entry.expected_of(verdict.blank);
    const std::string key = verdict.finding ? verdict.finding->key : "";
    if (!expected.allows(verdict))
      complaints += fmt::format("  blank {}: {} {} was expected, and {} {} was said: {}\n", verdict.blank,
                                name_of(expected.verdicts.front()), expected.key, name_of(verdict.verdict), key,
                                verdict.finding ? english.text(*verdict.finding) : "");
    const double earned = expected.passes() ? points.at(verdict.blank) : 0;
    if (verdict.points != earned)
      complaints += fmt::format("  blank {} got {} points instead of {}\n", verdict.blank, verdict.points, earned);
  }
  for (const auto* messages : {&english, &japanese}) {
    const std::string said = words_of(verdicts, *messages);
    const auto words = entry.facts.find(messages->language());
    if (words == entry.facts.end()) continue;
    for (const std::string& word : words->second)
      if (said.find(word) == std::string::npos)
        complaints += fmt::format("  \"{}\" isn't in what was said:\n{}\n", word, said);
  }
  return complaints;
}

std::string complaints_about(const Answer& answer, std::uint64_t seed) try {
  const Question question = question_of(answer, seed);
  const Answers answers = read_answers(question);
  std::vector<BlankVerdict> verdicts;
  judge_answer(question, answers, exam_of(question.task),
               [&](const BlankVerdict& verdict) { verdicts.push_back(verdict); });
  return complaints_about(answer.entry, verdicts, answers.points_of);
} catch (const Error& error) {
  if (error.code() == exit_code::interrupted) throw;
  return fmt::format("  the grader failed: {}\n", error.what());
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  std::string words;
  std::uint64_t seed = std::random_device()() % 1'000'000;
  std::size_t every = 1;
  int limit = 1'000'000;  // seconds: more than all take
  CommandLine line("Grades the corpus.", argv[0], argc, argv);
  line.add_option("words", words, "only entries whose title holds this");
  line.add_option("--seed", seed, "of the data").check(line.whole_number(0, 1'000'000'000));
  line.add_option("--every", every, "every Nth entry, from one that goes by the seed")
      .check(line.whole_number(1, 1000));
  line.add_option("--seconds", limit, "begins no answer later than this, counted from the first one")
      .check(line.whole_number(1, limit));
  line.parse();
  std::vector<AnswerEntry> entries;
  std::size_t n = seed;
  for (AnswerEntry& entry : read_corpus(kit))
    if (entry.title().find(words) != std::string::npos && n++ % every == 0) entries.push_back(std::move(entry));
  if (every > 1)
    std::shuffle(entries.begin(), entries.end(), std::minstd_rand(seed));  // time may cut off the last ones
  require(!entries.empty(), "No entry's title holds \"{}\".", words);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const ScratchFolder scratch;
  const std::vector<Answer> answers = write_answers(entries, scratch.path());
  fmt::print("{} answers; seed {}\n", answers.size(), seed);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(limit);  // so the first is graded, always
  std::string failed;                                                                 // what was said otherwise
  const auto judge = [&](std::size_t i) {
    const auto start = std::chrono::steady_clock::now();
    const std::string complaints = complaints_about(answers[i], seed);
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return fmt::format("{} {:5.1f} s  {}\n{}", complaints.empty() ? "right" : "FAILED", taken, answers[i].entry.title(),
                       complaints);
  };
  const auto done = [&](std::size_t, const std::string& line) {
    fmt::print("{}", line);
    std::fflush(stdout);
    if (line.starts_with("FAILED")) failed += line;
  };
  // Twice the number of cores: much of the time goes to waiting, for a hang to show and for mpirun to end.
  const std::size_t n_graded = in_processes(answers.size(), 2 * usable_cores(), judge, done, until);
  fmt::print("{} answers graded in {:.0f} s: {}\n", n_graded, seconds(), failed.empty() ? "all right" : failed);
  return failed.empty() ? 0 : 1;
} catch (...) {
  return report_failure();
}
