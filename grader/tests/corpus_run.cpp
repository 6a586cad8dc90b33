// The corpus, graded: every answer has to get its verdict, for its reason, in the words of both languages.
//
//   corpus_run [WORDS] [--seed SEED] [--every N] [--seconds S]
//
// only entries whose title holds WORDS; the data's seed, without it a new one; every Nth entry, counted from one that
// goes by the seed, and of these as many as are begun in S seconds of grading. Says what the grader said otherwise,
// once more at the end, and ends with exit code 1 if there was anything to say. Two workers a core grade them.
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <random>

#include "checks/judge_answer.h"
#include "classroom/self_test/answer_files.h"
#include "classroom/self_test/handed_in.h"
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

/// Takes the next answer until there is none. What was said otherwise goes into the file `failed`, too. A process of
/// its own, since GoogleTest, which judges, runs once at a time in each.
void work_through(const std::vector<Answer>& answers, std::atomic<std::size_t>& next, std::uint64_t seed,
                  std::chrono::steady_clock::time_point until, const fs::path& failed) {
  for (std::size_t i; std::chrono::steady_clock::now() < until && (i = next++) < answers.size();) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string complaints = complaints_about(answers[i], seed);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fmt::print("{} {:5.1f} s  {}\n{}", complaints.empty() ? "right" : "FAILED", seconds, answers[i].entry.title(),
               complaints);
    std::fflush(stdout);
    if (!complaints.empty())
      std::ofstream(failed, std::ios::app) << answers[i].entry.title() + '\n' + complaints << std::flush;
  }
}

struct Graded {
  std::size_t n;
  std::string failed;  // what was said otherwise; empty if nothing was
};

/// No answer is begun after `until`.
Graded grade_all(const std::vector<Answer>& answers, std::uint64_t seed, std::chrono::steady_clock::time_point until,
                 const fs::path& folder) {
  void* const shared =
      mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "No memory could be shared between the workers.");
  const fs::path failed = folder / "failed";
  std::ofstream(failed).close();
  auto& next = *new (shared) std::atomic<std::size_t>(0);
  std::fflush(stdout);
  // Twice as many as cores: much of the time goes to waiting, for a hang to show and for mpirun to end.
  const int n_workers = 2 * usable_cores();
  for (int i = 0; i < n_workers; ++i)
    if (fork() == 0) {
      int code = 0;
      try {
        work_through(answers, next, seed, until, failed);
      } catch (...) {
        code = report_failure();
      }
      std::fflush(nullptr);
      _exit(code);
    }
  std::string complaints;
  for (int i = 0; i < n_workers; ++i) {
    int status = 1;
    wait(&status);
    if (status != 0) complaints += "A worker did not come to its end.\n";
  }
  return {std::min(next.load(), answers.size()), read_file(failed) + complaints};
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  std::string words;
  std::uint64_t seed = std::random_device()() % 1'000'000;
  std::size_t every = 1;
  int limit = 1'000'000;  // seconds: more than all take
  CommandLine line("Grades the corpus.", argv[0], argc, argv);
  line.app().add_option("words", words, "only entries whose title holds this");
  line.app().add_option("--seed", seed, "of the data")->check(line.whole_number(0, 1'000'000'000));
  line.app()
      .add_option("--every", every, "every Nth entry, from one that goes by the seed")
      ->check(line.whole_number(1, 1000));
  line.app()
      .add_option("--seconds", limit, "begins no answer later than this, counted from the first one")
      ->check(line.whole_number(1, limit));
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
  const Graded graded = grade_all(answers, seed, until, scratch.path());
  fmt::print("{} answers graded in {:.0f} s: {}\n", graded.n, seconds(),
             graded.failed.empty() ? "all right" : graded.failed);
  return graded.failed.empty() ? 0 : 1;
} catch (...) {
  return report_failure();
}
