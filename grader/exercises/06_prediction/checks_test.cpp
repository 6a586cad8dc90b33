// SPDX-License-Identifier: Apache-2.0
// The checks of task 6, on evidence put together here: what each misconception makes of right predictions.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "comm/cost.h"
#include "fabricated.h"
#include "files/json.h"
#include "model/networks.h"
#include "prediction_support.h"

namespace odori::grader::test::of_prediction {
namespace {

/// As the program shows them: 4 numbers, then 4 of each number of devices: the exchange and the iteration by the ring,
/// the chosen all-reduce (0: ring, 1: tree, 2: hierarchical) and the iteration with it.
using Numbers = std::vector<double>;
constexpr std::size_t per_image = 0, other = 1, within = 2, within_tenth = 3, curve = 4, per_point = 4, chosen = 2;

/// A test case, read independently of the checks.
struct Recorded {
  double small_batch = 0, small_seconds = 0, large_batch = 0, large_seconds = 0, batch = 0;
  NetworkCost proxy, other;
  int per_node = 1;
  cost::Link in_node, between;
  double percent = 0;
  const cost::Link& link(double n) const { return n > per_node ? between : in_node; }
};
cost::Link link_of(const std::string& text) {
  cost::Link link;
  char unit = 0, after = 0;
  EXPECT_EQ(std::sscanf(text.c_str(), "%lf%cbit,%lf%c", &link.bandwidth, &unit, &link.latency, &after), 4);
  link.bandwidth *= (unit == 'g' ? 1e9 : 1e6) / 8;
  link.latency *= after == 'u' ? 1e-6 : 1e-3;
  return link;
}
Recorded read(const nlohmann::json& json) {
  Recorded g;
  g.small_batch = json["small_batch"], g.small_seconds = json["small_seconds"];
  g.large_batch = json["large_batch"], g.large_seconds = json["large_seconds"];
  g.batch = json["batch"], g.percent = json["percent"], g.per_node = json["per_node"];
  g.in_node = link_of(json["within"]), g.between = link_of(json["between"]);
  g.proxy = cost_of(create_network(json["network"], 10)), g.other = cost_of(create_network(json["other"], 10));
  return g;
}
/// All predictions of a run, in their order.
std::vector<Recorded> all_of(const RunPlan& plan) {
  std::vector<Recorded> all;
  for (const auto& json : parse_json(plan.test_cases)) all.push_back(read(json));
  return all;
}

double slope(const Recorded& g) { return (g.large_seconds - g.small_seconds) / (g.large_batch - g.small_batch); }
double rest(const Recorded& g) { return g.small_seconds - slope(g) * g.small_batch; }
double bytes(const Recorded& g) { return 4 * g.proxy.parameters; }
double exchange(const Recorded& g, double n) {
  return 2 * (n - 1) * g.link(n).latency + 2 * (n - 1) / n * bytes(g) / g.link(n).bandwidth;
}
double shared(const Recorded& g, double n) { return rest(g) + slope(g) * g.batch / n + exchange(g, n); }
/// Seconds of each algorithm that n devices can use.
std::vector<double> times(const Recorded& g, int n, double of_bytes) {
  const int in_node = std::min(n, g.per_node), nodes = n / in_node;
  std::vector<double> all;
  for (const char* name : {"ring", "tree", "hierarchical"})
    if (all.size() < 2 || (nodes > 1 && in_node > 1))
      all.push_back(*cost::all_reduce(name, {nodes, in_node, g.in_node, g.between}, {.bytes = of_bytes}));
  return all;
}
using Pick = std::function<double(const std::vector<double>& times)>;
double quickest(const std::vector<double>& all) {
  return static_cast<double>(std::ranges::min_element(all) - all.begin());
}

Numbers right_numbers(const Recorded& g) {
  Numbers numbers{slope(g), slope(g) * g.other.operations / g.proxy.operations,
                  std::ceil(rest(g) / slope(g) / (g.percent / 100)),
                  std::ceil(rest(g) / slope(g) / (g.percent / 1000))};
  for (const int n : device_counts(g.per_node)) {
    const double choice = quickest(times(g, n, bytes(g)));
    numbers.insert(numbers.end(), {exchange(g, n), shared(g, n), choice, shared(g, n)});
  }
  return numbers;
}

using Change = std::function<void(Numbers&, const Recorded&)>;
/// `from`: the first prediction of a run that is changed.
std::string prediction(int blank, const Change& change, std::size_t from = 0) {
  return verdict_on("prediction", blank, [&](Evidence& evidence, const RunPlan& plan) {
    const std::vector<Recorded> all = all_of(plan);
    evidence.ranks.front().values.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      Numbers numbers = right_numbers(all[i]);
      if (i >= from) change(numbers, all[i]);
      evidence.ranks.front().values.emplace_back(numbers.begin(), numbers.end());
    }
  });
}
/// What one of the four numbers becomes.
std::string number(int blank, std::size_t which, const std::function<double(const Recorded&)>& formula) {
  return prediction(blank, [&](Numbers& numbers, const Recorded& g) { numbers[which] = formula(g); });
}
/// What the exchanges, or the iterations, become.
std::string point(int blank, std::size_t which, const std::function<double(const Recorded&, double n)>& formula) {
  return prediction(blank, [&](Numbers& numbers, const Recorded& g) {
    const std::vector<int> counts = device_counts(g.per_node);
    for (std::size_t i = 0; i < counts.size(); ++i) numbers[curve + per_point * i + which] = formula(g, counts[i]);
  });
}
std::string gain(const std::function<double(double ratio, double share)>& formula) {
  return prediction(5, [&](Numbers& numbers, const Recorded& g) {
    const double ratio = rest(g) / slope(g);
    numbers[within] = formula(ratio, g.percent / 100), numbers[within_tenth] = formula(ratio, g.percent / 1000);
  });
}

TEST(Prediction, AcceptsRightOnes) {
  for (int blank = 1; blank <= 6; ++blank)
    EXPECT_EQ(prediction(blank, [](Numbers&, const Recorded&) {}), "right") << blank;
  EXPECT_EQ(number(1, per_image, [](const Recorded& g) { return slope(g) * (1 + 5e-6); }), "right");
  EXPECT_NE(number(1, per_image, [](const Recorded& g) { return slope(g) * (1 + 3e-5); }), "right");
}

/// What is right for one share alone.
TEST(Prediction, AsksForSeveralShares) {
  std::set<double> percents;
  for (const RunPlan& plan : exam_of(task_named("prediction")).situations)
    for (const Recorded& g : all_of(plan)) percents.insert(g.percent);
  EXPECT_GE(percents.size(), 3u);
}

TEST(Prediction, WantsNumbers) {
  EXPECT_EQ(verdict_on("prediction", 1, [](Evidence&, const RunPlan&) {}), "no_values");
  EXPECT_EQ(number(1, per_image, [](const Recorded&) { return NAN; }), "per_image_wrong");
  EXPECT_EQ(number(5, within, [](const Recorded&) { return INFINITY; }), "end_of_gain_wrong");
}

TEST(Prediction, SeesWhatIsKeptFromThePredictionBefore) {
  const std::map<std::size_t, int> blanks{
      {per_image, 1}, {other, 2}, {within, 5}, {within_tenth, 5}, {curve + per_point, 3}, {curve + per_point + 1, 4}};
  for (const auto& [which, blank] : blanks) {
    const Change change = [&, which](Numbers& numbers, const Recorded&) { numbers[which] *= 3; };
    EXPECT_NE(prediction(blank, change, 1), "right") << which;
  }
}

TEST(Prediction, NamesMistakesOfTheLine) {
  EXPECT_EQ(number(1, per_image, [](const Recorded& g) { return g.large_seconds / g.large_batch; }),
            "line_through_origin");
  EXPECT_EQ(number(1, per_image, [](const Recorded& g) { return g.small_seconds / g.small_batch; }),
            "line_through_origin");
  EXPECT_EQ(number(1, per_image, [](const Recorded& g) { return 1 / slope(g); }), "images_per_second");
  EXPECT_EQ(number(1, per_image, [](const Recorded& g) { return 2 * slope(g); }), "per_image_wrong");
}

TEST(Prediction, NamesMistakesOfAnotherNetwork) {
  const auto says = [](const std::function<double(const Recorded&)>& factor) {
    return number(2, other, [&](const Recorded& g) { return slope(g) * factor(g); });
  };
  EXPECT_EQ(says([](const Recorded& g) { return g.other.parameters / g.proxy.parameters; }), "scaled_by_parameters");
  EXPECT_EQ(says([](const Recorded& g) { return g.proxy.operations / g.other.operations; }), "scale_inverted");
  EXPECT_EQ(says([](const Recorded&) { return 1; }), "not_scaled");
  EXPECT_EQ(says([](const Recorded&) { return 100; }), "other_network_wrong");
}

TEST(Prediction, NamesMistakesOfTheExchange) {
  const auto takes = [](const std::function<double(double m, double n, double latency, double whole)>& formula) {
    return point(3, 0, [&](const Recorded& g, double n) {
      return formula(2 * (n - 1), n, g.link(n).latency, bytes(g) / g.link(n).bandwidth);
    });
  };
  EXPECT_EQ(takes([](double, double n, double l, double whole) { return (n - 1) * (l + whole / n); }),
            "messages_of_one_round");
  EXPECT_EQ(takes([](double, double n, double l, double whole) { return 2 * n * (l + whole / n); }),
            "messages_to_oneself");
  EXPECT_EQ(takes([](double, double n, double l, double whole) { return n * (l + whole / n); }), "exchange_wrong");
  EXPECT_EQ(takes([](double m, double n, double, double whole) { return m * whole / n; }), "latency_left_out");
  EXPECT_EQ(takes([](double m, double n, double l, double whole) { return l + m * whole / n; }), "latency_once");
  EXPECT_EQ(takes([](double m, double, double l, double whole) { return m * (l + whole); }),
            "whole_vector_each_message");
  EXPECT_EQ(takes([](double, double, double, double whole) { return whole; }), "bytes_over_bandwidth");
  EXPECT_EQ(takes([](double, double, double l, double whole) { return l + whole; }), "bytes_over_bandwidth");
  EXPECT_EQ(takes([](double m, double n, double l, double whole) { return m * l + std::floor(m / n) * whole; }),
            "whole_number_division");
  EXPECT_EQ(takes([](double m, double, double, double) { return m; }), "exchange_wrong");
}

TEST(Prediction, NamesMistakesOfSharing) {
  const auto takes = [](const std::function<double(double fixed, double images, double n, double exchange)>& formula) {
    return point(4, 1,
                 [&](const Recorded& g, double n) { return formula(rest(g), slope(g) * g.batch, n, exchange(g, n)); });
  };
  EXPECT_EQ(takes([](double f, double i, double n, double e) { return (f + i) / n + e; }), "fixed_divided");
  EXPECT_EQ(takes([](double f, double i, double n, double) { return f + i / n; }), "exchange_left_out");
  EXPECT_EQ(takes([](double f, double i, double n, double e) { return (f + i + e) / n; }), "exchange_divided");
  EXPECT_EQ(takes([](double f, double i, double, double e) { return f + i + e; }), "batch_not_shared");
  EXPECT_EQ(takes([](double f, double i, double n, double e) { return f + i / n + e / n; }), "sharing_wrong");
}

TEST(Prediction, NamesMistakesOfWhereTheGainEnds) {
  EXPECT_EQ(gain([](double ratio, double share) { return ratio / share; }), "batch_not_whole");
  EXPECT_EQ(gain([](double ratio, double share) { return std::floor(ratio / share); }), "batch_rounded_down");
  EXPECT_EQ(gain([](double ratio, double share) { return std::floor(ratio / share) + 1; }), "batch_rounded_wrongly");
  EXPECT_EQ(gain([](double ratio, double share) { return std::round(ratio / share); }), "batch_rounded_wrongly");
  EXPECT_EQ(gain([](double ratio, double share) { return std::ceil(ratio * share); }), "share_multiplied");
  EXPECT_EQ(gain([](double ratio, double) { return std::ceil(ratio); }), "share_left_out");
  EXPECT_EQ(gain([](double ratio, double share) { return std::ceil(ratio / (1 + share)); }), "end_of_gain_wrong");
  EXPECT_EQ(gain([](double ratio, double share) { return std::ceil(ratio * (1 - share) / share); }),
            "share_of_the_whole");
  EXPECT_EQ(gain([](double ratio, double share) { return std::ceil(2 * ratio / share); }), "end_of_gain_wrong");
}

TEST(Prediction, NamesMistakesOfTheChoice) {
  const auto chooses = [](const Pick& pick, double bytes_of_all = 1, double more = 0) {
    return point(6, chosen, [&](const Recorded& g, double n) {
      return pick(times(g, static_cast<int>(n), bytes_of_all * bytes(g) + more));
    });
  };
  EXPECT_EQ(chooses(quickest), "right");
  EXPECT_EQ(chooses([](auto) { return 0; }), "same_at_every_n");
  EXPECT_EQ(chooses([](auto) { return 1; }), "same_at_every_n");
  EXPECT_EQ(chooses([](auto all) { return static_cast<double>(std::ranges::max_element(all) - all.begin()); }),
            "slowest_chosen");
  EXPECT_EQ(chooses(quickest, 0, 1), "chosen_by_latency");
  EXPECT_EQ(chooses(quickest, 0, 0), "chosen_by_latency");
  EXPECT_EQ(chooses([](auto all) { return all[0] < all[1] ? 0 : 1; }), "hierarchical_left_out");
  EXPECT_EQ(chooses(quickest, 1000), "algorithm_wrong");
  EXPECT_EQ(chooses([](auto) { return -1; }), "choice_unknown");
  EXPECT_EQ(chooses([](auto) { return NAN; }), "choice_unknown");
  EXPECT_EQ(chooses([](auto) { return 2; }), "choice_unknown") << "it needs several devices of several nodes";
}

/// What chooses by a rule of n alone is right in some of them.
TEST(Prediction, ChoosesSeveralAlgorithmsInEachTestCase) {
  std::set<std::set<double>> all;
  for (const RunPlan& plan : exam_of(task_named("prediction")).situations)
    for (const Recorded& g : all_of(plan)) {
      std::set<double> choices;
      for (const int n : device_counts(g.per_node)) choices.insert(quickest(times(g, n, bytes(g))));
      EXPECT_GE(choices.size(), 2u);
      all.insert(choices);
    }
  EXPECT_EQ(all, (std::set<std::set<double>>{{0, 1}, {0, 2}, {0, 1, 2}}));
}

TEST(Prediction, ShowsWhatWasPredictedAndMeasured) {
  const auto shown_of = [](std::vector<std::vector<float>> values) {
    Fabricated runs([&](Evidence& evidence, const RunPlan& plan) {
      EXPECT_EQ(plan.test_cases, "") << "it has to measure";
      evidence.ranks.front().values = values;
    });
    return exam_of(task_named("prediction")).shows(runs);
  };
  const std::size_t n_counts = device_counts(4).size();
  std::vector<float> numbers(curve);
  for (std::size_t i = 0; i < n_counts; ++i) {
    const float seconds = 0.001f * static_cast<float>(100 - i);
    numbers.insert(numbers.end(), {0.001f, seconds, 0, seconds / 2});
  }
  const ShownFigure shown = shown_of({numbers, {0.2f, 0.25f}, {0.12f, 0.1f}});
  const Figure& figure = shown.figure;
  ASSERT_EQ(figure.curves.size(), 4u);
  EXPECT_EQ(figure.x.back(), 1024);
  EXPECT_EQ(figure.curves[0].values.front(), 100) << "milliseconds";
  EXPECT_EQ(figure.curves[0].values.back(), 101 - static_cast<double>(n_counts));
  EXPECT_EQ(figure.curves[1].values.front(), 50) << "with the chosen all-reduce";
  std::vector<std::optional<double>> predicted(n_counts), measured(n_counts);
  predicted[0] = 200, predicted[1] = 120, measured[0] = 250, measured[1] = 100;
  EXPECT_EQ(figure.curves[2].values, predicted);
  EXPECT_EQ(figure.curves[3].values, measured);
  EXPECT_TRUE(figure.curves[3].measured);
  EXPECT_EQ(shown_of({numbers, {-0.2f, 0.25f}}).figure.curves[2].values, (std::vector<std::optional<double>>(n_counts)))
      << "an axis that is logarithmic has no place for it";
  EXPECT_EQ(shown_of({}).figure.curves[0].values, (std::vector<std::optional<double>>(n_counts))) << "not measured";
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    std::vector<std::string> keys{figure.title, figure.text, figure.x_name, figure.y_name};
    for (const Curve& one : figure.curves) keys.push_back(one.name);
    for (const std::string& key : keys) EXPECT_NE(messages.text(key, shown.values), key);
  }
}

}  // namespace
}  // namespace odori::grader::test::of_prediction
