// How often the speedup is decided, and how often rightly: thousands of checks of made-up answers, on machines that are
// made up or played back from recorded times.
//
//   build/bin/speedup_decisions [--checks 10000]   prints a table; exit code 1 if more right answers were WRONG, or
//   more
//                                                  slow ones PASS, than checks/statistics.h says; above: the speedup
//                                                  that is shown is more than 1.05 of the ceiling that is shown
//   build/bin/speedup_decisions --record quiet     adds this machine's times, five minutes of them, to
//                                                  grader/bench/speedup_times.csv
#include <fmt/core.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "bench/simulated_machine.h"
#include "checks/speedup_jobs.h"
#include "checks/statistics.h"
#include "errors/error.h"
#include "flags/command_line.h"
#include "program/program.h"
#include "report/machine.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

const fs::path kit = ODORI_FOLDER, solutions = ODORI_SOLUTIONS;
const fs::path recorded_file = kit / "grader" / "bench" / "speedup_times.csv";

// ---- Recorded times

/// One line of the file: a pair of the solution's jobs, as they ran one after the other, and what was measured last
/// before them.
struct RecordedPair {
  std::map<Work, double> empty, whole;  // of `one`, `ceiling` and `solution`
  double second = 0;                    // whole.at(solution) is the first
};

using Recording = std::vector<RecordedPair>;
constexpr int recorded_epochs = 2;  // of 128 images: what Replay calls one
constexpr const char* columns =
    "state,task,empty_one,empty_ceiling,empty_solution,one,ceiling,solution_first,solution_second";

/// By state and task: "busy multi_gpu".
std::map<std::string, Recording> read_recordings() {
  std::ifstream file(recorded_file);
  std::map<std::string, Recording> recordings;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line == columns) continue;
    std::istringstream fields(line);
    std::string state, task;
    std::getline(fields, state, ','), std::getline(fields, task, ',');
    std::vector<double> times;
    for (std::string time; std::getline(fields, time, ',');) times.push_back(std::stod(time));
    require(times.size() == 7, "{}: {} times instead of 7 in the line {}", recorded_file.string(), times.size(), line);
    recordings[state + ' ' + task].push_back(
        {.empty = {{Work::one, times[0]}, {Work::ceiling, times[1]}, {Work::solution, times[2]}},
         .whole = {{Work::one, times[3]}, {Work::ceiling, times[4]}, {Work::solution, times[5]}},
         .second = times[6]});
  }
  return recordings;
}

void record(const std::string& state, double minutes) {
  const bool is_new = !fs::exists(recorded_file);
  std::ofstream file(recorded_file, std::ios::app);
  if (is_new) file << columns << '\n';
  file << "# " << state << ": " << describe(this_machine()) << ", " << now() << '\n';
  for (const Task& task : all_tasks()) {
    const Layout layout = Layout::on_machine(task, this_machine().cores, 0);
    SpeedupJobs jobs(task, layout, solutions, {solutions / task.program.solution.stem(), ""});
    std::string side;
    double seconds = 0;
    for (int i = 0; seconds < 60 * minutes / static_cast<double>(all_tasks().size()); ++i) {
      const auto time = [&](Work work, int epochs) {
        const double taken = jobs.seconds(work, epochs);
        seconds += taken;
        return fmt::format(",{:.4f}", taken);
      };
      if (i % 5 == 0) {
        side.clear();
        for (const Work work : {Work::one, Work::ceiling, Work::solution}) side += time(work, 0);
        for (const Work work : {Work::one, Work::ceiling}) side += time(work, recorded_epochs);
      }
      file << state << ',' << task.name << side;
      for (int place = 0; place < 2; ++place) file << time(Work::solution, recorded_epochs);
      file << std::endl;
    }
  }
}

/// Plays a recording back, from anywhere in it and onwards, with a jump now and then.
class Replay : public TimedWork {
 public:
  Replay(const Recording& recording, const SimulatedAnswer& answer, std::uint64_t seed)
      : recording_(recording), answer_(answer), random_(seed, RandomUse::synthetic_data) {
    jump();
  }
  int devices() const override { return 2; }
  int images_per_epoch() const override { return 256; }
  int images_of_empty_job() const override { return 64; }
  double seconds(Work work, int epochs, double at_most) override {
    double seconds = time(work == Work::learner ? Work::solution : work, epochs);
    if (work == Work::learner) {
      // A program that keeps one device busy at a time runs as a device alone does.
      const RecordedPair& now = recording_[position_];
      const double start = std::min(seconds, now.empty.at(Work::solution));
      const double training = answer_.parallel ? (seconds - start) / answer_.share
                                               : 2 * (now.whole.at(Work::one) - now.empty.at(Work::one));
      seconds = start + training;
    }
    if (at_most > 0) seconds = std::min(seconds, at_most);
    elapsed += seconds;
    return seconds;
  }
  double elapsed = 0;

 private:
  void jump() { position_ = random_.below(recording_.size()); }
  double time(Work work, int epochs) {
    const RecordedPair& now = recording_[position_];
    if (epochs == 0) return now.empty.at(work);
    if (work != Work::solution) return now.whole.at(work);
    first_ = !first_;
    if (first_) return now.whole.at(work);
    const double second = now.second;
    position_ = (position_ + 1) % recording_.size();
    if (random_.below(5) == 0) jump();
    return second;
  }

  const Recording& recording_;
  SimulatedAnswer answer_;
  RandomSequence random_;
  std::size_t position_ = 0;
  bool first_ = false;
};

// ---- Many checks

struct Tally {
  int pass = 0, wrong = 0, no_gain = 0, inconclusive = 0;
  int above = 0;  // the shown speedup is more than 1.05 of the shown ceiling
  std::vector<double> seconds;

  void add(const SpeedupVerdict& verdict, double elapsed) {
    if (verdict.verdict == Verdict::pass)
      ++pass;
    else if (verdict.verdict == Verdict::wrong)
      ++wrong;
    else if (verdict.why && (verdict.why->key == "low_ceiling" || verdict.why->key == "no_gain"))
      ++no_gain;
    else
      ++inconclusive;
    const auto shown = [&](const char* key) { return std::stod(verdict.line->values.at(key)); };
    above += verdict.line && shown("speedup") > 1.05 * shown("ceiling");
    seconds.push_back(elapsed);
  }
  void add(const Tally& other) {
    pass += other.pass, wrong += other.wrong, no_gain += other.no_gain, inconclusive += other.inconclusive;
    above += other.above;
    seconds.insert(seconds.end(), other.seconds.begin(), other.seconds.end());
  }
  double seconds_at(double part) {
    std::sort(seconds.begin(), seconds.end());
    return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
  }
};

/// One check of an answer, with this number; returns its verdict and the seconds that it would have taken.
using Check = std::function<std::pair<SpeedupVerdict, double>(const SimulatedAnswer&, std::uint64_t)>;

struct Condition {
  std::string name;
  Check check;
};

Condition made_up(const std::string& name, const SimulatedMachine::Noise& noise, double slower = 1) {
  return {name, [noise, slower](const SimulatedAnswer& answer, std::uint64_t number) {
            SimulatedMachine machine(number);
            machine.noise = noise, machine.answer = answer;
            machine.one_seconds *= slower;
            SpeedupVerdict verdict = measure_speedup(machine, number);
            return std::pair{std::move(verdict), machine.elapsed};
          }};
}

Condition played_back(const std::string& name, const Recording& recording) {
  return {"recorded, " + name, [&recording](const SimulatedAnswer& answer, std::uint64_t number) {
            Replay machine(recording, answer, number);
            SpeedupVerdict verdict = measure_speedup(machine, number);
            return std::pair{std::move(verdict), machine.elapsed};
          }};
}

Tally many(const Check& check, const SimulatedAnswer& answer, int checks) {
  const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Tally> tallies(workers);
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker < workers; ++worker)
      threads.emplace_back([&, worker] {
        for (auto number = worker; number < static_cast<unsigned>(checks); number += workers) {
          const auto [verdict, seconds] = check(answer, number);
          tallies[worker].add(verdict, seconds);
        }
      });
  }
  for (unsigned worker = 1; worker < workers; ++worker) tallies[0].add(tallies[worker]);
  return tallies[0];
}

struct Answer {
  const char* name;
  SimulatedAnswer answer;
  bool right, slow;  // beyond what may be decided either way
};

const std::vector<Answer> answers{{"the kit's own", {1.0}, true, false},
                                  {"0.97 of it", {0.97}, true, false},
                                  {"0.9 of it", {0.9}, false, false},
                                  {"0.75 of it", {0.75}, false, true},
                                  {"devices in turn", {1 / 1.9, false}, false, true},
                                  {"0.25 of it", {0.25}, false, true},
                                  {"0.05 of it", {0.05}, false, true}};

/// As many as a rate allows, and three standard deviations more.
int allowed(double rate, int checks) { return static_cast<int>(rate * checks + 3 * std::sqrt(rate * checks)); }

/// Prints the table. Did everything err as seldom as it should?
bool simulate(int checks, const std::string& only) {
  const auto recordings = read_recordings();
  std::vector<Condition> machines;
  for (const auto& [name, recording] : recordings) machines.push_back(played_back(name, recording));
  machines.push_back(made_up("quiet", {}));
  for (const double slower : {2.0, 4.0})
    machines.push_back(made_up(fmt::format("quiet, {} times as slow", slower), {}, slower));
  machines.push_back(made_up("noise of 10 %", {.spread = 0.1}));
  machines.push_back(made_up("noise of 30 %", {.spread = 0.3}));
  machines.push_back(made_up("heavy tails", {.heavy_tails = 0.1}));
  machines.push_back(made_up("slower by 2 % each job", {.drift = 0.02}));
  for (const double seconds : {0.2, 1.0, 5.0, 20.0})
    machines.push_back(made_up(fmt::format("a core busy half of the time, {} s", seconds),
                               {.busy_seconds = seconds, .quiet_seconds = seconds}));
  for (const double seconds : {0.2, 1.0, 5.0, 20.0})
    machines.push_back(made_up(fmt::format("a core gone half of the time, {} s", seconds),
                               {.busy_seconds = seconds, .quiet_seconds = seconds, .slowdown = 2}));
  machines.push_back(made_up("a core busy always", {.busy_seconds = 1e9, .quiet_seconds = 1e-9}));
  fmt::print("{:40} {:16} {:>7} {:>7} {:>8} {:>10} {:>7} {:>9} {:>7}\n", "machine", "answer", "PASS", "WRONG",
             "no gain", "undecided", "above", "median s", "95 % s");
  bool all_well = true;
  constexpr PaceTest rates;
  for (const Condition& machine : machines)
    for (const Answer& answer : answers) {
      if (machine.name.find(only) == std::string::npos) continue;
      Tally tally = many(machine.check, answer.answer, checks);
      const auto percent = [&](int n) { return fmt::format("{:.2f}", 100.0 * n / checks); };
      const bool well = !(answer.right && tally.wrong > allowed(rates.false_fail, checks)) &&
                        !(answer.slow && tally.pass > allowed(rates.false_pass, checks));
      fmt::print("{:40} {:16} {:>7} {:>7} {:>8} {:>10} {:>7} {:>9.1f} {:>7.1f}{}\n", machine.name, answer.name,
                 percent(tally.pass), percent(tally.wrong), percent(tally.no_gain), percent(tally.inconclusive),
                 percent(tally.above), tally.seconds_at(0.5), tally.seconds_at(0.95), well ? "" : "  more than may be");
      std::fflush(stdout);
      all_well &= well;
    }
  fmt::print("{} checks a line, in %\n", checks);
  return all_well;
}

}  // namespace

int main(int argc, char** argv) try {
  CommandLine line("How often the speedup is decided, and how often rightly.", argv[0], argc, argv);
  CLI::App& app = line.app();
  int checks = 10'000;
  int minutes = 5;
  std::string state, only;
  app.add_option("--checks", checks, "How many of each answer on each machine")->check(line.whole_number(1, 1 << 20));
  app.add_option("--only", only, "Only machines whose name holds these words");
  app.add_option("--record", state, "Record this machine's times instead, under this name: quiet, busy");
  app.add_option("--minutes", minutes, "How long to record")->check(line.whole_number(1, 1000));
  line.parse();
  if (!state.empty()) return record(state, minutes), 0;
  return simulate(checks, only) ? 0 : 1;
} catch (...) {
  return report_failure();
}
