// SPDX-License-Identifier: Apache-2.0
// How often the speedup is decided, and how often rightly: thousands of checks of made-up answers, on machines that are
// made up (simulated_machine.h).
//
//   build/bin/speedup_decisions [--checks 10000] [--only WORDS]
//
// Prints a table. Exit code 1 if more right answers were WRONG, or more slow ones PASS, than checks/speedup.h says.
// "above": the speedup that is shown is more than 1.05 of the ceiling that is shown.
#include <fmt/core.h>

#include <functional>
#include <string>
#include <thread>

#include "bench/simulated_machine.h"
#include "errors/error.h"
#include "flags/command_line.h"
#include "program/program.h"

using namespace odori;
using namespace odori::grader;

namespace {

constexpr double most_errors = 1.0 / 1000;  // as checks/speedup.h says

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

struct Machine {
  std::string name;
  SimulatedMachine::Noise noise = {};
  double slower = 1;

  /// One check of an answer; its verdict, and the seconds that it would have taken.
  std::pair<SpeedupVerdict, double> check(const SimulatedAnswer& answer, std::uint64_t number) const {
    SimulatedMachine machine(number);
    machine.noise = noise, machine.answer = answer;
    machine.one_seconds *= slower;
    SpeedupVerdict verdict = measure_speedup(machine, number);
    return {std::move(verdict), machine.elapsed};
  }
};

Tally many(const Machine& machine, const SimulatedAnswer& answer, int checks) {
  const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Tally> tallies(workers);
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker < workers; ++worker)
      threads.emplace_back([&, worker] {
        for (auto number = worker; number < static_cast<unsigned>(checks); number += workers) {
          const auto [verdict, seconds] = machine.check(answer, number);
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
                                  {"0.97 of it", {0.97}, false, false},
                                  {"0.9 of it", {0.9}, false, false},
                                  {"0.76 of it", {0.76}, false, true},
                                  {"devices in turn", {1 / 1.85, false}, false, true},
                                  {"0.25 of it", {0.25}, false, true},
                                  {"0.05 of it", {0.05}, false, true}};

/// As many as a rate allows, and three standard deviations more.
int allowed(double rate, int checks) { return static_cast<int>(rate * checks + 3 * std::sqrt(rate * checks)); }

std::vector<Machine> machines() {
  std::vector<Machine> all{{"quiet"},
                           {"quiet, half as fast", {}, 2},
                           {"quiet, a quarter as fast", {}, 4},
                           {"noise of 10 %", {.spread = 0.1}},
                           {"noise of 30 %", {.spread = 0.3}},
                           {"heavy tails", {.heavy_tails = 0.1}},
                           {"slower by 2 % each job", {.drift = 0.02}}};
  for (const double seconds : {0.2, 1.0, 5.0, 20.0})
    all.push_back({fmt::format("a core busy half of the time, {} s", seconds),
                   {.busy_seconds = seconds, .quiet_seconds = seconds}});
  for (const double seconds : {0.2, 1.0, 5.0, 20.0})
    all.push_back({fmt::format("a core gone half of the time, {} s", seconds),
                   {.busy_seconds = seconds, .quiet_seconds = seconds, .slowdown = 2}});
  all.push_back({"a core busy always", {.busy_seconds = 1e9, .quiet_seconds = 1e-9}});
  return all;
}

/// Prints the table. Did everything err as seldom as it should?
bool simulate(int checks, const std::string& only) {
  fmt::print("{:40} {:16} {:>7} {:>7} {:>8} {:>10} {:>7} {:>9} {:>7}\n", "machine", "answer", "PASS", "WRONG",
             "no gain", "undecided", "above", "median s", "95 % s");
  bool all_well = true;
  for (const Machine& machine : machines())
    for (const Answer& answer : answers) {
      if (machine.name.find(only) == std::string::npos) continue;
      Tally tally = many(machine, answer.answer, checks);
      const auto percent = [&](int n) { return fmt::format("{:.2f}", 100.0 * n / checks); };
      const bool well = !(answer.right && tally.wrong > allowed(most_errors, checks)) &&
                        !(answer.slow && tally.pass > allowed(most_errors, checks));
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
  int checks = 10'000;
  std::string only;
  line.add_option("--checks", checks, "How many of each answer on each machine").check(line.whole_number(1, 1 << 20));
  line.add_option("--only", only, "Only machines whose name holds these words");
  line.parse();
  return simulate(checks, only) ? 0 : 1;
} catch (...) {
  return report_failure();
}
