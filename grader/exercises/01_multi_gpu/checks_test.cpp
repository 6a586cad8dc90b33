// SPDX-License-Identifier: Apache-2.0
// The checks of task 1, on evidence put together here: what each misconception makes of a right training.
#include <set>

#include "fabricated.h"

namespace odori::grader::test::of_multi_gpu {
namespace {

TEST(MultiGpu, FindsNothingInARightTraining) {
  for (int blank = 1; blank <= 7; ++blank) EXPECT_EQ(multi_gpu(blank, [](RankSeen&, int) {}), "right") << blank;
}

/// What is right with one number of devices alone, or where there is a seed.
TEST(MultiGpu, AsksForTheSumOnOddAndEvenNumbersOfDevicesAndForTheSeed0) {
  std::set<int> odd;
  bool seed_0 = false;
  for (const RunPlan& plan : exam_of(task_named("multi_gpu")).situations) {
    if (plan.sum) odd.insert(plan.devices % 2);
    seed_0 |= plan.programs_seed(7) == 0;
  }
  EXPECT_EQ(odd.size(), 2u);
  EXPECT_TRUE(seed_0);
}

TEST(MultiGpu, LetsAnyDeviceBeTheMainOne) {
  const auto other_main = [](RankSeen& seen, int n) {
    if (n == 1) return;
    seen.device = seen.model_device = seen.evaluator_device = n - 1;
    seen.devices["main"] = n - 1;
    seen.devices["gpu" + std::to_string(n - 1)] = 0;
  };
  for (int blank = 1; blank <= 7; ++blank) EXPECT_EQ(multi_gpu(blank, other_main), "right") << blank;
}

/// Blank 2 says the last device, and all the others follow it.
TEST(MultiGpu, BlamesTheOneThatDoesNotFollowAnotherMainDevice) {
  const auto main_is_the_last = [](int blank, auto change) {
    return multi_gpu(blank, [&](RankSeen& seen, int n) {
      seen.device = seen.model_device = n - 1;
      seen.devices = {{"main", n - 1}};
      for (int i = 0; i < n - 1; ++i) seen.devices["gpu" + std::to_string(i)] = i;
      change(seen);
    });
  };
  const auto first_is_called_main = [](RankSeen& seen) { seen.devices["main"] = 0; };
  EXPECT_EQ(main_is_the_last(3, first_is_called_main), "right");
  EXPECT_EQ(main_is_the_last(4, first_is_called_main), "main_is_another_device");
  const auto first_is_current = [](RankSeen& seen) { seen.device = seen.model_device = 0; };
  EXPECT_EQ(main_is_the_last(3, first_is_current), "model_not_on_main_device");
}

TEST(MultiGpu, LetsAnyUpdaterDoTheWork) {
  EXPECT_EQ(multi_gpu(6, [](RankSeen& seen, int) { seen.updater = ""; }), "right");
}

TEST(MultiGpu, SeesImagesThatAnEpochLeavesOut) {
  const auto trained_on = [](std::size_t first, std::size_t every) {
    return verdict_on("multi_gpu", 6, [&](Evidence& evidence, const RunPlan& plan) {
      std::vector<Images> shares = parts_of(n_train(), plan.devices);
      for (Images& share : shares) {
        share.erase(share.begin(), share.begin() + static_cast<std::ptrdiff_t>(first));
        share.resize(std::min(share.size(), every));
      }
      evidence.ranks.front().steps = train(plan, shares);
      evaluate_each_epoch(evidence.ranks.front(), plan, whole_set(n_test()));
    });
  };
  EXPECT_EQ(trained_on(0, n_train()), "right");
  EXPECT_EQ(trained_on(0, 1), "epochs_uneven");
  EXPECT_EQ(trained_on(1, 3), "epochs_uneven");
}

TEST(MultiGpu, NamesMistakesOfTheIterators) {
  const auto shares = [](auto of_n) {
    return multi_gpu(1, [&](RankSeen& seen, int n) { seen.train_iterators = iterators_over(of_n(n)); });
  };
  const auto size = n_train();
  const auto whole = [&](int n) { return std::vector(static_cast<std::size_t>(n), whole_set(size)); };
  EXPECT_EQ(shares(whole), "whole_set_for_each_device");
  EXPECT_EQ(shares([&](int n) { return std::vector(static_cast<std::size_t>(n), parts_of(size, n)[0]); }),
            "same_share_for_all");
  EXPECT_EQ(shares([&](int n) { return parts_of(size, n, false); }), "shares_not_random");
  EXPECT_EQ(shares([&](int) { return parts_of(size, 2); }), "iterators_always_two");
  EXPECT_EQ(shares([&](int) { return parts_of(size, 1); }), "iterators_too_few");
  EXPECT_EQ(shares([&](int) { return std::vector<Images>(); }), "iterators_too_few");
  EXPECT_EQ(shares([&](int n) { return parts_of(size, n + 1); }), "iterators_too_many");
  const auto every_nth = [&](int n) {
    std::vector<Images> parts(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < size / parts.size() * parts.size(); ++i)
      parts[i % parts.size()].push_back(static_cast<std::int64_t>(i));
    return parts;
  };
  EXPECT_EQ(shares(every_nth), "shares_not_random");
  const auto changed = [&](auto change) {
    return shares([&](int n) {
      auto parts = parts_of(size, n);
      change(parts);
      return parts;
    });
  };
  EXPECT_EQ(changed([](auto& parts) { parts[0][0] = parts[1][0]; }), "shares_overlap");
  EXPECT_EQ(changed([](auto& parts) { parts[0][0] = parts[0][1]; }), "image_repeated");
  EXPECT_EQ(changed([](auto& parts) { parts[0].pop_back(); }), "shares_unequal");
  EXPECT_EQ(changed([](auto& parts) {
              for (auto& part : parts) part.resize(part.size() / 2);
            }),
            "data_left_out");
}

TEST(MultiGpu, NamesMistakesOfBatchesAndOfTheTestSet) {
  const auto each = [](auto change) {
    return multi_gpu(1, [&](RankSeen& seen, int n) {
      for (auto& iterator : seen.train_iterators) change(iterator, n);
    });
  };
  EXPECT_EQ(each([](IteratorSeen& iterator, int n) { iterator.batch_size *= n; }), "batch_size_changed");
  EXPECT_EQ(each([](IteratorSeen& iterator, int) { iterator.batch_size = 1; }), "batch_size_written_down");
  EXPECT_EQ(each([](IteratorSeen& iterator, int) { iterator.batch_size = 4; }), "batch_size_written_down");
  EXPECT_EQ(each([](IteratorSeen& iterator, int) { iterator.repeat = false; }), "iterator_does_not_repeat");
  EXPECT_EQ(multi_gpu(1,
                      [](RankSeen& seen, int n) {
                        seen.train_iterators = iterators_over(parts_of(n_test(), n));
                        for (auto& update : seen.steps)
                          for (Step& step : update)
                            for (std::int64_t& image : step.images) image %= static_cast<std::int64_t>(n_test());
                      }),
            "test_data_trained_on");
}

TEST(MultiGpu, NamesMistakesOfTheDevices) {
  const auto main_device = [](int blank, auto of_n) {
    return multi_gpu(blank, [&](RankSeen& seen, int n) { seen.device = seen.model_device = of_n(n); });
  };
  EXPECT_EQ(main_device(2, [](int n) { return n; }), "no_such_device");
  EXPECT_EQ(main_device(2, [](int) { return -1; }), "device_below_0");
  EXPECT_EQ(main_device(2, [](int) { return 1; }), "main_device_not_always_there");
  EXPECT_EQ(main_device(3, [](int) { return 1; }), "model_not_on_main_device");
  EXPECT_EQ(main_device(3, [](int n) { return n; }), "no_such_device");

  const auto map = [](int blank, auto change) {
    return multi_gpu(blank, [&](RankSeen& seen, int n) { change(seen.devices, n); });
  };
  EXPECT_EQ(map(4, [](auto& devices, int) { devices.erase("main"); }), "main_name_missing");
  EXPECT_EQ(map(4, [](auto& devices, int) { devices["main"] = 1; }), "main_is_another_device");
  EXPECT_EQ(map(4, [](auto& devices, int) { devices["first"] = 0; }), "device_twice");
  EXPECT_EQ(map(5, [](auto& devices, int) { devices = {{"main", 0}}; }), "other_devices_missing");
  EXPECT_EQ(map(5, [](auto& devices, int) { devices = {{"main", 0}, {"gpu1", 1}}; }), "only_two_devices");
  EXPECT_EQ(map(5, [](auto& devices, int n) { devices.erase("gpu" + std::to_string(n - 1)); }), "last_device_missing");
  EXPECT_EQ(map(5, [](auto& devices, int n) { devices = {{"main", 0}, {"gpu", n - 1}}; }), "same_name_for_all");
  EXPECT_EQ(map(5, [](auto& devices, int n) { devices["gpu" + std::to_string(n)] = n; }), "device_too_many");
  EXPECT_EQ(map(5, [](auto& devices, int) { devices["gpu0"] = 0; }), "device_twice");
  const auto named = [&](auto name) {
    return map(5, [&](auto& devices, int n) {
      devices = {{"main", 0}};
      for (int i = 1; i < n; ++i) devices[name(i)] = i;
    });
  };
  EXPECT_EQ(named([text = "device"](int i) { return text + i; }), "names_cut");
  EXPECT_EQ(named([](int i) { return std::string(20 - i, 'g'); }), "right");
}

TEST(MultiGpu, NamesMistakesOfTheUpdater) {
  const auto only_main = [](RankSeen& seen, int) {
    for (auto& update : seen.steps) update.resize(1);
  };
  EXPECT_EQ(multi_gpu(6, only_main), "updater_for_one_device");
  const auto one_less = [](RankSeen& seen, int n) {
    if (n == 3)
      for (auto& update : seen.steps) update.resize(2);
  };
  EXPECT_EQ(multi_gpu(6, one_less), "updater_misses_devices");
  EXPECT_EQ(multi_gpu(6, [](RankSeen& seen, int) { seen.steps[1][1].parameters[0] += 1e-3f; }), "devices_disagree");
  const auto all_alike = [](RankSeen& seen, int) {
    for (Step& step : seen.steps[2]) step.parameters[9] += 1;
  };
  EXPECT_EQ(multi_gpu(6, all_alike), "weights_differ");
}

/// An answer that is right with some numbers of devices alone.
TEST(MultiGpu, TriesOneTwoThreeFiveAndThirteenDevices) {
  for (const int wrong : {1, 2, 3, 5, 13}) {
    const auto changed_on = [wrong](RankSeen& seen, int n) {
      if (n == wrong) change_evaluation(seen, [](EvaluationSeen& last) { last.loss *= 1.01; });
    };
    EXPECT_EQ(multi_gpu(7, changed_on), "loss_differs") << wrong;
  }
}

TEST(MultiGpu, NamesLearningRateMomentumAndDecay) {
  const auto trained = [](auto change) {
    return verdict_on("multi_gpu", 6, [&](Evidence& evidence, const RunPlan& plan) {
      Sgd sgd = sgd_of(plan);
      change(sgd, plan);
      evidence.ranks.front().steps = train(plan, parts_of(n_train(), plan.devices), sgd);
    });
  };
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan& plan) { sgd.rate *= plan.devices; }), "learning_rate_changed");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan&) { sgd.rate = 0.01; }), "learning_rate_forgotten");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan&) { sgd.rate = 0.05; }), "learning_rate_written_down");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan&) { sgd.rate = 0.06f; }), "learning_rate_written_down");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan&) { sgd.momentum = 0; }), "momentum_changed");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan&) { sgd.decay *= 2; }), "weight_decay_changed");
  // Of a sum it is less.
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan&) { sgd.decay = 5e-4; }), "gradient_rule_left_out");
  EXPECT_EQ(trained([](Sgd& sgd, const RunPlan& plan) { sgd.decay = 5e-4 / plan.devices; }), "gradients_summed");
}

TEST(MultiGpu, NamesMistakesOfTheEvaluator) {
  EXPECT_EQ(multi_gpu(7, [](RankSeen& seen, int) { seen.evaluator_device = 1; }), "evaluated_on_another_device");
  EXPECT_EQ(multi_gpu(7, [](RankSeen& seen, int n) { seen.evaluator_device = n; }), "no_such_device");
  const auto evaluated = [](const std::function<void(EvaluationSeen&)>& change) {
    return multi_gpu(7, [&](RankSeen& seen, int) { change_evaluation(seen, change); });
  };
  EXPECT_EQ(evaluated([](EvaluationSeen& last) { last.loss *= 1.01; }), "loss_differs");
  EXPECT_EQ(evaluated([](EvaluationSeen& last) { last.accuracy /= 2; }), "accuracy_differs");
  EXPECT_EQ(evaluated([](EvaluationSeen& last) { last.loss *= 1.01, last.samples -= 1; }),
            "evaluation_of_other_images");
  EXPECT_EQ(evaluated([](EvaluationSeen& last) { last.samples *= 2; }), "right");
  /// What is written down of the evaluation.
  const auto reported = [](double loss_times, double accuracy_plus) {
    return multi_gpu(7, [=](RankSeen& seen, int) {
      const EvaluationSeen& last = seen.evaluations.back();
      seen.reports = {{{last.loss * loss_times, last.accuracy + accuracy_plus}, seen.steps.size()}};
    });
  };
  EXPECT_EQ(reported(1, 0), "right");
  EXPECT_EQ(reported(0.9, 0), "loss_differs");
  EXPECT_EQ(reported(1, 0.1), "accuracy_differs");
  EXPECT_EQ(multi_gpu(7, [](RankSeen& seen, int) { seen.evaluations.pop_back(), seen.observations.pop_back(); }),
            "ended_early");
}

}  // namespace
}  // namespace odori::grader::test::of_multi_gpu
