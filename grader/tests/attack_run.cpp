// The attacks, one by one, with their defences off: each defence holds alone, and without any of them they succeed.
//
//   attack_run [--all] [--one-each] [--seconds S] [WORDS]
//
// slow ones too; only as many as prove each defence once; as many as are begun in S seconds, others each time; only
// attacks whose title holds WORDS.
//
// Says what an attack did otherwise, and ends with exit code 1 if there was anything to say. With all defences on they
// are marked by ./odori grade --self-test.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "checks/check_record.h"
#include "errors/error.h"
#include "exercise/blanks.h"
#include "instructor/arena.h"
#include "instructor/handed_in.h"
#include "learner/print.h"
#include "loosened_sandbox.h"
#include "most_memory.h"
#include "program/process.h"
#include "program/program.h"
#include "threads/cores.h"
#include "undefended.h"
#include "worker/run.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

const fs::path kit = ODORI_FOLDER, build_folder = ODORI_BUILD_FOLDER;

/// Of a grader that believes a program that ends well.
Exam endings_alone(const Task& task) {
  const auto ends_well = [](const Situation& situation) {
    situation.evidence();
    return std::optional<Finding>();
  };
  return {{exam_of(task).situations.front()}, {{0, "EndsWell", ends_well}}};
}

// The grader has no switch for its defences. So this program plays one that lacks them: attack_run --undefended NAMES
// TASK PROGRAM SCRIPT JSON
constexpr const char* undefended = "--undefended";
int check_undefended(char** arguments) {
  const std::vector<std::string> names = split(arguments[0], ',');
  const Without without(names.begin(), names.end());
  const LoosenedSandbox sandbox(without, {kit, build_folder});
  const Question question{.task = task_named(arguments[1]),
                          .kit = kit,
                          .build = build_folder,
                          .program = arguments[2],
                          .script = arguments[3],
                          .seed = std::random_device()() % 1'000'000,
                          .sandbox = &sandbox,
                          .apart = true};
  Answers answers = read_answers(question);
  if (without.contains("identifiers")) answers.identifiers.clear();
  if (without.contains("submission")) answers.around = join_lines(answers.program.lines);
  const Exam exam = without.contains("evidence") ? endings_alone(question.task) : exam_of(question.task);
  CheckRecord check{.seed = question.seed};
  judge_answer(question, answers, exam, [&](const BlankVerdict& verdict) { check.verdicts.push_back(verdict); });
  write_file(arguments[4], as_json(question, check, {}, Messages(kit, "en")));
  return 0;
}

/// None where the check was ended before it had written all of them.
std::vector<BlankVerdict> verdicts_in(const fs::path& json) try {
  return check_output_from_json(read_file(json)).check.verdicts;
} catch (const Error&) {
  return {};
}

/// What `./odori check` makes of it, in a sandbox, without these defences.
Seen check(Arena& arena, const Attack& attack, const fs::path& folder, const std::vector<std::string>& without,
           const fs::path& handed_in = {}) {
  const Task& task = task_named(attack.task);
  const fs::path program = folder / "program.cpp", script = folder / "script.sh", json = folder / "verdicts.json";
  if (handed_in.empty())
    std::ofstream(program) << arena.filled(attack, program_of(kit, attack));
  else
    fs::create_symlink(handed_in, program);
  std::ofstream(script) << arena.filled(attack, script_of(kit, attack));
  // Descriptor 9 is what a grader that forgets to close its files would leave open.
  Command command{.arguments = {"bash", "-c", "exec 9<\"$1\"; shift; exec \"$@\"", "bash", arena.folder() / "secret"},
                  .environment = {{"ODORI_INSTRUCTORS_SECRET", arena.token()}},
                  .folder = folder};
  std::vector<std::string> grader{ODORI_GRADER, "check", task.name,      "--program", program, "--script", script,
                                  "--json",     json,    "--no-speedup", "--lang",    "en",    "--sandbox"};
  if (!without.empty())
    grader = {fs::read_symlink("/proc/self/exe"),
              undefended,
              fmt::format("{}", fmt::join(without, ",")),
              task.name,
              program,
              script,
              json};
  command.arguments.insert(command.arguments.end(), grader.begin(), grader.end());
  MostMemory memory(json);
  const Ended ended = run_process(command, {.time = attack.slow ? 600s : 150s, .output_bytes = 8 << 20});
  return {.verdicts = verdicts_in(json),
          .said = ended.output + read_file(json),
          .page = {},
          .table = {},
          .seconds = ended.seconds,
          .megabytes = memory.megabytes()};
}

std::string told(const Seen& seen) {
  std::string verdicts;
  for (const BlankVerdict& verdict : seen.verdicts)
    if (verdict.verdict != Verdict::unfilled)
      verdicts +=
          fmt::format(" {}: {} {}", verdict.blank, name_of(verdict.verdict),
                      verdict.finding ? verdict.finding->key + nlohmann::json(verdict.finding->values).dump() : "");
  return fmt::format("   {:.1f} s,{} {}\n", seen.seconds, verdicts,
                     seen.verdicts.empty() ? seen.said.substr(0, 2000) : "");
}

/// The same attack in another text (comments aren't built), so that no build of before, with other defences, is taken
/// for this one's.
Attack noted(Attack attack, const std::string& note) {
  for (auto& [blank, text] : attack.blanks)
    if (blank <= task_named(attack.task).n_program_blanks())
      text.push_back(fmt::format("  static_assert(true, \"{}\");", note));
  return attack;
}

/// Runs it with more and more of its defences off.
std::string complaints_about(Arena& arena, const Attack& attack) {
  std::string complaints;
  for (std::size_t n_off = 1; n_off <= attack.held_by.size(); ++n_off) {
    const std::vector<std::string> without(attack.held_by.begin(),
                                           attack.held_by.begin() + static_cast<std::ptrdiff_t>(n_off));
    const ScratchFolder scratch;
    arena.prepare(attack);
    const std::string note = fmt::format("{} {}", scratch.path().string(), fmt::join(without, ","));
    const Attack tried = noted(attack, note);
    const bool played = !without.empty() && is_played(without.back());
    const Seen seen =
        played ? play_without(without.back(), tried, arena, kit, scratch.path() / "handed_in",
                              [&](const fs::path& program) { return check(arena, tried, scratch.path(), {}, program); })
               : check(arena, tried, scratch.path(), without);
    const bool succeeded = arena.succeeded(attack, seen), all_off = n_off == attack.held_by.size();
    arena.forget(attack);
    if (succeeded != all_off)
      complaints += fmt::format("   without [{}] it {}\n{}", fmt::join(without, ", "),
                                succeeded ? "got through" : "was held", told(seen));
  }
  return complaints;
}

std::vector<Attack> one_for_each_defence(std::vector<Attack> attacks) {
  // What stands behind all others is proved, best where there are few.
  std::stable_sort(attacks.begin(), attacks.end(),
                   [](const Attack& a, const Attack& b) { return a.held_by.size() < b.held_by.size(); });
  std::set<std::string> proved;
  std::erase_if(attacks, [&](const Attack& attack) { return !proved.insert(attack.held_by.back()).second; });
  return attacks;
}

/// Not below /tmp, of which answers have one of their own; the kit may be another user's.
fs::path folder_of_arena() {
  const fs::path out = kit / "out";
  std::error_code error;
  fs::create_directories(out, error);
  const bool writable = access(out.c_str(), W_OK) == 0;
  return (writable ? out : fs::temp_directory_path()) / fmt::format("arena_{}", getpid());
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  if (argc == 7 && argv[1] == std::string_view(undefended)) return check_undefended(argv + 2);
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool all = std::erase(words, "--all") > 0, one_each = std::erase(words, "--one-each") > 0;
  std::optional<std::chrono::seconds> limit;
  if (const auto flag = std::find(words.begin(), words.end(), "--seconds"); words.end() - flag > 1) {
    limit = std::chrono::seconds(std::stoul(flag[1]));
    words.erase(flag, flag + 2);
  }
  std::vector<Attack> attacks;
  for (Attack& attack : read_attacks(kit / "grader" / "attacks"))
    if ((all || !attack.slow) && (words.empty() || attack.title().find(words[0]) != std::string::npos))
      attacks.push_back(std::move(attack));
  if (one_each) attacks = one_for_each_defence(std::move(attacks));
  if (limit) std::shuffle(attacks.begin(), attacks.end(), std::minstd_rand(std::random_device()()));
  require(!attacks.empty(), "No attack's title holds \"{}\".", fmt::join(words, " "));
  Arena arena(folder_of_arena(), kit, build_folder);
  const auto begin = std::chrono::steady_clock::now();
  const auto over = [&] { return limit && std::chrono::steady_clock::now() > begin + *limit; };
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> all_right = true;
  std::vector<std::future<void>> workers;
  for (int i = 0; i < usable_cores(); ++i)
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t i; !over() && (i = next++) < attacks.size() && !interrupted();) {
        const std::string complaints = complaints_about(arena, attacks[i]);
        fmt::print("{}  {}  [{}]\n{}", complaints.empty() ? "holds" : "FAILS", attacks[i].title(),
                   fmt::join(attacks[i].held_by, ", "), complaints);
        std::fflush(stdout);
        if (!complaints.empty()) all_right = false;
      }
    }));
  for (auto& worker : workers) worker.get();
  fmt::print("{} attacks: {}\n", std::min(next.load(), attacks.size()),
             all_right ? "each is held by each of its defences alone, and succeeds without them" : "see above");
  return all_right ? 0 : 1;
} catch (...) {
  return report_failure();
}
