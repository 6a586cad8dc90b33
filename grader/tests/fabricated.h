// SPDX-License-Identifier: Apache-2.0
// Evidence put together by hand: right training runs of tasks 1 and 2, and what a test makes of these or of others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checks/checks.h"
#include "checks/findings.h"
#include "data/sub_dataset.h"
#include "messages/messages.h"
#include "runner/run.h"
#include "synthetic.h"

namespace odori::grader::test {

inline const RunData& data() {
  static const ScratchFolder folder;
  static const RunData data = [] {
    const auto path = folder.path() / "data";
    synthetic::write_set(path, {.train = 53, .test = 23, .seed = 7});
    return RunData{path, load_cifar(path.string()), 7};
  }();
  return data;
}
inline std::size_t n_train() { return data().sets.train->size(); }
inline std::size_t n_test() { return data().sets.test->size(); }

/// Parts of a set, as positions: in random order or not.
inline std::vector<Images> parts_of(std::size_t size, int n, bool random = true) {
  const Images order = random ? whole_set_order(size, 3) : whole_set(size);
  std::vector<Images> parts;
  const std::size_t part = size / static_cast<std::size_t>(n);
  for (auto begin = order.begin(); static_cast<int>(parts.size()) < n; begin += static_cast<std::ptrdiff_t>(part))
    parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(part));
  return parts;
}

inline IteratorSeen over(const Images& images, bool repeat = true, int batch_size = 4) {
  return {.batch_size = batch_size, .repeat = repeat, .images = images, .not_counted = {}};
}

/// Three updates on these images, a part for each worker, by the mean gradient. `sgd_of` that many epochs: as the plan
/// has it, or wrongly. `start`: as find_wrong_weights() has it.
inline Updates train(const RunPlan& plan, const std::vector<Images>& parts,
                     const std::function<Sgd(double epochs)>& sgd_of, const StartingPoint* start = nullptr) {
  const auto batch = static_cast<std::size_t>(plan.images_of_worker());
  Reference reference(data(), plan.images_of_worker() * static_cast<int>(parts.size()));
  std::vector<float> weights = start ? start->weights : first_weights(data(), plan.programs_seed(data().seed)),
                     velocity(weights.size());
  for (std::size_t i = 0; start && i < velocity.size(); ++i) velocity[i] = weights[i] - start->earlier[i];
  Updates updates;
  for (std::size_t update = 0; update < 3; ++update) {
    std::vector<Step> steps;
    Images all;
    for (const Images& part : parts) {
      Step& step = steps.emplace_back(Step{static_cast<int>(steps.size()), {}, {}});
      for (std::size_t i = 0; i < batch; ++i) step.images.push_back(part[(update * batch + i) % part.size()]);
      all.insert(all.end(), step.images.begin(), step.images.end());
    }
    const std::vector<float> gradient = reference.gradient(weights, all);
    const Sgd sgd = sgd_of(static_cast<double>(update * batch) / std::ceil(1.0 * n_train() / plan.workers()));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      velocity[i] = static_cast<float>(sgd.momentum * velocity[i] - sgd.rate * (gradient[i] + sgd.decay * weights[i]));
      weights[i] += velocity[i];
    }
    for (Step& step : steps) step.parameters = weights;
    updates.push_back(steps);
  }
  return updates;
}
inline Updates train(const RunPlan& plan, const std::vector<Images>& parts, const Sgd& sgd) {
  return train(plan, parts, [&](double) { return sgd; });
}
inline Updates train(const RunPlan& plan, const std::vector<Images>& parts) {
  return train(plan, parts, [&](double epochs) { return sgd_of(plan, epochs); });
}

/// The last epoch's evaluation, and its report.
inline void change_evaluation(RankSeen& seen, const std::function<void(EvaluationSeen&)>& change) {
  change(seen.evaluations.back());
  seen.observations.back() = {{seen.evaluations.back().loss, seen.evaluations.back().accuracy}, seen.steps.size()};
}
inline void evaluate_each_epoch(RankSeen& seen, const RunPlan& plan, const Images& images) {
  seen.evaluations.clear(), seen.observations.clear();
  const auto epochs = static_cast<std::size_t>(plan.epochs);
  for (std::size_t epoch = 1; epoch <= epochs; ++epoch) {
    const std::size_t updates = (seen.steps.size() * epoch + epochs - 1) / epochs;  // of the three, one at least
    const EvaluationSeen result = evaluate(data(), seen.steps[updates - 1].front().parameters, images);
    seen.evaluations.push_back(result);
    seen.observations.push_back({{result.loss, result.accuracy}, updates});
  }
}

/// Task 1, all right.
inline Evidence one_process(const RunPlan& plan) {
  const int n = plan.devices;
  RankSeen seen{.device = 0, .model_device = 0, .loaded_data = true, .updater = "ParallelUpdater"};
  for (int device = 0; device < n; ++device)
    seen.devices[device == 0 ? "main" : "gpu" + std::to_string(device)] = device;
  const std::vector<Images> shares = parts_of(n_train(), n);
  for (const Images& share : shares) seen.train_iterators.push_back(over(share, true, plan.batch_size));
  seen.steps = train(plan, shares);
  seen.evaluator_device = 0;
  seen.test_iterator = over(whole_set(n_test()), false);
  evaluate_each_epoch(seen, plan, whole_set(n_test()));
  return {.ending = Ending::finished, .ranks = {seen}, .data_reads = 1};
}

/// Task 2, all right: shards of equal length, which overlap where they have to.
inline Evidence ranks_on(const RunPlan& plan) {
  const std::vector<int>& nodes = plan.nodes;
  const int n = static_cast<int>(nodes.size());
  const auto shards_of = [n](std::size_t size) {
    const Images order = whole_set_order(size, 5);
    std::vector<Images> shards;
    for (int rank = 0; rank < n; ++rank) {
      const std::size_t begin = size * static_cast<std::size_t>(rank) / static_cast<std::size_t>(n);
      const std::size_t length = (size + static_cast<std::size_t>(n) - 1) / static_cast<std::size_t>(n);
      shards.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                          order.begin() + static_cast<std::ptrdiff_t>(begin + length));
    }
    return shards;
  };
  const auto train_shards = shards_of(n_train()), test_shards = shards_of(n_test());
  const Updates updates = train(plan, train_shards);
  Evidence evidence{.ending = Ending::finished, .data_reads = 1};
  std::set<std::int64_t> counted;
  for (int rank = 0; rank < n; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const int device = static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank, nodes[r]));
    RankSeen& seen = evidence.ranks.emplace_back(RankSeen{.device = device, .model_device = device});
    seen.loaded_data = rank == 0;
    seen.updater = "StandardUpdater";
    seen.train_iterators = {over(train_shards[r], true, plan.batch_size)};
    seen.test_iterator = over({}, false);
    for (const std::int64_t image : test_shards[r])
      (counted.insert(image).second ? seen.test_iterator->images : seen.test_iterator->not_counted).push_back(image);
    for (const auto& update : updates) seen.steps.push_back({update[r]});
    evaluate_each_epoch(seen, plan, whole_set(n_test()));
    seen.scatter_roots = {0, 0};
    seen.collectives = {"scatter_dataset()", "scatter_dataset()", "optimizer->setup()"};
    for (int update = 0; update < 3; ++update) seen.collectives.emplace_back("optimizer->update()");
    seen.collectives.insert(seen.collectives.end(), {"multi_node_evaluator->evaluate()", "MPI_Finalize()"});
  }
  return evidence;
}

/// Of a program that trains nothing, and has shown nothing yet.
inline Evidence without_training(const RunPlan& plan) {
  return {.ending = Ending::finished, .ranks = std::vector<RankSeen>(static_cast<std::size_t>(plan.ranks()))};
}

/// All right, as the plan has it.
inline Evidence right_run(const RunPlan& plan) {
  return plan.epochs == 0 ? without_training(plan) : plan.nodes.empty() ? one_process(plan) : ranks_on(plan);
}

/// Evidence that a test has changed, the same for every run of a plan.
class Fabricated : public Runs {
 public:
  using Right = std::function<Evidence(const RunPlan&)>;
  using Change = std::function<void(Evidence&, const RunPlan&)>;
  explicit Fabricated(Change change, Right right = right_run) : right_(std::move(right)), change_(std::move(change)) {}
  const Evidence& of(const RunPlan& plan) override {
    const auto [entry, is_new] = runs_.try_emplace(plan);
    if (is_new) {
      entry->second = right_(plan);
      change_(entry->second, plan);
    }
    return entry->second;
  }
  const RunData& data() const override { return test::data(); }

 private:
  Right right_;
  Change change_;
  std::map<RunPlan, Evidence> runs_;
};

/// Is a "{name}" left, or a "{name|"?
inline bool has_gap(const std::string& text) {
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
    if (end != std::string::npos && end > at + 1 && std::string_view("#|}").find(text[end]) != std::string_view::npos)
      return true;
  }
  return false;
}

/// The key of the first finding of a blank's checks, and of those that are anyone's, in the exam's situations; "right"
/// for none. Its words in both languages have no gap.
inline std::string verdict_on(const char* task, int blank, const Fabricated::Change& change,
                              const Fabricated::Right& right = right_run) {
  Fabricated runs(change, right);
  const Exam exam = exam_of(task_named(task));
  for (const RunPlan& plan : exam.situations)
    for (const int whose : {blank, 0})
      for (const Check& check : exam.checks) {
        if (check.blank != whose) continue;
        const Found found = check.find({runs, plan});
        if (!found) continue;
        for (const char* language : {"en", "ja"}) {
          const std::string text = Messages(ODORI_FOLDER, language).text(*found);
          EXPECT_FALSE(has_gap(text)) << found->key << ": " << text;
          EXPECT_GT(text.size(), 60u) << text;
        }
        return found->key;
      }
  return "right";
}

/// Of task 1: what to make of the only rank, with that many devices.
inline std::string multi_gpu(int blank, const std::function<void(RankSeen&, int n)>& change) {
  return verdict_on("multi_gpu", blank,
                    [&](Evidence& evidence, const RunPlan& plan) { change(evidence.ranks.front(), plan.devices); });
}
/// Of task 2: what to make of each rank.
inline std::string multi_node(int blank, const std::function<void(RankSeen&, int rank)>& change) {
  return verdict_on("multi_node", blank, [&](Evidence& evidence, const RunPlan&) {
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
      change(evidence.ranks[rank], static_cast<int>(rank));
  });
}

inline std::vector<IteratorSeen> iterators_over(const std::vector<Images>& shares) {
  std::vector<IteratorSeen> iterators;
  for (const Images& share : shares) iterators.push_back(over(share));
  return iterators;
}

/// A task's curve on simulated ranks, of six curves whose values are their positions: shown after a finished run alone,
/// up to 1,024 ranks, with texts in both languages. `shown_curves`: those that the figure takes, in its order.
inline void expect_curve_of_simulation(const std::string& name,
                                       const std::vector<std::optional<double>>& shown_curves) {
  const auto shown_of = [&](Ending ending) {
    Fabricated runs(
        [&](Evidence& evidence, const RunPlan& plan) {
          EXPECT_NE(plan.test_cases.find("\"nodes\":128"), std::string::npos) << plan.test_cases;
          evidence.ending = ending;
          for (int curve = 0; curve < 6; ++curve)
            evidence.ranks.front().values.emplace_back(plan.most_values, static_cast<float>(curve));
        },
        [](const RunPlan&) { return Evidence{.ending = Ending::finished, .ranks = std::vector<RankSeen>(1)}; });
    return exam_of(task_named(name)).simulates(runs);
  };
  EXPECT_FALSE(shown_of(Ending::crashed)) << "no verdict";
  const auto shown = shown_of(Ending::finished);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->figure.x.size(), 10u);
  EXPECT_EQ(shown->figure.x.back(), 1024);
  std::vector<std::optional<double>> firsts;
  for (const Curve& curve : shown->figure.curves) firsts.push_back(curve.values.back());
  EXPECT_EQ(firsts, shown_curves);
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    EXPECT_FALSE(has_gap(messages.text(shown->figure.text, shown->values)));
    for (const Curve& curve : shown->figure.curves) EXPECT_NE(messages.text(curve.name, shown->values), curve.name);
  }
}

}  // namespace odori::grader::test
