// SPDX-License-Identifier: Apache-2.0
// Task 12: a parameter server on quadratics in virtual time, and the answers' functions by themselves.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "asynchronous_cases.h"
#include "checks/findings.h"
#include "schedule.h"
#include "tried_runs.h"

namespace odori::grader {

using namespace asynchronous;

namespace {

/// The first diagnostic of all training runs.
auto in_each_run(Found (*find)(const SeenRun&)) {
  return [find](const Situation& situation) -> Found {
    for (const SeenRun& run : all_shown(situation).runs)
      if (const Found wrong = find(run)) return wrong;
    return {};
  };
}

std::string text(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "infinity"; }
std::string list_of(const std::vector<int>& values) { return fmt::format("{{{}}}", list(values)); }

/// Equal, up to the rounding of sums of values as large as `scale`.
bool near(double seen, double expected, double scale = 0) {
  if (!std::isfinite(expected)) return seen == expected;
  return std::abs(seen - expected) <= 2e-6 * std::max(std::abs(expected), std::abs(scale));
}

/// How many of the run's updates have turns: they are looked at.
std::size_t n_updates(const SeenRun& run, const std::vector<Turn>& turns) {
  return std::min(run.updates.size(), turns.size());
}

// ---- Blank 1: fetch

Found find_in_fetch(const SeenRun& run) {
  const std::vector<Turn> turns = schedule(run.given);
  if (!has_turns(run, turns)) return {};
  for (std::size_t u = 0; u < n_updates(run, turns); ++u) {
    const SeenUpdate& update = run.updates[u];
    const std::size_t fetched = turns[u].updates;
    const auto is_gradient_at = [&](const std::vector<float>& parameters) {
      for (std::size_t i = 0; i < parameters.size(); ++i)
        if (!near(update.gradient[i], double{run.given.curvature[i]} * parameters[i])) return false;
      return true;
    };
    const auto says = [&](const char* key) {
      return found(key, {{"worker", update.worker},
                         {"update", u + 1},
                         {"fetched", run.version_after(fetched)},
                         {"arrived", run.version_after(u)},
                         {"seen", text(update.version)}});
    };
    if (!is_gradient_at(run.parameters_after(fetched)))
      return says(is_gradient_at(run.parameters_after(u)) ? "parameters_shared" : "parameters_wrong");
    if (!near(update.version, run.version_after(fetched)))
      return says(update.version == 0 ? "version_not_fetched" : "fetched_version_wrong");
  }
  return {};
}

// ---- Blank 2: staleness

Found find_in_staleness(const SeenRun& run) {
  using Formula = double (*)(double server, double gradient, int n_workers);
  static constexpr std::pair<const char*, Formula> mistakes[] = {
      {"staleness_zero", [](double, double, int) { return 0.0; }},
      {"staleness_counts_itself", [](double server, double gradient, int) { return server - gradient + 1; }},
      {"staleness_one_less", [](double server, double gradient, int) { return server - gradient - 1; }},
      {"staleness_one_less", [](double server, double gradient, int) { return std::max(0.0, server - gradient - 1); }},
      {"staleness_negative", [](double server, double gradient, int) { return gradient - server; }},
      {"staleness_is_version", [](double server, double, int) { return server; }},
      {"staleness_is_version", [](double, double gradient, int) { return gradient; }},
      {"staleness_of_workers", [](double, double, int n) { return n - 1.0; }}};
  std::size_t first = run.updates.size();
  for (std::size_t u = run.updates.size(); u-- > 0;)
    if (run.updates[u].staleness != run.version_after(u) - run.updates[u].version) first = u;
  if (first == run.updates.size()) return {};
  const char* key = "staleness_wrong";
  for (const auto& [mistake, formula] : mistakes) {
    bool fits = true;
    for (std::size_t u = 0; u < run.updates.size(); ++u)
      fits &= run.updates[u].staleness == formula(run.version_after(u), run.updates[u].version, run.n_workers());
    if (fits) key = mistake;
    if (fits) break;
  }
  const SeenUpdate& update = run.updates[first];
  return found(key, {{"server", run.version_after(first)},
                     {"gradient", update.version},
                     {"seen", text(update.staleness)},
                     {"expected", run.version_after(first) - update.version}});
}

// ---- Blank 3: on arrival

Found find_in_update(const SeenRun& run) {
  /// Are the parameters of all updates these?
  const auto are = [&](auto formula) {
    for (std::size_t u = 0; u < run.updates.size(); ++u)
      for (std::size_t i = 0; i < run.given.parameters.size(); ++i) {
        const double before = run.parameters_after(u)[i], gradient = run.updates[u].gradient[i];
        if (!near(run.updates[u].parameters[i], formula(before, gradient, run.updates[u].rate),
                  std::abs(before) + std::abs(gradient)))
          return false;
      }
    return true;
  };
  const auto right = [](double before, double gradient, double rate) { return before - rate * gradient; };
  const auto unchanged = [&](std::size_t u) { return run.updates[u].parameters == run.parameters_after(u); };
  std::size_t n_unchanged = 0, first = run.updates.size();
  for (std::size_t u = run.updates.size(); u-- > 0;) {
    n_unchanged += unchanged(u);
    if (run.updates[u].new_version != run.version_after(u) + 1) first = u;
    for (std::size_t i = 0; i < run.given.parameters.size(); ++i) {
      const double before = run.parameters_after(u)[i], gradient = run.updates[u].gradient[i];
      if (!near(run.updates[u].parameters[i], right(before, gradient, run.updates[u].rate), std::abs(before)))
        first = u;
    }
  }
  if (first == run.updates.size()) return {};
  const double n = run.n_workers();
  const char* key = "update_wrong";
  if (are(right)) key = "version_wrong";
  if (are(right) && run.updates.back().new_version == run.given.version) key = "version_not_counted";
  if (n_unchanged > 0 && unchanged(first)) key = "collects_first";
  if (n_unchanged == run.updates.size()) key = "parameters_not_updated";
  if (are([&](double before, double gradient, double rate) { return before + rate * gradient; }))
    key = "update_ascends";
  if (are([&](double before, double gradient, double) { return before - gradient; })) key = "rate_left_out";
  if (n > 1 && are([&](double before, double gradient, double rate) { return before - rate * gradient / n; }))
    key = "gradient_averaged";
  const SeenUpdate& update = run.updates[first];
  std::size_t element = 0;
  while (element + 1 < update.parameters.size() &&
         near(update.parameters[element],
              right(run.parameters_after(first)[element], update.gradient[element], update.rate),
              std::abs(run.parameters_after(first)[element])))
    ++element;
  const double before = run.parameters_after(first)[element], gradient = update.gradient[element];
  return found(key, {{"update", first + 1},
                     {"n", run.n_workers()},
                     {"element", element},
                     {"before", text(before)},
                     {"gradient", text(gradient)},
                     {"rate", text(update.rate)},
                     {"seen", text(update.parameters[element])},
                     {"expected", text(right(before, gradient, update.rate))},
                     {"version", text(update.new_version)},
                     {"next", run.version_after(first) + 1}});
}

// ---- Blank 4: who waits

Found find_in_waiting(const Situation& situation) {
  const auto spread = [](const std::vector<int>& clocks) {
    return std::ranges::max(clocks) - std::ranges::min(clocks);
  };
  const auto clock = [](int worker, const std::vector<int>& clocks) {
    return clocks[static_cast<std::size_t>(worker)];
  };
  const std::pair<const char*, MustWait> mistakes[] = {
      {"nobody_waits", [](int, const auto&, int) { return false; }},
      {"bound_off_by_one",
       [&](int w, const auto& clocks, int bound) { return clock(w, clocks) - std::ranges::min(clocks) >= bound; }},
      {"bound_off_by_one",
       [&](int w, const auto& clocks, int bound) { return clock(w, clocks) - std::ranges::min(clocks) > bound + 1; }},
      {"slowest_waits",
       [&](int w, const auto& clocks, int bound) { return std::ranges::max(clocks) - clock(w, clocks) > bound; }},
      {"slowest_waits",
       [&](int w, const auto& clocks, int bound) {
         return spread(clocks) > bound && clock(w, clocks) == std::ranges::min(clocks);
       }},
      {"everybody_waits", [&](int, const auto& clocks, int bound) { return spread(clocks) > bound; }},
      {"fastest_alone_waits",
       [&](int w, const auto& clocks, int bound) {
         return spread(clocks) > bound && clock(w, clocks) == std::ranges::max(clocks);
       }},
      {"own_clock_compared", [&](int w, const auto& clocks, int bound) { return clock(w, clocks) > bound; }},
      {"waits_the_wrong_way_round",
       [](int w, const auto& clocks, int bound) { return !is_too_far_ahead(w, clocks, bound); }}};
  const AllShown shown = all_shown(situation);
  for (const auto& [given, values] : shown.waits) {
    const auto& [clocks, bound] = given;
    if (values.size() != clocks.size()) continue;
    for (int worker = 0; worker < static_cast<int>(clocks.size()); ++worker) {
      const bool seen = values[static_cast<std::size_t>(worker)] != 0;
      if (seen == is_too_far_ahead(worker, clocks, bound)) continue;
      const char* key = seen ? "waits_wrongly" : "waits_not";
      for (const auto& [mistake, must_wait] : mistakes) {
        bool fits = true;
        for (const auto& one : shown.waits)
          for (int w = 0; w < static_cast<int>(one.values.size()); ++w)
            fits &= (one.values[static_cast<std::size_t>(w)] != 0) == must_wait(w, one.given.clocks, one.given.bound);
        if (fits) key = mistake;
        if (fits) break;
      }
      return found(key, {{"clocks", list_of(clocks)},
                         {"bound", bound},
                         {"worker", worker},
                         {"clock", clock(worker, clocks)},
                         {"slowest", std::ranges::min(clocks)},
                         {"ahead", clock(worker, clocks) - std::ranges::min(clocks)}});
    }
  }
  for (const SeenRun& run : shown.runs) {
    const std::vector<Turn> turns = schedule(run.given);
    if (run.all_wait) return found("all_wait", {{"done", run.updates.size()}, {"gradients", run.given.gradients}});
    for (std::size_t u = 0; u < n_updates(run, turns); ++u)
      if (!has_turns({run.given, false, {run.updates[u]}}, {turns[u]}))
        return found("turn_wrong", {{"update", u + 1},
                                    {"seen", run.updates[u].worker},
                                    {"fetched", text(run.updates[u].fetched)},
                                    {"expected", turns[u].worker},
                                    {"time", text(turns[u].fetched)},
                                    {"bound", run.given.bound}});
  }
  return {};
}

// ---- Blank 5: the rate

Found find_in_rate(const Situation& situation) {
  struct Asked {
    double rate;
    int staleness;
    double seen, expected;
  };
  std::vector<Asked> all;
  const AllShown shown = all_shown(situation);
  for (const auto& [given, values] : shown.rates)
    if (values.size() == 1)
      all.push_back({given.rate, given.staleness, values.front(), given.rate / std::max(1, given.staleness)});
  for (const SeenRun& run : shown.runs)
    for (const SeenUpdate& update : run.updates)
      if (run.given.rate_by_staleness)
        all.push_back({run.given.rate, static_cast<int>(update.staleness), update.rate,
                       run.given.rate / std::max(1.0, update.staleness)});
  using Formula = double (*)(double rate, double staleness);
  static constexpr std::pair<const char*, Formula> mistakes[] = {
      {"rate_not_divided", [](double rate, double) { return rate; }},
      {"rate_of_fresh_infinite", [](double rate, double staleness) { return rate / staleness; }},
      {"rate_of_fresh_zero", [](double rate, double staleness) { return staleness == 0 ? 0 : rate / staleness; }},
      {"rate_divided_by_one_more", [](double rate, double staleness) { return rate / (staleness + 1); }},
      {"rate_multiplied", [](double rate, double staleness) { return rate * std::max(1.0, staleness); }},
      {"rate_multiplied", [](double rate, double staleness) { return rate * staleness; }},
      {"rate_by_square_root", [](double rate, double staleness) { return rate / std::sqrt(std::max(1.0, staleness)); }},
      {"rate_whole_number",
       [](double rate, double staleness) { return rate * std::floor(1 / std::max(1.0, staleness)); }}};
  for (const Asked& asked : all) {
    if (near(asked.seen, asked.expected)) continue;
    const char* key = "rate_wrong";
    for (const auto& [mistake, formula] : mistakes) {
      const auto fits = [&](const Asked& one) { return near(one.seen, formula(one.rate, one.staleness)); };
      if (std::ranges::all_of(all, fits)) key = mistake;
    }
    return found(key, {{"rate", text(asked.rate)},
                       {"staleness", asked.staleness},
                       {"seen", text(asked.seen)},
                       {"expected", text(asked.expected)}});
  }
  return {};
}

// ---- Blank 6: seconds to an accuracy

Found find_in_seconds(const Situation& situation) {
  enum { images, seconds, accuracy };  // of an entry
  using Entry = std::vector<double>;
  for (const auto& [given, values] : all_shown(situation).logs) {
    /// A value of the first such entry.
    const auto first = [&log = given.log](auto is_asked, std::size_t value) {
      const auto entry = std::ranges::find_if(log, is_asked);
      return entry == log.end() ? INFINITY : (*entry)[value];
    };
    for (std::size_t i = 0; i < std::min(values.size(), given.accuracies.size()); ++i) {
      const double asked = given.accuracies[i], seen = values[i];
      const auto reaches = [&](const Entry& entry) { return entry[accuracy] >= asked; };
      const auto exceeds = [&](const Entry& entry) { return entry[accuracy] > asked; };
      const double expected = first(reaches, seconds);
      if (near(seen, expected)) continue;
      const char* key = "seconds_wrong";
      for (const Entry& entry : given.log)
        if (reaches(entry) && near(seen, entry[seconds])) key = "later_seconds";
      if (near(seen, first(exceeds, seconds))) key = "more_asked";
      if (near(seen, first(reaches, images))) key = "images_for_seconds";
      if (near(seen, first(reaches, accuracy))) key = "accuracy_for_seconds";
      if (expected == INFINITY) key = "never_is_infinite";
      std::vector<std::string> entries;
      for (const Entry& entry : given.log)
        entries.push_back(fmt::format("{} images, {} s: {}", entry[images], entry[seconds], entry[accuracy]));
      return found(key, {{"log", entries.empty() ? "-" : fmt::format("{}", fmt::join(entries, "; "))},
                         {"accuracy", text(asked)},
                         {"seen", text(seen)},
                         {"expected", text(expected)}});
    }
  }
  return {};
}

// ---- Anyone's

Found find_other_length(const Situation& situation) {
  const auto run = all_shown(situation).other_length;
  return run ? found("other_length", {{"expected", run->parameters.size()}}) : Found();
}

// ---- What a right answer shows

/// The axis is logarithmic: what is nearly 0 is not drawn.
ShownFigure distances(Runs& whole) {
  const AllShown shown = all_shown({whole, plans().back()});
  std::vector<double> updates;
  for (int update = 1; update <= quadratic_updates; ++update) updates.push_back(update);
  Figure figure{"distances", "distances_are", "distances_updates", "distances_distance", updates, {}};
  for (const char* name : {"distances_tau_0", "distances_tau_1", "distances_tau_2", "distances_divided"}) {
    Curve& curve = figure.curves.emplace_back(Curve{.name = name});
    curve.values.resize(updates.size());
    const std::size_t which = figure.curves.size() - 1;
    for (std::size_t u = 0; which < shown.runs.size() && u < shown.runs[which].updates.size() && u < updates.size();
         ++u)
      if (const double distance = std::abs(shown.runs[which].updates[u].parameters.front());
          distance >= 1e-6 && std::isfinite(distance))
        curve.values[u] = std::stod(fmt::format("{:.3g}", distance));
  }
  return {figure, {{"rate", text(quadratic_rate)}}};
}

}  // namespace

Exam exam_of_asynchronous() {
  return {plans(),
          {{4, "FarAheadWorkersWait", find_in_waiting},
           {1, "FetchCopies", in_each_run(find_in_fetch)},
           {2, "StalenessCountsUpdates", in_each_run(find_in_staleness)},
           {5, "StaleGradientsHaveASmallerRate", find_in_rate},
           {3, "GradientsAreAppliedOnArrival", in_each_run(find_in_update)},
           {6, "SecondsToTheAccuracy", find_in_seconds},
           {0, "EveryElementIsThere", find_other_length},
           {0, "ShowsItsResults", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          distances};
}

}  // namespace odori::grader
