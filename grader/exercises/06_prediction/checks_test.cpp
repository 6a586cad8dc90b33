// SPDX-License-Identifier: Apache-2.0
// The checks of task 6, on evidence put together here: what each misconception makes of right predictions.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "fabricated.h"
#include "model/networks.h"
#include "prediction_support.h"

namespace odori::grader::test {
namespace {

/// As the program shows them: 6 numbers, then the exchange and the iteration of 1, 2, 3, 4, 6, ... 1024 devices.
using Numbers = std::vector<double>;
constexpr std::size_t iterations = 0, per_image = 1, fixed = 2, other = 3, within = 4, within_tenth = 5, curve = 6;

/// A test case, read independently of the checks.
struct Recorded {
  double small_batch = 0, small_seconds = 0, large_batch = 0, large_seconds = 0, images = 0, batch = 0;
  NetworkCost proxy, other;
  double latency = 0, bandwidth = 0;  // bytes a second
  double percent = 0;
};
Recorded read(const nlohmann::json& json) {
  Recorded g;
  g.small_batch = json["small_batch"], g.small_seconds = json["small_seconds"];
  g.large_batch = json["large_batch"], g.large_seconds = json["large_seconds"];
  char unit = 0, after = 0;
  const std::string link = json["link"];
  EXPECT_EQ(std::sscanf(link.c_str(), "%lf%cbit,%lf%c", &g.bandwidth, &unit, &g.latency, &after), 4);
  g.bandwidth *= (unit == 'g' ? 1e9 : 1e6) / 8;
  g.latency *= after == 'u' ? 1e-6 : 1e-3;
  g.images = json["images"], g.batch = json["batch"], g.percent = json["percent"];
  g.proxy = cost_of(create_network(json["network"], 10)), g.other = cost_of(create_network(json["other"], 10));
  return g;
}
/// All predictions of a run, in their order.
std::vector<Recorded> all_of(const RunPlan& plan) {
  std::vector<Recorded> all;
  for (const auto& json : nlohmann::json::parse(plan.test_cases)) all.push_back(read(json));
  return all;
}

double slope(const Recorded& g) { return (g.large_seconds - g.small_seconds) / (g.large_batch - g.small_batch); }
double rest(const Recorded& g) { return g.small_seconds - slope(g) * g.small_batch; }
double bytes(const Recorded& g) { return 4 * g.proxy.parameters; }
double exchange(const Recorded& g, double n) {
  return 2 * (n - 1) * g.latency + 2 * (n - 1) / n * bytes(g) / g.bandwidth;
}
double shared(const Recorded& g, double n) { return rest(g) + slope(g) * g.batch / n + exchange(g, n); }

Numbers right_numbers(const Recorded& g) {
  Numbers numbers{std::ceil(g.images / g.batch),
                  slope(g),
                  rest(g),
                  slope(g) * g.other.operations / g.proxy.operations,
                  std::ceil(rest(g) / slope(g) / (g.percent / 100)),
                  std::ceil(rest(g) / slope(g) / (g.percent / 1000))};
  for (const double n : device_counts) numbers.insert(numbers.end(), {exchange(g, n), shared(g, n)});
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
/// What one of the six numbers becomes.
std::string number(int blank, std::size_t which, const std::function<double(const Recorded&)>& formula) {
  return prediction(blank, [&](Numbers& numbers, const Recorded& g) { numbers[which] = formula(g); });
}
/// What the exchanges, or the iterations, become.
std::string point(int blank, std::size_t which, const std::function<double(const Recorded&, double n)>& formula) {
  return prediction(blank, [&](Numbers& numbers, const Recorded& g) {
    for (std::size_t i = 0; i < std::size(device_counts); ++i)
      numbers[curve + 2 * i + which] = formula(g, device_counts[i]);
  });
}
std::string gain(const std::function<double(double ratio, double share)>& formula) {
  return prediction(8, [&](Numbers& numbers, const Recorded& g) {
    const double ratio = rest(g) / slope(g);
    numbers[within] = formula(ratio, g.percent / 100), numbers[within_tenth] = formula(ratio, g.percent / 1000);
  });
}

TEST(Prediction, AcceptsRightOnes) {
  for (int blank = 1; blank <= 8; ++blank)
    EXPECT_EQ(prediction(blank, [](Numbers&, const Recorded&) {}), "right") << blank;
  EXPECT_EQ(number(2, per_image, [](const Recorded& g) { return slope(g) * (1 + 5e-6); }), "right");
  EXPECT_NE(number(2, per_image, [](const Recorded& g) { return slope(g) * (1 + 3e-5); }), "right");
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
  EXPECT_EQ(number(2, per_image, [](const Recorded&) { return NAN; }), "per_image_wrong");
  EXPECT_EQ(number(8, within, [](const Recorded&) { return INFINITY; }), "end_of_gain_wrong");
}

TEST(Prediction, SeesWhatIsKeptFromThePredictionBefore) {
  const std::map<std::size_t, int> blanks{{iterations, 1}, {per_image, 2},    {fixed, 3},     {other, 4},
                                          {within, 8},     {within_tenth, 8}, {curve + 2, 6}, {curve + 3, 7}};
  for (const auto& [which, blank] : blanks) {
    const Change change = [&, which](Numbers& numbers, const Recorded&) { numbers[which] *= 3; };
    EXPECT_NE(prediction(blank, change, 1), "right") << which;
  }
}

TEST(Prediction, NamesMistakesOfIterations) {
  const auto says = [](double (*formula)(double)) {
    return number(1, iterations, [&](const Recorded& g) { return formula(g.images / g.batch); });
  };
  EXPECT_EQ(says([](double exact) { return std::floor(exact); }), "last_images_left_out");
  EXPECT_EQ(says([](double exact) { return std::floor(exact) + 1; }), "one_iteration_too_many");
  EXPECT_EQ(says([](double exact) { return exact; }), "iterations_not_whole");
  EXPECT_EQ(says([](double exact) { return 2 * std::ceil(exact); }), "iterations_wrong");
  EXPECT_EQ(number(1, iterations, [](const Recorded& g) { return std::ceil(g.images * (1.0 / g.batch)); }),
            "one_iteration_too_many");
}

TEST(Prediction, NamesMistakesOfTheLine) {
  EXPECT_EQ(number(2, per_image, [](const Recorded& g) { return g.large_seconds / g.large_batch; }),
            "line_through_origin");
  EXPECT_EQ(number(2, per_image, [](const Recorded& g) { return g.small_seconds / g.small_batch; }),
            "line_through_origin");
  EXPECT_EQ(number(2, per_image, [](const Recorded& g) { return 1 / slope(g); }), "images_per_second");
  EXPECT_EQ(number(2, per_image, [](const Recorded& g) { return 2 * slope(g); }), "per_image_wrong");
  EXPECT_EQ(number(3, fixed, [](const Recorded&) { return 0; }), "fixed_left_out");
  EXPECT_EQ(number(3, fixed, [](const Recorded& g) { return g.small_seconds; }), "fixed_is_whole_iteration");
  EXPECT_EQ(number(3, fixed, [](const Recorded& g) { return g.large_seconds - slope(g) * g.small_batch; }),
            "points_mixed");
  EXPECT_EQ(number(3, fixed, [](const Recorded& g) { return 2 * rest(g); }), "fixed_wrong");
}

TEST(Prediction, NamesMistakesOfAnotherNetwork) {
  const auto says = [](const std::function<double(const Recorded&)>& factor) {
    return number(4, other, [&](const Recorded& g) { return slope(g) * factor(g); });
  };
  EXPECT_EQ(says([](const Recorded& g) { return g.other.parameters / g.proxy.parameters; }), "scaled_by_parameters");
  EXPECT_EQ(says([](const Recorded& g) { return g.proxy.operations / g.other.operations; }), "scale_inverted");
  EXPECT_EQ(says([](const Recorded&) { return 1; }), "not_scaled");
  EXPECT_EQ(says([](const Recorded&) { return 100; }), "other_network_wrong");
}

TEST(Prediction, NamesMistakesOfTheExchange) {
  const auto messages = [](double (*count)(double n)) {
    return point(5, 0,
                 [&](const Recorded& g, double n) { return count(n) * (g.latency + bytes(g) / n / g.bandwidth); });
  };
  EXPECT_EQ(messages([](double n) { return n - 1; }), "messages_of_one_round");
  EXPECT_EQ(messages([](double n) { return 2 * n; }), "messages_to_oneself");
  EXPECT_EQ(messages([](double n) { return n; }), "messages_wrong");
  const auto takes = [](const std::function<double(double m, double n, double latency, double whole)>& formula) {
    return point(
        6, 0, [&](const Recorded& g, double n) { return formula(2 * (n - 1), n, g.latency, bytes(g) / g.bandwidth); });
  };
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
    return point(7, 1,
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
  EXPECT_EQ(gain([](double ratio, double share) { return std::ceil(ratio * (1 - share) / share); }),
            "share_of_the_whole");
  EXPECT_EQ(gain([](double ratio, double share) { return std::ceil(2 * ratio / share); }), "end_of_gain_wrong");
}

TEST(Prediction, ShowsWhatWasPredictedAndMeasured) {
  const auto shown_of = [](std::vector<std::vector<float>> values) {
    Fabricated runs([&](Evidence& evidence, const RunPlan& plan) {
      EXPECT_EQ(plan.test_cases, "") << "it has to measure";
      evidence.ranks.front().values = values;
    });
    return exam_of(task_named("prediction")).shows(runs);
  };
  constexpr std::size_t n_counts = std::size(device_counts);
  std::vector<float> numbers(6);
  for (std::size_t i = 0; i < n_counts; ++i)
    numbers.insert(numbers.end(), {0.001f, 0.001f * static_cast<float>(100 - i)});
  const ShownFigure shown = shown_of({numbers, {0.2f, 0.25f}, {0.12f, 0.1f}});
  const Figure& figure = shown.figure;
  ASSERT_EQ(figure.curves.size(), 3u);
  EXPECT_EQ(figure.x.back(), 1024);
  EXPECT_EQ(figure.curves[0].values.front(), 100) << "milliseconds";
  EXPECT_EQ(figure.curves[0].values.back(), 81);
  std::vector<std::optional<double>> predicted(n_counts), measured(n_counts);
  predicted[0] = 200, predicted[1] = 120, measured[0] = 250, measured[1] = 100;
  EXPECT_EQ(figure.curves[1].values, predicted);
  EXPECT_EQ(figure.curves[2].values, measured);
  EXPECT_TRUE(figure.curves[2].measured);
  EXPECT_EQ(shown_of({numbers, {-0.2f, 0.25f}}).figure.curves[1].values, (std::vector<std::optional<double>>(n_counts)))
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
}  // namespace odori::grader::test
