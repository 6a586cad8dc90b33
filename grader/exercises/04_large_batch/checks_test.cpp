// SPDX-License-Identifier: Apache-2.0
// The checks of task 4, on evidence put together here: what each misconception makes of right trainings.
#include <cmath>
#include <nlohmann/json.hpp>

#include "fabricated.h"
#include "files/json.h"
#include "observe/refusal.h"

namespace odori::grader::test::of_large_batch {
namespace {

/// A situation's flags, read anew.
struct Given {
  int m = 1, ranks = 1, batch = 1, base_batch = 1, updates_of_epoch = 1, end = 0;
  bool sum = false;
  double base = 0;
  double scaled() const { return base * batch * m * ranks / base_batch; }
  int n() const { return m * ranks; }
};
Given given_of(const RunPlan& plan) {
  std::map<std::string, std::string> flags;
  for (std::size_t i = 0; i + 1 < plan.flags.size(); i += 2) flags[plan.flags[i]] = plan.flags[i + 1];
  Given g{.m = std::stoi(flags.at("--accumulate")), .ranks = plan.ranks(), .batch = plan.batch_size};
  g.base_batch = std::stoi(flags.at("--base-batch"));
  g.updates_of_epoch = (53 + g.ranks - 1) / g.ranks / (g.batch * g.m);
  if (plan.trainings > 1 || flags["--only"] == "warm_up")
    g.end = g.updates_of_epoch * std::stoi(flags.at("--warmup-epochs"));
  g.sum = flags.at("--gradients") == "sum";
  g.base = plan.learning_rate;
  return g;
}

nlohmann::json cases_of(const RunPlan& plan, const char* kind) {
  return plan.test_cases.empty() ? nlohmann::json::array() : parse_json(plan.test_cases).at(kind);
}
bool is_planned(const RunPlan& plan) { return !cases_of(plan, "planned").empty(); }
bool is_choosing(const RunPlan& plan) { return !cases_of(plan, "trials").empty(); }
/// The same of training runs that are planned.
std::vector<Given> planned_in(const RunPlan& plan) {
  std::vector<Given> all;
  for (const auto& json : cases_of(plan, "planned")) {
    Given g{.m = json["accumulate"], .ranks = json["ranks"], .batch = json["batchsize"]};
    g.base_batch = json["base_batch"], g.base = json["base_rate"], g.updates_of_epoch = json["updates_of_epoch"];
    g.end = json["warmup_epochs"].get<int>() * g.updates_of_epoch;
    g.sum = true;
    all.push_back(g);
  }
  return all;
}

/// The rate of an update; and the gradient that an update is by, from that of each batch of a rank.
using Rate = std::function<double(const Given&, int update)>;
using Gradients = std::vector<std::vector<float>>;
using Made = std::function<std::vector<float>(const Given&, const Gradients& of_rank)>;

double right_rate(const Given& g, int u) { return u < g.end ? g.base + (g.scaled() - g.base) * u / g.end : g.scaled(); }
std::vector<float> weighted(const Gradients& gradients, const std::function<double(std::size_t batch)>& weight) {
  std::vector<float> sum(gradients.front().size());
  for (std::size_t batch = 0; batch < gradients.size(); ++batch)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<float>(weight(batch)) * gradients[batch][i];
  return sum;
}
std::vector<float> right_mean(const Given& g, const Gradients& gradients) {
  return weighted(gradients, [&](std::size_t) { return 1.0 / g.m; });
}

/// Ten updates; where ranks don't exchange gradients, the first one's go to all all the same, unless they are `apart`.
Evidence training(const RunPlan& plan, const Made& made, bool apart = false, int exchanges = 1) {
  const Given g = given_of(plan);
  const auto parts = parts_of(n_train(), g.ranks);
  Reference reference(data(), g.batch);
  const std::size_t ranks = parts.size(), batch = static_cast<std::size_t>(g.batch), m = static_cast<std::size_t>(g.m);
  Evidence evidence{.ending = Ending::finished, .ranks = std::vector<RankSeen>(ranks), .data_reads = 1};
  std::vector<std::vector<float>> weights(ranks, first_weights(data(), plan.programs_seed(data().seed))),
      velocity(ranks, std::vector<float>(weights.front().size()));
  for (std::size_t u = 0; u < 10; ++u) {
    const double rate = right_rate(g, static_cast<int>(u));
    Gradients of_rank;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Gradients gradients;
      Step step;
      for (std::size_t b = 0; b < m; ++b) {
        Images images;
        for (std::size_t i = 0; i < batch; ++i)
          images.push_back(parts[rank][((u * m + b) * batch + i) % parts[rank].size()]);
        step.images.insert(step.images.end(), images.begin(), images.end());
        gradients.push_back(reference.gradient(weights[rank], images));
      }
      of_rank.push_back(made(g, gradients));
      evidence.ranks[rank].steps.push_back({step});
      evidence.ranks[rank].values.push_back({static_cast<float>(g.sum ? rate / g.n() : rate)});
      for (int i = 0; i < exchanges; ++i) evidence.ranks[rank].collectives.emplace_back("average_over_ranks()");
    }
    const auto mean = weighted(of_rank, [&](std::size_t) { return 1.0 / g.ranks; });
    const double decay = 5e-4 / (g.sum ? g.n() : 1);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::vector<float>& gradient = apart ? of_rank[rank] : mean;
      for (std::size_t i = 0; i < mean.size(); ++i) {
        velocity[rank][i] =
            static_cast<float>(0.9 * velocity[rank][i] - rate * (gradient[i] + decay * weights[rank][i]));
        weights[rank][i] += velocity[rank][i];
      }
      evidence.ranks[rank].steps.back().front().parameters = weights[rank];
    }
  }
  for (RankSeen& rank : evidence.ranks) {
    rank.evaluations.resize(static_cast<std::size_t>(plan.epochs));
    rank.earlier_trainings = plan.trainings - 1;
  }
  return evidence;
}

/// Their rates, as the program shows them: the last one for a sum, then those of all updates for the mean.
Evidence planned_rates(const RunPlan& plan, const Rate& rate, const Rate& of_sum) {
  Evidence evidence = without_training(plan);
  for (const Given& g : planned_in(plan)) {
    std::vector<float>& numbers = evidence.ranks.front().values.emplace_back();
    numbers.push_back(static_cast<float>(of_sum(g, g.end + 1)));
    for (int u = 0; u < g.end + 2; ++u) numbers.push_back(static_cast<float>(rate(g, u)));
  }
  return evidence;
}
double right_of_sum(const Given& g, int u) { return right_rate(g, u) / g.n(); }

/// The recorded trainings of each batch, each as the program shows a chosen one.
using Trials = std::vector<std::vector<float>>;
std::vector<Trials> trials_of(const RunPlan& plan) {
  std::vector<Trials> of_batches;
  for (const auto& batch : cases_of(plan, "trials")) {
    Trials& trials = of_batches.emplace_back();
    for (const auto& json : batch)
      trials.push_back({json["images_per_second"], json["training_loss"], json["held_out_accuracy"]});
  }
  return of_batches;
}
/// The one with the largest value, of each batch.
using Value = std::function<float(const std::vector<float>&)>;
Evidence choice(const RunPlan& plan, const Value& value) {
  Evidence evidence = without_training(plan);
  for (const Trials& trials : trials_of(plan))
    evidence.ranks.front().values.push_back(*std::ranges::max_element(trials, {}, value));
  return evidence;
}

Evidence right(const RunPlan& plan) {
  if (is_planned(plan)) return planned_rates(plan, right_rate, right_of_sum);
  if (is_choosing(plan)) return choice(plan, [](const auto& trial) { return trial[2]; });
  static std::map<RunPlan, Evidence> made;  // gradients take time
  const auto [entry, is_new] = made.try_emplace(plan);
  if (is_new) entry->second = training(plan, right_mean);
  return entry->second;
}

std::string large_batch(int blank, const Fabricated::Change& change) {
  return verdict_on("large_batch", blank, change, right);
}
/// What the rates become, as the mean would need them.
std::string rates(int blank, const Rate& rate) {
  return large_batch(blank, [&](Evidence& evidence, const RunPlan& plan) {
    if (is_planned(plan))
      evidence = planned_rates(plan, rate, [&](const Given& g, int u) { return rate(g, u) / g.n(); });
    if (plan.epochs == 0) return;
    const Given g = given_of(plan);
    for (RankSeen& rank : evidence.ranks)
      for (std::size_t u = 0; u < rank.values.size(); ++u)
        rank.values[u] = {static_cast<float>(rate(g, static_cast<int>(u)) / (g.sum ? g.n() : 1))};
  });
}
/// What the factor becomes.
std::string factor(const std::function<double(const Given&)>& k) {
  return rates(1, [&](Given g, int u) {
    const double scaled = g.base * k(g);
    return u < g.end ? g.base + (scaled - g.base) * u / g.end : scaled;
  });
}
std::string scaled(const std::function<double(const Given&)>& rate) {
  return rates(2, [&](const Given& g, int u) { return u < g.end ? g.base + (rate(g) - g.base) * u / g.end : rate(g); });
}
std::string warm_up(const Rate& rate) {
  return rates(3, [&](const Given& g, int u) { return u < g.end ? rate(g, u) : g.scaled(); });
}
std::string gradients(int blank, const Made& made, bool apart = false, int exchanges = 1) {
  return large_batch(blank, [&](Evidence& evidence, const RunPlan& plan) {
    if (plan.epochs > 0) evidence = training(plan, made, apart, exchanges);
  });
}
std::string chosen(const Value& value) {
  return large_batch(7, [&](Evidence& evidence, const RunPlan& plan) {
    if (is_choosing(plan)) evidence = choice(plan, value);
  });
}
/// In the one batch, counted from 0, another one is chosen; none: in all.
std::string chosen_in(std::optional<std::size_t> batch, const std::function<std::vector<float>(const Trials&)>& of) {
  return large_batch(7, [&](Evidence& evidence, const RunPlan& plan) {
    if (!is_choosing(plan)) return;
    const auto of_batches = trials_of(plan);
    for (std::size_t i = 0; i < of_batches.size(); ++i)
      if (i == batch.value_or(i)) evidence.ranks.front().values[i] = of(of_batches[i]);
  });
}

TEST(LargeBatch, AcceptsRightOnes) {
  for (int blank = 1; blank <= 7; ++blank) EXPECT_EQ(large_batch(blank, [](Evidence&, const RunPlan&) {}), "right");
  EXPECT_EQ(factor([](const Given& g) { return g.scaled() / g.base * (1 + 3e-7); }), "right");
  EXPECT_NE(factor([](const Given& g) { return g.scaled() / g.base * (1 + 1e-5); }), "right");
}

TEST(LargeBatch, NamesMistakesOfTheFactor) {
  EXPECT_EQ(factor([](const Given& g) { return 1.0 * g.batch / g.base_batch; }), "local_batch_taken");
  EXPECT_EQ(factor([](const Given& g) { return 1.0 * g.batch * g.ranks / g.base_batch; }), "accumulation_left_out");
  EXPECT_EQ(factor([](const Given& g) { return 1.0 * g.batch * g.m / g.base_batch; }), "ranks_left_out");
  EXPECT_EQ(factor([](const Given& g) { return g.batch * g.n(); }), "base_batch_left_out");
  EXPECT_EQ(factor([](const Given& g) { return g.n(); }), "batches_counted");
  EXPECT_EQ(factor([](const Given& g) { return g.base / g.scaled(); }), "factor_inverted");
  EXPECT_EQ(factor([](const Given& g) { return g.batch * g.n() / g.base_batch; }), "factor_whole_number");
  EXPECT_EQ(factor([](const Given& g) { return g.batch / g.base_batch; }), "factor_whole_number");
  EXPECT_EQ(factor([](const Given&) { return 17; }), "factor_wrong");
}

TEST(LargeBatch, TriesLargeNumbersToo) {
  EXPECT_EQ(factor([](const Given& g) { return 1.0 * g.batch * std::min(g.m, 16) * g.ranks / g.base_batch; }),
            "factor_wrong");
  EXPECT_EQ(scaled([](const Given& g) { return g.base * std::min(64.0, g.scaled() / g.base); }), "scaled_rate_wrong");
  EXPECT_EQ(rates(3, [](const Given& g, int u) { return u > 50 ? g.scaled() : right_rate(g, u); }), "warm_up_wrong");
}

TEST(LargeBatch, NamesMistakesOfTheScaledRate) {
  EXPECT_EQ(scaled([](const Given& g) { return g.base; }), "rate_not_scaled");
  EXPECT_EQ(scaled([](const Given& g) { return std::sqrt(g.base * g.scaled()); }), "square_root_scaled");
  EXPECT_EQ(scaled([](const Given& g) { return g.base * g.base / g.scaled(); }), "rate_divided");
  EXPECT_EQ(scaled([](const Given& g) { return g.scaled() / g.base; }), "base_rate_left_out");
  EXPECT_EQ(scaled([](const Given& g) { return 2 * g.scaled(); }), "scaled_rate_wrong");
  EXPECT_EQ(scaled([](const Given&) { return NAN; }), "scaled_rate_wrong");
}

TEST(LargeBatch, NamesMistakesOfWarmUp) {
  EXPECT_EQ(warm_up([](const Given& g, int) { return g.scaled(); }), "warm_up_missing");
  EXPECT_EQ(warm_up([](const Given& g, int) { return g.base; }), "warm_up_jumps");
  EXPECT_EQ(warm_up([](const Given& g, int u) { return g.scaled() * u / g.end; }), "warm_up_from_zero");
  EXPECT_EQ(warm_up([](const Given& g, int u) { return g.scaled() * (u + 1) / g.end; }), "warm_up_from_zero");
  EXPECT_EQ(warm_up([](const Given& g, int u) { return g.base + (g.scaled() - g.base) * (u + 1) / g.end; }),
            "warm_up_a_step_early");
  EXPECT_EQ(warm_up([](const Given& g, int u) { return g.base + g.scaled() * u / g.end; }), "warm_up_overshoots");
  EXPECT_EQ(warm_up([](const Given& g, int u) {
              const int epoch = u / g.updates_of_epoch, epochs = g.end / g.updates_of_epoch;
              return g.base + (g.scaled() - g.base) * epoch / epochs;
            }),
            "warm_up_by_epochs");
  EXPECT_EQ(warm_up([](const Given& g, int u) {
              return g.base + (g.scaled() - g.base) * std::min(1.0, 1.0 * u / g.updates_of_epoch);
            }),
            "warm_up_in_one_epoch");
  EXPECT_EQ(warm_up([](const Given& g, int u) { return u == 3 ? g.base : right_rate(g, u); }), "warm_up_wrong");
  EXPECT_EQ(rates(3, [](const Given& g, int u) { return g.end == 0 && u > 0 ? NAN : right_rate(g, u); }),
            "warm_up_wrong");
}

TEST(LargeBatch, NamesMistakesOfTheRateForASum) {
  const auto sum = [](double (*rate)(double, int)) {
    return rates(
        4, [&](const Given& g, int u) { return g.sum ? g.n() * rate(right_rate(g, u), g.n()) : right_rate(g, u); });
  };
  /// Where only planned trainings show it.
  const auto planned_sum = [](const Rate& of_sum) {
    return large_batch(4, [&](Evidence& evidence, const RunPlan& plan) {
      if (is_planned(plan)) evidence = planned_rates(plan, right_rate, of_sum);
    });
  };
  EXPECT_EQ(planned_sum(right_of_sum), "right");
  EXPECT_EQ(planned_sum([](const Given& g, int u) { return g.n() < 4 ? right_rate(g, u) : right_of_sum(g, u); }),
            "sum_rate_unchanged");
  EXPECT_EQ(planned_sum([](const Given& g, int u) { return std::round(1e6 * right_of_sum(g, u)) / 1e6; }),
            "sum_rate_wrong");
  EXPECT_EQ(sum([](double rate, int) { return rate; }), "sum_rate_unchanged");
  EXPECT_EQ(sum([](double rate, int n) { return rate * n; }), "sum_rate_multiplied");
  EXPECT_EQ(sum([](double rate, int n) { return rate / std::sqrt(n); }), "sum_rate_by_square_root");
  EXPECT_EQ(sum([](double rate, int n) { return rate / (n + 1); }), "sum_rate_wrong");
}

TEST(LargeBatch, NamesMistakesOfAccumulating) {
  const auto total = [](const std::function<double(const Given&, std::size_t)>& weight, int exchanges = 1) {
    return gradients(
        5,
        [&](const Given& g, const Gradients& of_batches) {
          return weighted(of_batches, [&](std::size_t batch) { return weight(g, batch) / g.m; });
        },
        false, exchanges);
  };
  const auto is_last = [](const Given& g, std::size_t batch) { return static_cast<int>(batch) == g.m - 1 ? 1.0 : 0.0; };
  EXPECT_EQ(total(is_last), "last_batch_alone");
  EXPECT_EQ(total([](const Given& g, std::size_t) { return 1.0 / g.m; }), "divided_in_the_loop");
  EXPECT_EQ(total([](const Given&, std::size_t batch) { return batch == 0 ? 2.0 : 1.0; }), "total_wrong");
  EXPECT_EQ(total([](const Given&, std::size_t) { return 1.0; }, 4), "exchanged_each_batch");
}

/// A loop that misses a number, or begins behind the first.
TEST(LargeBatch, NamesSingleNumbers) {
  for (const float times : {0.0f, 2.0f})
    for (const int blank : {5, 6})
      EXPECT_EQ(gradients(blank,
                          [&](const Given& g, const Gradients& of_batches) {
                            std::vector<float> mean = right_mean(g, of_batches);
                            mean.front() *= times;
                            return mean;
                          }),
                "some_numbers_wrong");
}

TEST(LargeBatch, NamesMistakesOfTheMean) {
  EXPECT_EQ(gradients(6, [](const Given&, const Gradients& g) { return weighted(g, [](auto) { return 1.0; }); }),
            "batches_not_averaged");
  EXPECT_EQ(gradients(6, [](const Given&, const Gradients& g) { return weighted(g, [](auto) { return -1.0; }); }),
            "mean_wrong");
  EXPECT_EQ(gradients(6, [](const Given&, const Gradients& g) { return weighted(g, [](auto) { return 0.7; }); }),
            "mean_wrong");
  EXPECT_EQ(gradients(6, right_mean, true, 0), "not_exchanged");
  EXPECT_EQ(gradients(6, right_mean, true), "ranks_apart");
  EXPECT_EQ(gradients(6, right_mean, false, 3), "exchanged_too_often");
  for (const int blank : {5, 6})
    EXPECT_EQ(large_batch(blank,
                          [](Evidence& evidence, const RunPlan& plan) {
                            if (plan.epochs == 0) return;
                            evidence.ending = Ending::failed;
                            evidence.ranks.front().error = "Seven numbers are too few.";
                            evidence.ranks.front().events = {{refusal::other_gradients, {}}};
                          }),
              "other_length_exchanged");
}

TEST(LargeBatch, JudgesTheLastOfSeveralTrainings) {
  const auto in_the_last = [](const Rate& rate) {
    return large_batch(3, [&](Evidence& evidence, const RunPlan& plan) {
      if (plan.trainings == 1) return;
      const Given g = given_of(plan);
      for (std::size_t u = 0; u < evidence.ranks.front().values.size(); ++u)
        evidence.ranks.front().values[u] = {static_cast<float>(rate(g, static_cast<int>(u)))};
    });
  };
  EXPECT_EQ(in_the_last(right_rate), "right");
  EXPECT_EQ(in_the_last([](const Given& g, int u) { return right_rate(g, u + 100); }), "warm_up_missing");
  EXPECT_EQ(large_batch(1,
                        [](Evidence& evidence, const RunPlan& plan) {
                          if (plan.trainings > 1) evidence.ranks.front().earlier_trainings = plan.trainings - 2;
                        }),
            "ended_early");
  EXPECT_EQ(large_batch(6,
                        [](Evidence& evidence, const RunPlan& plan) {
                          RankSeen& rank = evidence.ranks.front();
                          if (plan.trainings == 1) return;
                          rank.earlier_updates = 90;
                          rank.collectives.insert(rank.collectives.end(), 90, "average_over_ranks()");
                        }),
            "right");
}

TEST(LargeBatch, NamesMistakesOfTheChoice) {
  EXPECT_EQ(chosen([](const auto& trial) { return trial[0]; }), "chosen_by_throughput");
  EXPECT_EQ(chosen([](const auto& trial) { return -trial[1]; }), "chosen_by_training_loss");
  EXPECT_EQ(chosen([](const auto& trial) { return -trial[2]; }), "chosen_least_accurate");
  EXPECT_EQ(chosen([](const auto& trial) { return trial[0] * trial[2]; }), "choice_wrong") << "it looked";
  EXPECT_EQ(chosen([](const auto& trial) { return trial[1]; }), "choice_wrong");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(chosen_in({}, [&](const Trials& trials) { return trials[i % trials.size()]; }), "chosen_without_looking");
  const auto none = [](const Trials&) { return std::vector<float>{1, 2, 3}; };
  EXPECT_EQ(chosen_in({}, none), "chosen_none_of_them");
  EXPECT_EQ(chosen_in(2, none), "chosen_none_of_them") << "where nothing was learned";
  // The right one of one batch, and no criterion's of the other.
  EXPECT_EQ(chosen_in(1, [](const Trials& trials) { return trials[1]; }), "choice_wrong");
  for (const std::size_t batch : {1, 2})
    EXPECT_EQ(large_batch(7,
                          [&](Evidence& evidence, const RunPlan& plan) {
                            auto& values = evidence.ranks.front().values;
                            if (is_choosing(plan)) values[batch] = values[batch - 1];
                          }),
              "chosen_of_an_earlier_batch");
}

TEST(LargeBatch, WantsValuesAndAWholeTraining) {
  EXPECT_EQ(large_batch(7,
                        [](Evidence& evidence, const RunPlan& plan) {
                          if (plan.epochs == 0) evidence.ranks.front().values.clear();
                        }),
            "no_values");
  EXPECT_EQ(large_batch(1,
                        [](Evidence& evidence, const RunPlan&) {
                          for (RankSeen& rank : evidence.ranks) rank.evaluations.clear();
                        }),
            "ended_early");
}

}  // namespace
}  // namespace odori::grader::test::of_large_batch
