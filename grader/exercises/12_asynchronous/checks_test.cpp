// SPDX-License-Identifier: Apache-2.0
// The checks of task 12, on what a server written here shows with right answers and with each misconception.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "asynchronous_cases.h"
#include "fabricated.h"
#include "files/json.h"

namespace odori::grader::test::of_asynchronous {
namespace {

using Floats = std::vector<float>;

/// A learner's answers, on plain values.
struct Answers {
  bool shares = false;  // fetched parameters change with the server's
  std::function<double(double server)> fetched_version = [](double server) { return server; };
  std::function<double(double server, double gradient, int n)> staleness = [](double server, double gradient, int) {
    return server - gradient;
  };
  std::function<void(Floats& parameters, double& version, const Floats& gradient, double rate, int n)> apply =
      [](Floats& parameters, double& version, const Floats& gradient, double rate, int) {
        for (std::size_t i = 0; i < gradient.size(); ++i) parameters[i] -= static_cast<float>(rate * gradient[i]);
        ++version;
      };
  std::function<bool(int worker, const std::vector<int>& clocks, int bound)> must_wait =
      [](int worker, const std::vector<int>& clocks, int bound) {
        return clocks.at(worker) > bound + *std::min_element(clocks.begin(), clocks.end());
      };
  std::function<double(double rate, double staleness)> rate = [](double rate, double staleness) {
    return staleness > 1 ? rate / staleness : rate;
  };
  std::function<double(double accuracy, const std::vector<std::vector<double>>& log)> seconds =
      [](double accuracy, const std::vector<std::vector<double>>& log) {
        for (const auto& entry : log)
          if (entry[2] >= accuracy) return entry[1];
        return static_cast<double>(INFINITY);
      };
};

/// In steps of a quarter of a second, which divides all times of the test cases.
Floats shown_of(const QuadraticRun& run, const Answers& answers) {
  struct Worker {
    bool computes = false;
    double fetched = 0, ends = 0, version = 0;
    Floats parameters;
    std::size_t begun = 0;
  };
  const int n = static_cast<int>(run.seconds.size());
  std::vector<Worker> workers(run.seconds.size());
  std::vector<int> clocks(run.seconds.size());
  Floats parameters = run.parameters, shown{0};
  double version = run.version;
  int remaining = run.gradients;
  const auto begin = [&](double now) {
    for (int w = 0; w < n; ++w) {
      Worker& worker = workers[w];
      if (worker.computes || remaining == 0 || answers.must_wait(w, clocks, run.bound)) continue;
      --remaining;
      const auto& seconds = run.seconds[w];
      worker = {true,
                now,
                now + seconds[worker.begun % seconds.size()],
                answers.fetched_version(version),
                parameters,
                worker.begun + 1};
    }
  };
  begin(0);
  for (double now = 0; now < 1000; now += 0.25)
    for (int w = 0; w < n; ++w) {
      Worker& worker = workers[w];
      if (!worker.computes || worker.ends != now) continue;
      Floats gradient = answers.shares ? parameters : worker.parameters;
      for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] *= run.curvature[i];
      const double stale = answers.staleness(version, worker.version, n);
      const double rate = run.rate_by_staleness ? answers.rate(run.rate, stale) : run.rate;
      answers.apply(parameters, version, gradient, rate, n);
      for (const double value : {1.0 * w, worker.fetched, now, worker.version, stale, rate, version})
        shown.push_back(static_cast<float>(value));
      shown.insert(shown.end(), gradient.begin(), gradient.end());
      shown.insert(shown.end(), parameters.begin(), parameters.end());
      ++clocks[w];
      worker.computes = false;
      begin(now);
    }
  shown.front() = remaining > 0;
  return shown;
}

std::vector<Floats> shown_of(const AsynchronousCases& cases, const Answers& answers) {
  std::vector<Floats> all;
  for (const QuadraticRun& run : cases.runs) all.push_back(shown_of(run, answers));
  for (const auto& [clocks, bound] : cases.waits) {
    Floats& shown = all.emplace_back();
    for (std::size_t w = 0; w < clocks.size(); ++w)
      shown.push_back(answers.must_wait(static_cast<int>(w), clocks, bound) ? 1 : 0);
  }
  for (const auto& [rate, staleness] : cases.rates) all.push_back({static_cast<float>(answers.rate(rate, staleness))});
  for (const auto& [log, accuracies] : cases.logs) {
    Floats& shown = all.emplace_back();
    for (const double accuracy : accuracies) shown.push_back(static_cast<float>(answers.seconds(accuracy, log)));
  }
  return all;
}

std::string verdict(int blank, const Answers& answers) {
  return verdict_on("asynchronous", blank, [&](Evidence& evidence, const RunPlan& plan) {
    evidence.ranks.front().values = shown_of(parse_json(plan.test_cases).get<AsynchronousCases>(), answers);
  });
}

TEST(Asynchronous, AcceptsRightAnswers) {
  for (int blank = 1; blank <= 6; ++blank) EXPECT_EQ(verdict(blank, {}), "right") << blank;
  EXPECT_EQ(verdict_on("asynchronous", 1, [](Evidence&, const RunPlan&) {}), "no_values");
}

TEST(Asynchronous, TriesTheExampleOfTheSlides) {
  const RunPlan plan = exam_of(task_named("asynchronous")).situations.front();
  const auto cases = parse_json(plan.test_cases).get<AsynchronousCases>();
  const Floats shown = shown_of(cases.runs.front(), {});
  const std::size_t size = ShownUpdate::size(3);
  std::vector<std::pair<float, float>> fetched_and_staleness;
  for (std::size_t at = 1 + 3 * size; at < shown.size(); at += size)
    fetched_and_staleness.emplace_back(shown[at + ShownUpdate::version], shown[at + ShownUpdate::staleness]);
  EXPECT_EQ(fetched_and_staleness, (std::vector<std::pair<float, float>>{{97, 3}, {98, 3}, {100, 2}, {99, 4}}));
}

TEST(Asynchronous, NamesMistakesOfFetch) {
  EXPECT_EQ(verdict(1, {.shares = true}), "parameters_shared");
  EXPECT_EQ(verdict(1, {.fetched_version = [](double) { return 0; }}), "version_not_fetched");
  EXPECT_EQ(verdict(1, {.fetched_version = [](double server) { return server + 1; }}), "fetched_version_wrong");
}

TEST(Asynchronous, NamesMistakesOfStaleness) {
  using Staleness = double (*)(double server, double gradient, int n);
  const auto says = [](Staleness staleness) { return verdict(2, {.staleness = staleness}); };
  EXPECT_EQ(says([](double, double, int) { return 0.0; }), "staleness_zero");
  EXPECT_EQ(says([](double server, double gradient, int) { return server - gradient + 1; }), "staleness_counts_itself");
  EXPECT_EQ(says([](double server, double gradient, int) { return server - gradient - 1; }), "staleness_one_less");
  EXPECT_EQ(says([](double server, double gradient, int) { return gradient - server; }), "staleness_negative");
  EXPECT_EQ(says([](double server, double, int) { return server; }), "staleness_is_version");
  EXPECT_EQ(says([](double, double gradient, int) { return gradient; }), "staleness_is_version");
  EXPECT_EQ(says([](double, double, int n) { return n - 1.0; }), "staleness_of_workers");
  EXPECT_EQ(says([](double server, double gradient, int) { return 2 * (server - gradient); }), "staleness_wrong");
}

TEST(Asynchronous, NamesMistakesOfAnUpdate) {
  const auto step = [](double (*change)(double gradient, double rate, int n)) {
    return verdict(3, {.apply = [=](Floats& x, double& version, const Floats& gradient, double rate, int n) {
                     for (std::size_t i = 0; i < x.size(); ++i)
                       x[i] += static_cast<float>(change(gradient[i], rate, n));
                     ++version;
                   }});
  };
  EXPECT_EQ(step([](double gradient, double rate, int) { return rate * gradient; }), "update_ascends");
  EXPECT_EQ(step([](double gradient, double, int) { return -gradient; }), "rate_left_out");
  EXPECT_EQ(step([](double gradient, double rate, int n) { return -rate * gradient / n; }), "gradient_averaged");
  EXPECT_EQ(step([](double, double, int) { return 0.0; }), "parameters_not_updated");
  EXPECT_EQ(step([](double gradient, double rate, int) { return -2 * rate * gradient; }), "update_wrong");
  const Answers right;
  const auto with_version = [&](double (*change)(double version)) {
    return verdict(3, {.apply = [=](Floats& x, double& version, const Floats& gradient, double rate, int n) {
                     const double before = version;
                     right.apply(x, version, gradient, rate, n);
                     version = change(before);
                   }});
  };
  EXPECT_EQ(with_version([](double version) { return version; }), "version_not_counted");
  EXPECT_EQ(with_version([](double version) { return version + 2; }), "version_wrong");
}

TEST(Asynchronous, NamesAServerThatCollects) {
  std::vector<Floats> collected;
  const auto collects = [&](Floats& x, double& version, const Floats& gradient, double rate, int n) {
    if (!collected.empty() && collected.front().size() != gradient.size()) collected.clear();  // another run
    collected.push_back(gradient);
    if (static_cast<int>(collected.size()) < n) return;
    for (const Floats& one : collected)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= static_cast<float>(rate * one[i] / n);
    ++version;
    collected.clear();
  };
  EXPECT_EQ(verdict(3, {.apply = collects}), "collects_first");
}

TEST(Asynchronous, LooksAtEveryElement) {
  for (const bool last : {true, false}) {
    const auto leaves_out = [&](Floats& x, double& version, const Floats& gradient, double rate, int) {
      for (std::size_t i = 0; i < x.size(); ++i)
        if (i != (last ? x.size() - 1 : 0)) x[i] -= static_cast<float>(rate * gradient[i]);
      ++version;
    };
    EXPECT_EQ(verdict(3, {.apply = leaves_out}), "update_wrong");
  }
}

TEST(Asynchronous, NamesMistakesOfWaiting) {
  using Clocks = std::vector<int>;
  const auto says = [](bool (*must_wait)(int worker, const Clocks& clocks, int bound)) {
    return verdict(4, {.must_wait = must_wait});
  };
  EXPECT_EQ(says([](int, const Clocks&, int) { return false; }), "nobody_waits");
  EXPECT_EQ(says([](int w, const Clocks& c, int bound) { return c.at(w) - std::ranges::min(c) >= bound; }),
            "bound_off_by_one");
  EXPECT_EQ(says([](int w, const Clocks& c, int bound) { return std::ranges::max(c) - c.at(w) > bound; }),
            "slowest_waits");
  EXPECT_EQ(says([](int, const Clocks& c, int bound) { return std::ranges::max(c) - std::ranges::min(c) > bound; }),
            "everybody_waits");
  EXPECT_EQ(says([](int w, const Clocks& c, int bound) {
              return c.at(w) == std::ranges::max(c) && c.at(w) - std::ranges::min(c) > bound;
            }),
            "fastest_alone_waits");
  EXPECT_EQ(says([](int w, const Clocks& c, int bound) { return c.at(w) > bound; }), "own_clock_compared");
  EXPECT_EQ(says([](int w, const Clocks& c, int bound) { return c.at(w) - std::ranges::min(c) <= bound; }),
            "waits_the_wrong_way_round");
  EXPECT_EQ(says([](int w, const Clocks& c, int bound) { return c.at(w) - c.back() > bound; }), "waits_not");
  EXPECT_EQ(says([](int w, const Clocks&, int) { return w == 2; }), "waits_not");
}

/// What is right where it is asked alone, and wrong in a run.
TEST(Asynchronous, LooksAtTheTurnsOfARun) {
  const auto in_runs = [](bool (*must_wait)(int, const std::vector<int>&, int)) {
    return verdict_on("asynchronous", 4, [&](Evidence& evidence, const RunPlan& plan) {
      const auto cases = parse_json(plan.test_cases).get<AsynchronousCases>();
      auto& values = evidence.ranks.front().values = shown_of(cases, {});
      for (std::size_t i = 0; i < cases.runs.size(); ++i) values[i] = shown_of(cases.runs[i], {.must_wait = must_wait});
    });
  };
  EXPECT_EQ(in_runs([](int, const std::vector<int>&, int) { return true; }), "all_wait");
  EXPECT_EQ(in_runs([](int, const std::vector<int>&, int) { return false; }), "turn_wrong");
}

TEST(Asynchronous, NamesMistakesOfTheRate) {
  const auto says = [](double (*rate)(double rate, double staleness)) { return verdict(5, {.rate = rate}); };
  EXPECT_EQ(says([](double rate, double) { return rate; }), "rate_not_divided");
  EXPECT_EQ(says([](double rate, double stale) { return rate / stale; }), "rate_of_fresh_infinite");
  EXPECT_EQ(says([](double rate, double stale) { return stale > 0 ? rate / stale : 0; }), "rate_of_fresh_zero");
  EXPECT_EQ(says([](double rate, double stale) { return rate / (stale + 1); }), "rate_divided_by_one_more");
  EXPECT_EQ(says([](double rate, double stale) { return rate * stale; }), "rate_multiplied");
  EXPECT_EQ(says([](double rate, double stale) { return rate / std::sqrt(std::max(1.0, stale)); }),
            "rate_by_square_root");
  EXPECT_EQ(says([](double rate, double stale) { return stale > 1 ? 0 : rate; }), "rate_whole_number");
  EXPECT_EQ(says([](double rate, double stale) { return rate / std::max(2.0, stale); }), "rate_wrong");
}

TEST(Asynchronous, NamesMistakesOfTheSeconds) {
  using Log = std::vector<std::vector<double>>;
  const auto first = [](const Log& log, double accuracy, std::size_t value) {
    for (const auto& entry : log)
      if (entry[2] >= accuracy) return entry[value];
    return static_cast<double>(INFINITY);
  };
  const auto says = [](std::function<double(double, const Log&)> seconds) { return verdict(6, {.seconds = seconds}); };
  EXPECT_EQ(says([&](double accuracy, const Log& log) { return first(log, accuracy, 0); }), "images_for_seconds");
  EXPECT_EQ(says([&](double accuracy, const Log& log) { return first(log, accuracy, 2); }), "accuracy_for_seconds");
  EXPECT_EQ(says([&](double accuracy, const Log& log) {
              const double seconds = first(log, accuracy, 1);
              return std::isinf(seconds) ? 0 : seconds;
            }),
            "never_is_infinite");
  EXPECT_EQ(says([&](double accuracy, const Log& log) {
              return first({log.rbegin(), log.rend()}, accuracy, 1);
            }),
            "later_seconds");
  EXPECT_EQ(says([&](double accuracy, const Log& log) { return first(log, std::nextafter(accuracy, 2), 1); }),
            "more_asked");
  EXPECT_EQ(says([&](double accuracy, const Log& log) { return 2 * first(log, accuracy, 1); }), "seconds_wrong");
}

TEST(Asynchronous, ShowsDistances) {
  Fabricated runs([](Evidence& evidence, const RunPlan& plan) {
    evidence.ranks.front().values = shown_of(parse_json(plan.test_cases).get<AsynchronousCases>(), {});
  });
  const ShownFigure shown = exam_of(task_named("asynchronous")).shows(runs);
  const Figure& figure = shown.figure;
  ASSERT_EQ(figure.curves.size(), 4u);
  EXPECT_NEAR(*figure.curves[0].values.at(1), 0.04, 1e-6);
  EXPECT_FALSE(figure.curves[0].values.back()) << "nearly 0: a logarithmic axis has no place for it";
  EXPECT_GT(*figure.curves[2].values.back(), 1) << "unstable";
  EXPECT_LT(*figure.curves[3].values.back(), 0.1);
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    std::vector<std::string> keys{figure.title, figure.text, figure.x_name, figure.y_name};
    for (const Curve& one : figure.curves) keys.push_back(one.name);
    for (const std::string& key : keys) EXPECT_NE(messages.text(key, shown.values), key);
  }
}

}  // namespace
}  // namespace odori::grader::test::of_asynchronous
