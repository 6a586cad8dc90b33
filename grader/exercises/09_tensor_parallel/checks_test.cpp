// SPDX-License-Identifier: Apache-2.0
// The checks of task 9, on evidence put together here: what each misconception makes of a right run.
#include <algorithm>

#include "fabricated.h"
#include "network_case.h"

namespace odori::grader::test::of_tensor_parallel {
namespace {

std::vector<std::int64_t> ranks_of(const std::vector<int>& ranks) { return {ranks.begin(), ranks.end()}; }

Range shard(std::size_t size, std::size_t r, std::size_t n) { return {size * r / n, size * (r + 1) / n}; }

/// Columns [columns) of a matrix with `out` of them.
Values columns_of(std::span<const float> matrix, std::size_t out, Range columns) {
  Values result;
  for (std::size_t row = 0; row < matrix.size() / out; ++row)
    for (std::size_t j = columns.begin; j < columns.end; ++j) result.push_back(matrix[row * out + j]);
  return result;
}

/// Rows [rows) of a layer's matrix, and its bias.
Values rows_of(std::span<const float> matrix, const mlp::Layer& layer, Range rows) {
  Values result(matrix.begin() + static_cast<std::ptrdiff_t>(rows.begin * layer.out),
                matrix.begin() + static_cast<std::ptrdiff_t>(rows.end * layer.out));
  result.insert(result.end(), matrix.end() - static_cast<std::ptrdiff_t>(layer.out), matrix.end());
  return result;
}

void show(RankSeen& seen, Values values) { seen.values.push_back(std::move(values)); }

void show_layers(RankSeen& seen, const std::vector<mlp::Layer>& layers, const Values& flat, Range own) {
  const auto matrix = [&](std::size_t i) {
    return std::span(flat).subspan(layers[i].range.begin, layers[i].range.size());
  };
  show(seen, Values(matrix(0).begin(), matrix(0).end()));
  show(seen, columns_of(matrix(1), layers[1].out, own));
  show(seen, rows_of(matrix(2), layers[2], own));
}

std::int64_t bytes_of(std::size_t elements, std::size_t n) {
  return static_cast<std::int64_t>(2 * (n - 1) * elements * sizeof(float) / n);
}

/// What this rank shows of a case in a right run.
void show_case(RankSeen& seen, const TensorParallelCase& sizes, std::uint64_t seed, const std::vector<int>& node,
               const std::vector<int>& across, int rank) {
  const std::vector<mlp::Layer> layers = mlp::make_layers(sizes.widths());
  const mlp::Layer &A = layers[1], &B = layers[2];
  const auto place = static_cast<std::size_t>(std::ranges::find(node, rank) - node.begin());
  const auto copy = static_cast<std::size_t>(std::ranges::find(across, rank) - across.begin());
  const Range own = shard(A.out, place, node.size());
  show(seen, mlp::initial_slice(A, {0, A.in + 1}, own, seed));
  show(seen, mlp::initial_slice(B, own, {0, B.out}, seed));

  Values parameters = mlp::initial_parameters(layers, mlp::range_of(layers), seed), gradients(parameters.size());
  const mlp::Activations act = mlp::stage_forward(layers, parameters, case_batch(sizes, seed, 0).x);
  show(seen, columns_of(act[2], A.out, own));
  show(seen, act[3]);
  mlp::stage_backward(layers, parameters, act, case_dy(sizes, seed), gradients);
  show_layers(seen, layers, gradients, own);
  Values averaged((A.in + 1) * own.size());
  for (std::size_t i = 0; i < averaged.size(); ++i) {
    for (const int other : across) averaged[i] += case_gradient(other, i);
    averaged[i] /= static_cast<float>(across.size());
  }
  show(seen, averaged);
  seen.events.push_back({forward_sent, {bytes_of(act[3].size(), node.size())}});
  seen.events.push_back({backward_sent, {bytes_of(act[1].size(), node.size())}});
  seen.events.push_back({averages_sent, {bytes_of((A.in + 1 + B.out) * own.size() + B.out, across.size())}});
  const Range images = shard(sizes.images, copy, across.size());
  for (int update = 0; update < sizes.updates; ++update) {
    seen.events.push_back(
        {images_taken, {static_cast<std::int64_t>(images.begin), static_cast<std::int64_t>(images.end)}});
    const mlp::Images batch = case_batch(sizes, seed, update);
    const mlp::Activations of_update = mlp::stage_forward(layers, parameters, batch.x);
    Values dy(of_update.back().size()), change(parameters.size());
    mlp::softmax_cross_entropy(of_update.back(), batch.labels, dy);
    mlp::stage_backward(layers, parameters, of_update, dy, change);
    mlp::sgd_update(parameters, change, case_learning_rate);
  }
  show_layers(seen, layers, parameters, own);
}

Evidence split_on(const RunPlan& plan) {
  Evidence evidence = right_run(plan);
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    RankSeen& seen = evidence.ranks[static_cast<std::size_t>(rank)];
    const std::vector<int> node = ranks_on_node(plan.nodes, rank), across = ranks_across(plan.nodes, rank);
    seen.events = {{tensor_group_made, ranks_of(node)}, {data_group_made, ranks_of(across)}};
    std::uint64_t seed = plan.programs_seed(data().seed);
    for (const TensorParallelCase& sizes : cases_of(plan)) show_case(seen, sizes, seed++, node, across, rank);
  }
  return evidence;
}

std::string verdict(int blank, const Fabricated::Change& change) {
  return verdict_on("tensor_parallel", blank, change, split_on);
}

/// What to make of one result of each rank.
std::string with(int blank, Shown what, const std::function<void(Values&, const NetworkCase&, int rank)>& change) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan& plan) {
    Fabricated right([](Evidence&, const RunPlan&) {}, split_on);
    for (std::size_t i = 0; i < cases_of(plan).size(); ++i) {
      const NetworkCase network({right, plan}, i);
      for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
        change(evidence.ranks[rank].values[i * static_cast<std::size_t>(Shown::count) + static_cast<std::size_t>(what)],
               network, static_cast<int>(rank));
    }
  });
}

std::string with_events(int blank, const char* name,
                        const std::function<void(facts::Event&, const RunPlan&, int)>& change) {
  return verdict(blank, [&](Evidence& evidence, const RunPlan& plan) {
    for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
      for (facts::Event& event : evidence.ranks[rank].events)
        if (event.what == name) change(event, plan, static_cast<int>(rank));
  });
}

void scale(Values& values, double factor) { values = scaled(values, factor); }

TEST(TensorParallel, FindsNothingInARightRun) {
  for (int blank = 1; blank <= 8; ++blank)
    EXPECT_EQ(verdict(blank, [](Evidence&, const RunPlan&) {}), "right") << blank;
}

TEST(TensorParallel, IsTriedInTurnAndOnUnevenShards) {
  const Exam exam = exam_of(task_named("tensor_parallel"));
  const auto on = [&](const std::vector<int>& nodes) {
    return std::ranges::any_of(exam.situations, [&](const RunPlan& plan) { return plan.nodes == nodes; });
  };
  EXPECT_TRUE(on({0}) && on({0, 0}) && on({0, 0, 0, 0}) && on({0, 0, 1, 1}) && on({0, 1, 0, 1}));
  EXPECT_TRUE(std::ranges::any_of(exam.situations, [](const RunPlan& plan) {
    return plan.nodes.size() == 2 && cases_of(plan).back().hidden % 2 == 1;
  }));
}

TEST(TensorParallel, LetsSumsOfAnotherOrderRoundAsTheyDo) {
  const auto rounded = [](Values& values, const NetworkCase&, int) { scale(values, 1 + 3e-7); };
  EXPECT_EQ(with(5, Shown::y, rounded), "right");
  EXPECT_EQ(with(6, Shown::first_gradient, rounded), "right");
}

TEST(TensorParallel, NamesMistakesOfGroups) {
  const auto swapped = [](Evidence& evidence, const RunPlan&) {
    for (RankSeen& seen : evidence.ranks) std::swap(seen.events[0].about, seen.events[1].about);
  };
  EXPECT_EQ(verdict(1, swapped), "tp_groups_swapped");
  EXPECT_EQ(with_events(1, tensor_group_made, [](auto& event, auto&, int rank) { event.about = {rank}; }), "tp_group");
  EXPECT_EQ(with_events(1, data_group_made,
                        [](auto& event, const RunPlan& plan, int) {
                          event.about.clear();
                          for (int rank = 0; rank < plan.ranks(); ++rank) event.about.push_back(rank);
                        }),
            "tp_group_of_all");
  EXPECT_EQ(with_events(1, tensor_group_made,
                        [](auto& event, const RunPlan& plan, int rank) {
                          if (plan.nodes == std::vector{0, 1, 0, 1}) event.about = {rank / 2 * 2, rank / 2 * 2 + 1};
                        }),
            "tp_groups_by_rank");
}

TEST(TensorParallel, NamesMistakesOfColumnsAndRows) {
  const auto a = [](auto slice) {
    return with(2, Shown::a,
                [=](Values& values, const NetworkCase& network, int rank) { values = slice(network, rank); });
  };
  EXPECT_EQ(a([](auto& network, int) {
              return network.of_a({0, network.A().in + 1}, {0, network.A().out});
            }),
            "tp_whole_a");
  EXPECT_EQ(a([](auto& network, int rank) {
              return network.of_a({0, network.A().in}, network.shard(rank, network.A().out));
            }),
            "tp_bias_of_a_missing");
  EXPECT_EQ(a([](auto& network, int rank) {
              return network.of_a(network.shard(rank, network.A().in), {0, network.A().out});
            }),
            "tp_rows_of_a");
  EXPECT_EQ(a([](auto& network, int) {
              return network.of_a({0, network.A().in + 1}, network.shard(0, network.A().out));
            }),
            "tp_columns_shared");
  EXPECT_EQ(a([](auto& network, int rank) {
              const Range own = network.shard(rank, network.A().out);
              return network.of_a({0, network.A().in + 1}, {own.begin, own.begin + 1});
            }),
            "tp_columns_missing");
  EXPECT_EQ(with(2, Shown::a, [](Values& values, auto&, int) { values[0] += 1; }), "tp_not_columns_of_a");

  const auto b = [](auto slice) {
    return with(3, Shown::b,
                [=](Values& values, const NetworkCase& network, int rank) { values = slice(network, rank); });
  };
  EXPECT_EQ(b([](auto& network, int) {
              return network.of_b({0, network.B().in}, {0, network.B().out});
            }),
            "tp_whole_b");
  EXPECT_EQ(b([](auto& network, int rank) {
              return network.of_b({0, network.B().in}, network.shard(rank, network.B().out));
            }),
            "tp_columns_of_b");
  EXPECT_EQ(b([](auto& network, int rank) {
              Values values = network.rows_of_b(*network.columns(rank));
              values.insert(values.end(), network.bias_of_b().begin(), network.bias_of_b().end());
              return values;
            }),
            "tp_bias_in_b");
  EXPECT_EQ(b([](auto& network, int rank) {
              return network.of_b(network.shard(network.ranks() - 1 - rank, network.B().in), {0, network.B().out});
            }),
            "tp_rows_of_b");
}

TEST(TensorParallel, NamesMistakesOfForward) {
  const auto biases = [](int blank, auto times) {
    return with(blank, Shown::y, [=](Values& y, const NetworkCase& network, int) {
      y = plus_bias(y, scaled(network.bias_of_b(), times(network.tensor_size()) - 1));
    });
  };
  EXPECT_EQ(biases(4, [](int) { return 0.0; }), "tp_bias_missing");
  EXPECT_EQ(biases(4, [](int n) { return 1.0 * n; }), "tp_bias_often");
  EXPECT_EQ(biases(4, [](int n) { return n > 1 ? n - 1.0 : 1.0; }), "tp_bias_on_others");
  EXPECT_EQ(biases(4, [](int n) { return 1.0 / n; }), "tp_bias_divided");
  EXPECT_EQ(biases(4, [](int) { return -1.0; }), "tp_bias_wrong");
  EXPECT_EQ(biases(5, [](int n) { return 1.0 * n; }), "tp_bias_not_used");

  const auto y = [](auto value) {
    return with(5, Shown::y,
                [=](Values& values, const NetworkCase& network, int rank) { values = value(network, rank); });
  };
  EXPECT_EQ(y([](auto& network, int rank) { return network.y_of_rank(rank); }), "tp_not_summed");
  EXPECT_EQ(y([](auto& network, int) { return scaled(network.y(), network.tensor_size()); }), "tp_summed_often");
  EXPECT_EQ(y([](auto& network, int) { return scaled(network.y(), 1.0 / network.tensor_size()); }), "tp_y_divided");
  EXPECT_EQ(y([](auto& network, int) { return network.y_without_relu(); }), "tp_relu_missing");
  EXPECT_EQ(y([](auto& network, int) { return scaled(network.y(), 1.5); }), "tp_y_wrong");
  EXPECT_EQ(with(5, Shown::y, [](Values& values, auto&, int) { values.pop_back(); }), "tp_y_wrong");
  EXPECT_EQ(with(5, Shown::h, [](Values& values, auto&, int) { values[0] -= 1; }), "tp_h_wrong");
  EXPECT_EQ(with_events(5, forward_sent, [](auto& event, auto&, int) { event.about[0] += 100; }), "tp_forward_bytes");
}

TEST(TensorParallel, NamesMistakesOfBackward) {
  const auto first = [](auto value) {
    return with(6, Shown::first_gradient,
                [=](Values& values, const NetworkCase& network, int rank) { values = value(network, rank); });
  };
  EXPECT_EQ(first([](auto& network, int rank) { return network.first_gradient_of_rank(rank); }), "tp_dx_not_summed");
  EXPECT_EQ(first([](auto& network, int) { return scaled(network.first_gradient(), network.tensor_size()); }),
            "tp_dx_summed_often");
  EXPECT_EQ(first([](auto& network, int) { return scaled(network.first_gradient(), 1.0 / network.tensor_size()); }),
            "tp_dx_divided");
  EXPECT_EQ(first([](auto& network, int) { return scaled(network.first_gradient(), -1); }), "tp_dx_wrong");
  for (const Shown which : {Shown::a_gradient, Shown::b_gradient})
    EXPECT_EQ(with(6, which, [](Values& values, auto&, int) { scale(values, 2); }), "tp_weight_gradients_changed");
  EXPECT_EQ(with_events(6, backward_sent, [](auto& event, auto&, int) { event.about[0] += 100; }), "tp_backward_bytes");
}

TEST(TensorParallel, NamesMistakesOfAverages) {
  const auto averaged = [](auto factor) {
    return with(7, Shown::averaged,
                [=](Values& values, const NetworkCase& network, int) { scale(values, factor(network)); });
  };
  EXPECT_EQ(averaged([](auto& network) { return 1.0 * network.copies(); }), "tp_gradients_summed");
  EXPECT_EQ(averaged([](auto& network) { return 1.0 / network.copies(); }), "tp_gradients_divided_twice");
  EXPECT_EQ(averaged([](auto& network) { return 1.0 * network.copies() / network.ranks(); }),
            "tp_gradients_divided_by_all");
  EXPECT_EQ(averaged([](auto&) { return 0.75; }), "tp_gradients_wrong");
  const auto of_ranks = [](auto ranks) {
    return with(7, Shown::averaged, [=](Values& values, const NetworkCase& network, int rank) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0;
        for (const int other : ranks(network, rank)) values[i] += case_gradient(other, i);
      }
    });
  };
  EXPECT_EQ(of_ranks([](auto&, int rank) { return std::vector{rank}; }), "tp_gradients_own");
  EXPECT_EQ(of_ranks([](auto& network, int rank) {
              return network.copies() == 1 && network.ranks() == 2 ? std::vector{0, 1} : std::vector{rank};
            }),
            "tp_gradients_in_node");
  EXPECT_EQ(with_events(7, averages_sent, [](auto& event, auto&, int) { event.about[0] += 100; }),
            "tp_gradients_bytes");
}

TEST(TensorParallel, NamesMistakesOfImages) {
  const auto images = [](auto range) {
    return with_events(8, images_taken, [=](facts::Event& event, const RunPlan& plan, int rank) {
      event.about = range(event.about, plan.nodes, rank);
    });
  };
  using Bounds = std::vector<std::int64_t>;
  EXPECT_EQ(images([](Bounds bounds, auto&, int rank) {
              return Bounds{bounds[0], bounds[1] - rank};
            }),
            "tp_images_by_rank");
  EXPECT_EQ(images([](Bounds bounds, const std::vector<int>& nodes, int) {
              return nodes.size() == 3 && nodes[2] == 2 ? Bounds{0, 2} : bounds;
            }),
            "tp_same_images");
  EXPECT_EQ(images([](Bounds bounds, const std::vector<int>& nodes, int) {
              return nodes.size() == 3 && nodes[2] == 2 ? Bounds{0, 6} : bounds;
            }),
            "tp_whole_batch");
  EXPECT_EQ(images([](Bounds bounds, auto&, int) { return Bounds{bounds[0], bounds[1] - 1}; }), "tp_images");
}

TEST(TensorParallel, LooksAtTheWeightsAfterSomeUpdates) {
  for (const Shown which : {Shown::first_trained, Shown::a_trained, Shown::b_trained})
    EXPECT_EQ(with(8, which, [](Values& values, auto&, int) { values.back() += 0.01f; }), "tp_weights_wrong");
}

TEST(TensorParallel, ShowsTheBytesThatWereCounted) {
  Fabricated runs([](Evidence&, const RunPlan&) {}, split_on);
  const ShownFigure shown = exam_of(task_named("tensor_parallel")).shows(runs);
  ASSERT_EQ(shown.figure.curves.size(), 4u);
  for (std::size_t i = 0; i < shown.figure.x.size(); ++i) {
    for (const std::size_t line : {0, 1})
      EXPECT_DOUBLE_EQ(*shown.figure.curves[line].values[i], *shown.figure.curves[line + 2].values[i]) << i;
    const bool tensor_sends_less = *shown.figure.curves[2].values[i] < *shown.figure.curves[3].values[i];
    EXPECT_EQ(tensor_sends_less, shown.figure.x[i] <= 64) << "they cross near the number of hidden values";
  }
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    for (const Curve& curve : shown.figure.curves) EXPECT_NE(messages.text(curve.name, shown.values), curve.name);
    EXPECT_NE(messages.text(shown.figure.text, shown.values).find("64"), std::string::npos);
  }
}

}  // namespace
}  // namespace odori::grader::test::of_tensor_parallel
