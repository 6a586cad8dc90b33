// SPDX-License-Identifier: Apache-2.0
// The checks of task 5, on evidence put together here: what each misconception makes of right exchanges.
#include <cmath>

#include "known_gradients.h"
#include "right_iterations.h"

namespace odori::grader::test::of_overlap {
namespace {

/// `change` makes what it does of iterations with the `nth` network, or with both (-1).
Evidence ways_on(const RunPlan& plan, const Change& change, const std::function<void(RankSeen&)>& at_the_end, int nth) {
  Evidence evidence{.ending = Ending::finished};
  const auto settings = trial::settings(std::stoi(plan.flags[1]), data().seed);
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    RankSeen& seen = evidence.ranks.emplace_back();
    for (int number = 0; number < 8; ++number) {
      const auto& setting = settings.at(static_cast<std::size_t>(number / 4));
      const Way way = static_cast<Way>(number % 4);
      seen.events.push_back({"way", {number}});
      std::vector<float> weights(trial::layers(setting.layers).back().back().end);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = trial::first_weight(i);
      for (int k = 0; k < setting.iterations; ++k) {
        Iteration it = right_iteration(way, k, rank, plan, setting);
        if (nth < 0 || nth == number / 4) change(it);
        seen.events.push_back({"iteration", {k}});
        seen.events.insert(seen.events.end(), it.during.begin(), it.during.end());
        seen.events.push_back({"finish", {}});
        seen.events.insert(seen.events.end(), it.after.begin(), it.after.end());
        seen.events.push_back({it.updates ? "update" : "no_update", {}});
        for (std::size_t i = 0; i < weights.size() && it.updates; ++i)
          weights[i] -= trial::rate * (static_cast<float>(it.gradient(i)) + trial::decay * weights[i]);
        seen.values.push_back(weights);
      }
      seen.events.push_back({"sent", {way == half_precision ? 2000 : 4000}});
    }
    at_the_end(seen);
  }
  return evidence;
}

std::string overlap(
    int blank, const Change& change, const std::function<void(RankSeen&)>& at_the_end = [](RankSeen&) {},
    int nth_network = -1) {
  return verdict_on(
      "overlap", blank, [](Evidence&, const RunPlan&) {},
      [&](const RunPlan& plan) { return ways_on(plan, change, at_the_end, nth_network); });
}

/// Of the iterations by one way.
Change of(Way way, const Change& change) {
  return [=](Iteration& it) {
    if (it.way == way) change(it);
  };
}
/// The starts of an iteration's backward.
Change starts(const std::function<void(std::vector<facts::Event>&, const std::vector<facts::Event>& starts)>& put) {
  return of(overlapped, [=](Iteration& it) {
    std::vector<facts::Event> taken;
    std::erase_if(it.during, [&](const facts::Event& each) {
      if (each.what == "start") taken.push_back(each);
      return each.what == "start";
    });
    put(it.during, taken);
  });
}
Change gradients(Way way, const std::function<double(const Iteration&, std::size_t)>& formula) {
  return of(way,
            [=](Iteration& it) { it.gradient = [formula, seen = it](std::size_t i) { return formula(seen, i); }; });
}
/// The library stopped the run.
std::string refused(int blank, const char* name) {
  return overlap(
      blank, [](Iteration&) {},
      [=](RankSeen& seen) {
        seen.events = {{name, {}}}, seen.values.clear();
        seen.error = "A sentence of the library's, whatever it says.";
      });
}

TEST(Overlap, FindsNothingInRightExchanges) {
  for (int blank = 1; blank <= 6; ++blank) EXPECT_EQ(overlap(blank, [](Iteration&) {}), "right") << blank;
  const auto rounded = gradients(half_precision, [](const Iteration& it, std::size_t i) {
    return it.mean(it.k, i) * (1 + 0.001 * (i % 2 == 0 ? 1 : -1));
  });
  EXPECT_EQ(overlap(6, rounded), "right");
}

TEST(Overlap, LetsWaitsBeWhereverTheyAreInTime) {
  EXPECT_EQ(overlap(3, of(overlapped, [](Iteration& it) { it.after.push_back({"wait", {}}); })), "right");
}

TEST(Overlap, NamesMistakesOfTheBucketsOrder) {
  EXPECT_EQ(overlap(1, starts([](auto& during, auto starts) {
                      std::reverse(starts.begin(), starts.end());
                      during.insert(during.end(), starts.begin(), starts.end());
                    })),
            "forwards");
  EXPECT_EQ(overlap(1, starts([](auto& during, auto starts) {
                      std::rotate(starts.begin(), starts.end() - 1, starts.end());
                      during.insert(during.end(), starts.begin(), starts.end());
                    })),
            "another_order");
  EXPECT_EQ(overlap(1, starts([](auto& during, auto starts) { during.push_back(starts.front()); })), "not_each_once");
  EXPECT_EQ(overlap(1, starts([](auto& during, auto starts) {
                      during.insert(during.end(), starts.begin(), starts.end());
                      during.push_back(starts.front());
                    })),
            "not_each_once");
  for (const int blank : {1, 2, 4})
    for (const char* name :
         {refusal::no_such_parameter, refusal::no_such_range, refusal::cannot_start, refusal::views_changed})
      EXPECT_EQ(refused(blank, name), name) << blank;
}

TEST(Overlap, NamesMistakesOfWhenBucketsStart) {
  const auto at = [](std::ptrdiff_t index) {
    return starts([index](auto& during, auto starts) {
      const auto where = index < 0 ? during.end() : during.begin() + std::min(index, std::ssize(during));
      during.insert(where, starts.begin(), starts.end());
    });
  };
  EXPECT_EQ(overlap(2, at(-1)), "starts_after_backward");
  EXPECT_EQ(overlap(2, at(1)), "starts_too_early");
  EXPECT_EQ(overlap(2, starts([](auto&, auto) {})), "never_starts");
  EXPECT_EQ(overlap(2, starts([](auto& during, auto starts) {
                      during.insert(during.end(), starts.begin(), starts.end());
                      during.insert(during.end() - std::ssize(starts) - 1, starts.front());  // the first one in time
                      during.erase(during.end() - std::ssize(starts));
                    })),
            "starts_late");
  EXPECT_EQ(overlap(2, starts([](auto& during, auto starts) {
                      during.insert(during.end(), starts.begin(), starts.end());
                      during.push_back(starts.front());
                    })),
            "starts_twice");
  EXPECT_EQ(overlap(2, starts([](auto& during, auto) {
                      auto first = during.front();
                      first.what = "start";
                      during.insert(during.begin() + 1, first);
                    })),
            "starts_no_bucket");
  EXPECT_EQ(overlap(2, of(overlapped, [](Iteration& it) { it.during.push_back({"wait", {}}); })), "waits_in_backward");
}

TEST(Overlap, NamesMistakesBehindBackward) {
  EXPECT_EQ(overlap(3, of(overlapped, [](Iteration& it) { it.after.clear(); })), "update_without_wait");
  EXPECT_EQ(overlap(3, of(overlapped,
                          [](Iteration& it) {
                            if (it.k > 0) std::erase_if(it.during, [](const auto& e) { return e.what == "start"; });
                          })),
            "next_iteration_lacks_buckets");
  EXPECT_EQ(overlap(3, of(overlapped,
                          [](Iteration& it) {
                            it.after.insert(it.after.begin(), event("start", {0, 42}));
                          })),
            "starts_again");
  EXPECT_EQ(overlap(3, gradients(overlapped, [](const Iteration& it, std::size_t i) { return 2 * it.mean(it.k, i); })),
            "weights_not_by_mean");
}

TEST(Overlap, NamesMistakesOfTheTwoBuffers) {
  const auto by = [](double (*formula)(const Iteration&, std::size_t)) {
    return overlap(4, gradients(double_buffered, formula));
  };
  EXPECT_EQ(by([](const Iteration& it, std::size_t i) { return it.mean(it.k, i); }), "current_mean");
  EXPECT_EQ(by([](const Iteration& it, std::size_t i) { return it.own(it.k, i); }), "own_gradients");
  EXPECT_EQ(by([](const Iteration& it, std::size_t i) { return it.own(it.k - 1, i); }), "used_before_arrival");
  EXPECT_EQ(by([](const Iteration&, std::size_t) { return 0.0; }), "gradients_lost");
  EXPECT_EQ(by([](const Iteration&, std::size_t) { return 1.0; }), "weights_not_by_mean");
  const auto does = [](std::vector<facts::Event> after) {
    return overlap(4, of(double_buffered, [=](Iteration& it) { it.after = after; }));
  };
  const facts::Event wait{"wait", {}}, in_flight = event("start_in_flight", {0, 608});
  EXPECT_EQ(does({wait}), "nothing_started");
  EXPECT_EQ(does({in_flight}), "used_before_arrival");
  EXPECT_EQ(does({wait, in_flight, wait}), "waits_at_once");
  EXPECT_EQ(does({wait, event("start", {0, 608})}), "gradients_started");
}

TEST(Overlap, NamesMistakesOfWhenToUpdate) {
  EXPECT_EQ(overlap(5, of(double_buffered, [](Iteration& it) { it.updates = true; })), "updated_by_zeros");
  EXPECT_EQ(overlap(5, of(double_buffered, [](Iteration& it) { it.updates = it.k > 1; })), "update_left_out");
  for (const int literal : {3, 4, 5, 6, 7, 8, 20, 22, 30}) {
    EXPECT_EQ(overlap(5, of(double_buffered, [=](Iteration& it) { it.updates = it.k > 0 && it.k < literal; })),
              "update_left_out");
    EXPECT_EQ(overlap(5, of(double_buffered, [=](Iteration& it) { it.updates = it.k > 0 && it.k != literal; })),
              "update_left_out");
  }
}

TEST(Overlap, SeesWhatIsKeptFromTheNetworkBefore) {
  const auto in_the_second = [](int blank, const Change& change) {
    return overlap(
        blank, change, [](RankSeen&) {}, 1);
  };
  EXPECT_EQ(in_the_second(5, of(double_buffered, [](Iteration& it) { it.updates = true; })), "updated_by_zeros");
  EXPECT_EQ(in_the_second(2, starts([](auto&, auto) {})), "never_starts");
  EXPECT_EQ(in_the_second(6, gradients(half_precision,
                                       [](const Iteration& it, std::size_t i) { return it.n * it.mean(it.k, i); })),
            "half_not_divided");
  EXPECT_EQ(in_the_second(1, gradients(overlapped, [](const Iteration&, std::size_t) { return 0.0; })),
            "weights_not_by_mean");
}

TEST(Overlap, NamesMistakesOfHalfPrecision) {
  const auto by = [](double (*factor)(const Iteration&, std::size_t)) {
    return overlap(6, gradients(half_precision,
                                [=](const Iteration& it, std::size_t i) { return factor(it, i) * it.mean(it.k, i); }));
  };
  EXPECT_EQ(by([](const Iteration& it, std::size_t) { return it.k == it.iterations - 1 ? double{INFINITY} : 1.0; }),
            "half_overflows");
  EXPECT_EQ(by([](const Iteration& it, std::size_t) { return it.n + 0.0; }), "half_not_divided");
  EXPECT_EQ(by([](const Iteration& it, std::size_t) { return 1.0 / it.n; }), "half_divided_twice");
  EXPECT_EQ(by([](const Iteration&, std::size_t i) { return i % 2 == 0 ? 1.004 : 1.0; }), "rounded_too_much");
  EXPECT_EQ(by([](const Iteration&, std::size_t) { return 0.7; }), "half_mean_wrong");
  // On the nodes 0 1, 0 1 1, 0 1 0 1 and 0.
  EXPECT_EQ(by([](const Iteration& it, std::size_t) {
              const bool alone_on_its_node = it.n < 3 || (it.n == 3 && it.rank == 0);
              return it.n / (alone_on_its_node ? 1.0 : 2.0);
            }),
            "divided_by_ranks_of_node");
  EXPECT_EQ(overlap(6, gradients(half_precision,
                                 [](const Iteration& it, std::size_t i) {
                                   double sum = 0;
                                   for (int r = 0; r < it.n; ++r)
                                     sum += Iteration{.rank = r, .iterations = it.iterations}.own(it.k, i) /
                                            (it.n < 3 || (it.n == 3 && r == 0) ? 1.0 : 2.0);
                                   return sum;
                                 })),
            "divided_by_ranks_of_node");
  EXPECT_EQ(by([](const Iteration& it, std::size_t) { return it.n == 1 ? 1.0 : it.n / 2.0; }), "divided_by_nodes");
  const auto more_bytes = [](RankSeen& seen) { seen.events.back().about = {4000}; };
  const auto sums = [&](const std::function<std::vector<facts::Event>(std::size_t size)>& of_size) {
    const Change put = [&](Iteration& it) {
      it.after = of_size(static_cast<std::size_t>(it.after.front().about.at(1)));
    };
    return overlap(6, of(half_precision, put), more_bytes);
  };
  EXPECT_EQ(sums([](std::size_t n) { return std::vector{event("sum", {32, n})}; }), "bytes_not_halved");
  EXPECT_EQ(sums([](std::size_t n) { return std::vector(2, event("sum", {16, n})); }), "bytes_not_halved");
  EXPECT_EQ(sums([](std::size_t n) {
              return std::vector{event("start_in_flight", {0, n}), event("sum", {16, n})};
            }),
            "bytes_not_halved");
  EXPECT_EQ(sums([](std::size_t) { return std::vector<facts::Event>{{"sum", {}}}; }), "bytes_not_halved");
  EXPECT_EQ(sums([](std::size_t n) {
              return std::vector{event("sum", {16, n / 2}), event("sum", {16, n - n / 2})};
            }),
            "right")
      << "short numbers may take more bytes";
}

TEST(Overlap, CountsWhatTheDoubleBufferedSend) {
  const auto sent = [](std::int64_t bytes) {
    return overlap(
        4, [](Iteration&) {},
        [bytes](RankSeen& seen) {
          std::int64_t way = -1;
          for (facts::Event& each : seen.events)
            if (each.what == "way")
              way = each.about[0] % 4;
            else if (each.what == "sent" && way == double_buffered)
              each.about = {bytes};
        });
  };
  EXPECT_EQ(sent(4000), "right");
  EXPECT_EQ(sent(8000), "sent_again");
}

TEST(Overlap, GradientsDependOnTheSeed) {
  int same = 0;
  for (std::size_t i = 0; i < 1000; ++i)
    same += trial::gradient(1, 0, 1, false, i) == trial::gradient(2, 0, 1, false, i);
  EXPECT_LT(same, 300) << "0 at every fifth position";
}

TEST(Overlap, TriesAMeanOfZerosBetweenOthers) {
  for (const trial::Setting& setting : trial::settings(8, 1)) {
    int idle = 0;
    for (int k = 0; k < setting.iterations; ++k) {
      bool is_zero = true;
      for (int rank = 0; rank < 5; ++rank)
        for (std::size_t i = 0; i < 100; ++i)
          is_zero &= trial::gradient(1, rank, k, k == setting.iterations - 1, i) == 0;
      EXPECT_EQ(is_zero, trial::is_idle(k)) << k;
      EXPECT_FALSE(is_zero && (k == 0 || k == setting.iterations - 1)) << k;
      idle += is_zero;
    }
    EXPECT_EQ(idle, 1);
  }
}

/// Beyond 65504 half precision has no numbers.
TEST(Overlap, TriesARankBeyondHalfPrecisionWhoseMeanIsNot) {
  for (int n = 2; n <= 5; ++n) {
    bool is_beyond = false;
    for (std::size_t i = 0; i < 1000; ++i) {
      float sum = 0;
      for (int rank = 0; rank < n; ++rank) {
        const float one = trial::gradient(1, rank, 7, true, i);
        is_beyond |= std::abs(one) > 65504;
        sum += one;
      }
      EXPECT_LE(std::abs(sum / static_cast<float>(n)), 65504) << n << " ranks, position " << i;
    }
    EXPECT_TRUE(is_beyond) << n << " ranks";
  }
}

TEST(Overlap, WantsNumbers) {
  EXPECT_EQ(overlap(
                1, [](Iteration&) {}, [](RankSeen& seen) { seen.events.clear(), seen.values.clear(); }),
            "no_values");
}

TEST(Overlap, KnowsOfNoOtherCallsThanTheExchanges) {
  const auto calls = [](std::vector<std::string> collectives, std::vector<MessageSeen> messages = {}) {
    return overlap(
        6, [](Iteration&) {},
        [=](RankSeen& seen) {
          seen.collectives = collectives;
          seen.messages = messages;
        });
  };
  EXPECT_EQ(calls({"comm->all_reduce_mean()", "comm->barrier()", "MPI_Finalize()"}), "right");
  EXPECT_EQ(calls({"comm->all_reduce_mean()", "comm->sum()"}), "other_exchange");
  EXPECT_EQ(calls({}, {{.call = "exchange"}}), "other_exchange");
}

TEST(Overlap, ShowsTheExposedShares) {
  const auto shown_of = [](std::vector<float> shares) {
    Fabricated runs([&](Evidence& evidence, const RunPlan& plan) {
      EXPECT_EQ(plan.link, "50mbit,50us");
      for (RankSeen& seen : evidence.ranks) seen.values.push_back(shares);
    });
    return exam_of(task_named("overlap")).shows(runs);
  };
  const ShownFigure shown = shown_of({0.5f, 0.25f, 0.0f, 0.333f});
  const Figure& figure = shown.figure;
  ASSERT_EQ(figure.curves.size(), 1u);
  EXPECT_EQ(figure.bars.size(), 4u);
  EXPECT_EQ(figure.curves[0].values, (std::vector<std::optional<double>>{50, 25, 0, 33}));
  EXPECT_EQ(shown_of({}).figure.curves[0].values, (std::vector<std::optional<double>>(4))) << "not measured";
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    std::vector<std::string> keys = figure.bars;
    keys.insert(keys.end(), {figure.title, figure.text, figure.x_name, figure.y_name, figure.curves[0].name});
    for (const std::string& key : keys) EXPECT_NE(messages.text(key, shown.values), key);
  }
}

}  // namespace
}  // namespace odori::grader::test::of_overlap
