// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <algorithm>

#include "checks/findings.h"
#include "files/json.h"

namespace odori::grader::asynchronous {

bool is_too_far_ahead(int worker, const std::vector<int>& clocks, int bound) {
  return clocks[static_cast<std::size_t>(worker)] - *std::ranges::min_element(clocks) > bound;
}

std::vector<Turn> schedule(const QuadraticRun& run, const MustWait& must_wait) {
  const std::size_t n = run.seconds.size();
  std::vector<std::optional<Turn>> computing(n);
  std::vector<std::size_t> computed(n);  // gradients that each worker has begun
  std::vector<int> clocks(n);
  std::vector<Turn> turns;
  int remaining = run.gradients;
  double now = 0;
  while (true) {
    for (std::size_t w = 0; w < n; ++w) {
      const int worker = static_cast<int>(w);
      if (computing[w] || remaining == 0 || must_wait(worker, clocks, run.bound)) continue;
      --remaining;
      const double seconds = run.seconds[w][computed[w]++ % run.seconds[w].size()];
      computing[w] = Turn{worker, now, now + seconds, turns.size()};
    }
    std::optional<Turn>* first = nullptr;
    for (std::optional<Turn>& turn : computing)
      if (turn && (!first || turn->arrived < (*first)->arrived)) first = &turn;
    if (!first) return turns;
    turns.push_back(**first);
    now = turns.back().arrived;
    ++clocks[static_cast<std::size_t>(turns.back().worker)];
    first->reset();
  }
}

std::optional<SeenRun> seen_run(const QuadraticRun& given, const std::vector<float>& values) {
  const std::size_t dimensions = given.parameters.size(), size = ShownUpdate::size(dimensions);
  if (values.empty() || (values.size() - 1) % size != 0) return {};
  SeenRun run{.given = given, .all_wait = values.front() != 0};
  for (std::size_t at = 1; at < values.size(); at += size) {
    const float* const value = &values[at];
    const float* const gradient = value + ShownUpdate::n_values;
    const int worker = static_cast<int>(value[ShownUpdate::worker]);
    if (worker < 0 || worker >= run.n_workers()) return {};
    run.updates.push_back({worker,
                           value[ShownUpdate::fetched],
                           value[ShownUpdate::arrived],
                           value[ShownUpdate::version],
                           value[ShownUpdate::staleness],
                           value[ShownUpdate::rate],
                           value[ShownUpdate::new_version],
                           {gradient, gradient + dimensions},
                           {gradient + dimensions, gradient + 2 * dimensions}});
  }
  return run;
}

bool has_turns(const SeenRun& run, const std::vector<Turn>& turns) {
  return std::ranges::equal(run.updates, turns, [](const SeenUpdate& seen, const Turn& turn) {
    return seen.worker == turn.worker && same(seen.fetched, turn.fetched) && same(seen.arrived, turn.arrived);
  });
}

AllShown all_shown(const Situation& situation) {
  AllShown all;
  if (situation.evidence().ranks.empty() || situation.plan.test_cases.empty()) return all;
  const auto& values = situation.evidence().ranks.front().values;
  if (values.size() > situation.plan.shows) return all;  // some are an answer's own: find_forgery reports it
  const auto cases = parse_json(situation.plan.test_cases).get<AsynchronousCases>();
  std::size_t next = 0;
  for (const QuadraticRun& run : cases.runs) {
    if (next == values.size()) return all;
    if (const auto seen = seen_run(run, values[next++]))
      all.runs.push_back(*seen);
    else if (!all.other_length)
      all.other_length = run;
  }
  const auto add = [&](const auto& some, auto& shown) {
    for (const auto& one : some)
      if (next < values.size()) shown.push_back({one, values[next++]});
  };
  add(cases.waits, all.waits);
  add(cases.rates, all.rates);
  add(cases.logs, all.logs);
  return all;
}

}  // namespace odori::grader::asynchronous
