// SPDX-License-Identifier: Apache-2.0
// Task 9: tensor parallel in a node, data parallel between nodes.
#include <algorithm>
#include <cmath>

#include "checks/findings.h"
#include "network_case.h"

namespace odori::grader {
namespace {

// Where n divides `hidden`, a mistake shows most plainly; where it does not, shards differ in size.
const TensorParallelCase even{.in = 5, .width = 6, .hidden = 8, .classes = 3, .images = 4, .updates = 2},
    uneven{.in = 3, .width = 4, .hidden = 11, .classes = 5, .images = 8, .updates = 2};
const RunPlan two = trying({0, 0}, {even, uneven}), by_node = trying({0, 0, 1, 1}, {even, uneven}),
              in_turn = trying({0, 1, 0, 1}, {uneven}), four = trying({0, 0, 0, 0}, {even, uneven}),
              three = trying({0, 0, 0}, {uneven}), three_copies = trying({0, 1, 2}, {{4, 3, 5, 2, 6, 2}}),
              alone = trying({0}, {uneven});

/// For messages: the test case.
std::string described(const TensorParallelCase& sizes) {
  return fmt::format("in {}, width {}, hidden {}, classes {}, images {}, updates {}", sizes.in, sizes.width,
                     sizes.hidden, sizes.classes, sizes.images, sizes.updates);
}

/// Calls `find` for each test case of which every rank has shown `last`, until it finds something.
template <typename Find>
Found in_cases(const Situation& situation, Shown last, const Find& find) {
  for (std::size_t i = 0; i < cases_of(situation.plan).size(); ++i) {
    const NetworkCase network(situation, i);
    if (!network.has_shown(last)) return {};
    if (last != Shown::b && !network.has_columns()) return {};
    if (Found wrong = find(network)) {
      wrong->values.try_emplace("with_flags", described(network.sizes()));
      return wrong;
    }
  }
  return {};
}

/// The same, for each rank.
template <typename Find>
Found on_ranks(const Situation& situation, Shown last, const Find& find) {
  return in_cases(situation, last, [&](const NetworkCase& network) -> Found {
    for (int rank = 0; rank < network.ranks(); ++rank)
      if (Found wrong = find(network, rank)) return wrong;
    return {};
  });
}

/// The first element that differs, described by `key`.
Found first_difference(const char* key, int rank, const Values& seen, const Values& expected) {
  if (seen.size() != expected.size())
    return found(key, {{"rank", rank},
                       {"i", std::min(seen.size(), expected.size())},
                       {"seen", fmt::format("{} elements", seen.size())},
                       {"expected", fmt::format("{} elements", expected.size())}});
  const double tolerance = tolerance_of(expected);
  std::size_t i = 0;
  while (std::abs(double{seen[i]} - expected[i]) <= tolerance) ++i;
  return found(key, {{"rank", rank},
                     {"i", i},
                     {"seen", fmt::format("{:g}", seen[i])},
                     {"expected", fmt::format("{:g}", expected[i])}});
}

/// More bytes than an all-reduce of that many elements over n ranks.
Found find_more_bytes(const char* key, const NetworkCase& network, int rank, const char* event, int n,
                      std::size_t elements) {
  const double needed = 2.0 * (n - 1) / n * static_cast<double>(elements) * sizeof(float);
  const std::int64_t seen = network.bytes(rank, event);
  if (static_cast<double>(seen) <= needed * 1.01 + 16) return {};
  return found(key, {{"rank", rank}, {"seen", seen}, {"expected", std::llround(needed)}, {"n", n}});
}

// ---- Blank 1

Found find_in_groups(const Situation& situation) {
  const std::vector<int>& nodes = situation.plan.nodes;
  const int n = situation.plan.ranks();
  const auto groups_are = [&](const char* event, const auto& expected) {
    for (int rank = 0; rank < n; ++rank) {
      const std::vector<int> seen = group_of(situation.evidence(), rank, event);
      if (!seen.empty() && seen != expected(rank)) return false;
    }
    return true;
  };
  const auto on_node = [&](int rank) { return ranks_on_node(nodes, rank); };
  const auto across = [&](int rank) { return ranks_across(nodes, rank); };
  if (groups_are(tensor_group_made, on_node) && groups_are(data_group_made, across)) return {};
  // In turn, that is also what blocks of ranks come to.
  if (situation.plan != in_turn && groups_are(tensor_group_made, across) && groups_are(data_group_made, on_node))
    return found("tp_groups_swapped", {{"nodes", list(nodes)}});
  const auto whole = [&](int) {
    std::vector<int> all;
    for (int rank = 0; rank < n; ++rank) all.push_back(rank);
    return all;
  };
  for (const auto& [event, name] : {std::pair{tensor_group_made, ".tensor"}, {data_group_made, ".data"}})
    if (const bool is_tensor = event == tensor_group_made;
        is_tensor ? !groups_are(event, on_node) : !groups_are(event, across)) {
      int rank = 0;
      const auto expected = [&](int r) { return is_tensor ? on_node(r) : across(r); };
      while (group_of(situation.evidence(), rank, event).empty() ||
             group_of(situation.evidence(), rank, event) == expected(rank))
        ++rank;
      const bool fits_blocks = situation.plan == in_turn;  // only this placement shows it
      return found(groups_are(event, whole) ? "tp_group_of_all"
                   : fits_blocks            ? "tp_groups_by_rank"
                                            : "tp_group",
                   {{"group", name},
                    {"rank", rank},
                    {"seen", list(group_of(situation.evidence(), rank, event))},
                    {"expected", list(expected(rank))},
                    {"nodes", list(nodes)}});
    }
  return {};
}

// ---- Blanks 2 and 3

Found find_in_columns(const Situation& situation) {
  return in_cases(situation, Shown::b, [&](const NetworkCase& network) -> Found {
    const auto all_have = [&](const auto& slice) {
      for (int rank = 0; rank < network.ranks(); ++rank)
        if (network.shown(rank, Shown::a) != slice(rank)) return false;
      return true;
    };
    const mlp::Layer& A = network.A();
    const Range all_columns{0, A.out};
    const auto shard = [&](int rank, std::size_t size) { return network.shard(rank, size); };
    const auto of = [&](const char* key) {
      return found(key, {{"n", network.tensor_size()}, {"columns", A.out}, {"rows", A.in}});
    };
    if (network.tensor_size() > 1 && all_have([&](int) { return network.of_a({0, A.in + 1}, all_columns); }))
      return of("tp_whole_a");
    if (all_have([&](int rank) { return network.of_a({0, A.in}, shard(rank, A.out)); }))
      return of("tp_bias_of_a_missing");
    if (network.tensor_size() > 1)
      for (const std::size_t rows : {A.in, A.in + 1})
        if (all_have([&](int rank) { return network.of_a(shard(rank, rows), all_columns); })) return of("tp_rows_of_a");
    std::vector<int> times(A.out);
    for (int rank = 0; rank < network.ranks(); ++rank) {
      const auto& columns = network.columns(rank);
      if (!columns)
        return found("tp_not_columns_of_a",
                     {{"rank", rank}, {"seen", network.shown(rank, Shown::a).size()}, {"rows", A.in + 1}});
      if (situation.plan.nodes[static_cast<std::size_t>(rank)] == 0)
        for (const std::size_t column : *columns) ++times[column];
    }
    const auto missing = std::ranges::count(times, 0),
               shared = std::ranges::count_if(times, [](int t) { return t > 1; });
    if (missing > 0 && shared > 0)
      return found("tp_columns_shared", {{"shared", shared}, {"missing", missing}, {"columns", A.out}});
    if (missing > 0)
      return found("tp_columns_missing", {{"missing", missing}, {"columns", A.out}, {"n", network.tensor_size()}});
    if (shared > 0) return found("tp_columns_shared", {{"shared", shared}, {"missing", missing}, {"columns", A.out}});
    return {};
  });
}

Found find_in_rows(const Situation& situation) {
  return on_ranks(situation, Shown::b, [&](const NetworkCase& network, int rank) -> Found {
    const auto columns = network.columns(rank);
    if (!columns) return {};
    const Values& seen = network.shown(rank, Shown::b);
    const mlp::Layer& B = network.B();
    if (seen == network.rows_of_b(*columns)) return {};
    const auto is = [&](Range rows, Range of_columns) { return seen == network.of_b(rows, of_columns); };
    const Range all_columns{0, B.out}, own = network.shard(rank, B.in), shard = network.shard(rank, B.out);
    Values with_bias = network.rows_of_b(*columns);
    with_bias.insert(with_bias.end(), network.bias_of_b().begin(), network.bias_of_b().end());
    const bool one_more = seen == with_bias || is({own.begin, own.end + 1}, all_columns);
    const bool is_whole = is({0, B.in}, all_columns) || is({0, B.in + 1}, all_columns);
    const char* const key = is_whole && network.tensor_size() > 1              ? "tp_whole_b"
                            : is({0, B.in}, shard) || is({0, B.in + 1}, shard) ? "tp_columns_of_b"
                            : one_more                                         ? "tp_bias_in_b"
                                                                               : "tp_rows_of_b";
    return found(key, {{"rank", rank},
                       {"seen", seen.size()},
                       {"expected", columns->size() * B.out},
                       {"columns", columns->size()},
                       {"first", columns->empty() ? 0 : columns->front()},
                       {"n", network.tensor_size()}});
  });
}

// ---- Blanks 4 and 5

/// y has the bias k times, instead of once.
bool has_bias(const NetworkCase& network, const Values& y, double k) {
  Values expected = network.y();
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] += static_cast<float>(k - 1) * network.bias_of_b()[i % network.B().out];
  return is_close(y, expected);
}

Found find_in_bias(const Situation& situation) {
  return on_ranks(situation, Shown::y, [&](const NetworkCase& network, int rank) -> Found {
    const Values& y = network.shown(rank, Shown::y);
    if (is_close(y, network.y())) return {};
    const int n = network.tensor_size();
    if (has_bias(network, y, 0)) return found("tp_bias_missing", {{"n", n}});
    if (n > 1 && has_bias(network, y, n)) return found("tp_bias_often", {{"n", n}});
    if (n > 1 && has_bias(network, y, n - 1)) return found("tp_bias_on_others", {{"times", n - 1}, {"n", n}});
    if (n > 1 && has_bias(network, y, 1.0 / n)) return found("tp_bias_divided", {{"n", n}});
    return first_difference("tp_bias_wrong", rank, y, network.y());
  });
}

Found find_in_forward(const Situation& situation) {
  return on_ranks(situation, Shown::y, [&](const NetworkCase& network, int rank) -> Found {
    const Values &y = network.shown(rank, Shown::y), &h = network.shown(rank, Shown::h);
    const int n = network.tensor_size();
    if (y.size() != network.y().size()) return first_difference("tp_y_wrong", rank, y, network.y());
    if (!is_close(y, network.y())) {
      const Values own = network.y_of_rank(rank);
      if (n > 1 && (is_close(y, own) || is_close(y, plus_bias(own, network.bias_of_b()))))
        return found("tp_not_summed", {{"rank", rank}, {"n", n}});
      for (const int times : {n, network.ranks(), n * n})
        if (times > 1 && is_close(y, scaled(network.y(), times)))
          return found("tp_summed_often", {{"times", times}, {"n", n}});
      if (n > 1 && network.is_of_summed_h(rank, y)) return found("tp_h_summed", {{"rank", rank}, {"n", n}});
      if (n > 1 && is_close(y, scaled(network.y(), 1.0 / n))) return found("tp_y_divided", {{"n", n}});
      if (is_close(y, network.y_without_relu())) return found("tp_relu_missing", {{"rank", rank}});
      if (has_bias(network, y, 0) || has_bias(network, y, n)) return found("tp_bias_not_used", {{"n", n}});
      return first_difference("tp_y_wrong", rank, y, network.y());
    }
    if (!is_close(h, network.h_of_rank(rank))) return first_difference("tp_h_wrong", rank, h, network.h_of_rank(rank));
    return find_more_bytes("tp_forward_bytes", network, rank, forward_sent, n, y.size());
  });
}

// ---- Blank 6

Found find_in_backward(const Situation& situation) {
  return on_ranks(situation, Shown::b_gradient, [&](const NetworkCase& network, int rank) -> Found {
    const int n = network.tensor_size();
    const Values &seen = network.shown(rank, Shown::first_gradient), &expected = network.first_gradient();
    if (!is_close(seen, expected)) {
      if (n > 1 && is_close(seen, network.first_gradient_of_rank(rank)))
        return found("tp_dx_not_summed", {{"rank", rank}});
      for (const int times : {n, network.ranks(), n * n})
        if (times > 1 && is_close(seen, scaled(expected, times)))
          return found("tp_dx_summed_often", {{"times", times}, {"n", n}});
      if (n > 1 && is_close(seen, scaled(expected, 1.0 / n))) return found("tp_dx_divided", {{"n", n}});
      return first_difference("tp_dx_wrong", rank, seen, expected);
    }
    for (const Shown which : {Shown::a_gradient, Shown::b_gradient}) {
      const Values own = which == Shown::a_gradient ? network.a_gradient(rank) : network.b_gradient(rank);
      if (!is_close(network.shown(rank, which), own))
        return first_difference("tp_weight_gradients_changed", rank, network.shown(rank, which), own);
    }
    return find_more_bytes("tp_backward_bytes", network, rank, backward_sent, n,
                           network.sizes().images * network.sizes().width);
  });
}

// ---- Blank 7

/// The gradients as the sum over these ranks, divided.
Values sum_of_gradients(const std::vector<int>& ranks, std::size_t size, double divisor) {
  Values sum(size);
  for (std::size_t i = 0; i < size; ++i) {
    double all = 0;
    for (const int rank : ranks) all += case_gradient(rank, i);
    sum[i] = static_cast<float>(all / divisor);
  }
  return sum;
}

Found find_in_averages(const Situation& situation) {
  const std::vector<int>& nodes = situation.plan.nodes;
  return on_ranks(situation, Shown::averaged, [&](const NetworkCase& network, int rank) -> Found {
    const Values& seen = network.shown(rank, Shown::averaged);
    const std::vector<int> across = ranks_across(nodes, rank), node = ranks_on_node(nodes, rank);
    const auto n = static_cast<double>(across.size());
    const auto is = [&](const std::vector<int>& ranks, double divisor) {
      return is_close(seen, sum_of_gradients(ranks, seen.size(), divisor));
    };
    if (!is(across, n)) {
      const std::vector<int> own{rank};
      const auto of = [&](const char* key) {
        return found(key, {{"rank", rank}, {"ranks", list(across)}, {"node", list(node)}, {"n", across.size()}});
      };
      if (across.size() > 1 && (is(own, 1) || is(own, n))) return of("tp_gradients_own");
      if (across.size() > 1 && is(across, 1)) return of("tp_gradients_summed");
      if (across.size() > 1 && is(across, n * n)) return of("tp_gradients_divided_twice");
      if (is(across, situation.plan.ranks())) return of("tp_gradients_divided_by_all");
      for (const double divisor : {1.0, static_cast<double>(node.size()), n})
        if (node.size() > 1 && is(node, divisor)) return of("tp_gradients_in_node");
      return first_difference("tp_gradients_wrong", rank, seen, sum_of_gradients(across, seen.size(), n));
    }
    const std::size_t of_b = network.columns(rank).value_or(std::vector<std::size_t>()).size() * network.B().out;
    return find_more_bytes("tp_gradients_bytes", network, rank, averages_sent, static_cast<int>(n),
                           seen.size() + of_b + network.B().out);
  });
}

// ---- Blank 8

Found find_in_images(const Situation& situation) {
  return in_cases(situation, Shown::averaged, [&](const NetworkCase& network) -> Found {
    const std::size_t size = network.sizes().images;
    std::vector<int> times(size);
    std::vector<Range> taken;
    for (int rank = 0; rank < network.ranks(); ++rank) {
      const auto range = network.images(rank);
      if (!range || range->end > size) return {};
      taken.push_back(*range);
    }
    const auto text = [](const Range& range) { return fmt::format("[{}, {})", range.begin, range.end); };
    const auto same = [](const Range& a, const Range& b) { return a.begin == b.begin && a.end == b.end; };
    for (int rank = 0; rank < network.ranks(); ++rank) {
      const auto first = static_cast<std::size_t>(ranks_on_node(situation.plan.nodes, rank).front());
      const Range &own = taken[static_cast<std::size_t>(rank)], &other = taken[first];
      if (!same(own, other))
        return found("tp_images_by_rank",
                     {{"rank", rank}, {"other", first}, {"own", text(own)}, {"others", text(other)}});
      if (static_cast<int>(first) == rank)
        for (std::size_t i = own.begin; i < own.end; ++i) ++times[i];
    }
    const int copies = network.copies();
    const auto all = std::ranges::all_of(times, [](int t) { return t == 1; });
    if (all) return {};
    if (std::ranges::all_of(times, [&](int t) { return t == copies; }))
      return found("tp_whole_batch", {{"size", size}, {"n", copies}});
    const auto left = std::ranges::count(times, 0);
    if (copies > 1 && std::ranges::all_of(taken, [&](const Range& range) { return same(range, taken.front()); }))
      return found("tp_same_images", {{"range", text(taken.front())}, {"n", copies}, {"left", left}});
    return found("tp_images", {{"left", left}, {"size", size}, {"n", copies}, {"range", text(taken.front())}});
  });
}

// ---- Anyone's

Found find_in_weights(const Situation& situation) {
  return on_ranks(situation, Shown::b_trained, [&](const NetworkCase& network, int rank) -> Found {
    for (const Shown which : {Shown::first_trained, Shown::a_trained, Shown::b_trained}) {
      const Values expected = network.trained(which, rank);
      if (!is_close(network.shown(rank, which), expected))
        return first_difference("tp_weights_wrong", rank, network.shown(rank, which), expected);
    }
    return {};
  });
}

}  // namespace

Exam exam_of_tensor_parallel() {
  return {{two, by_node, in_turn, four, three, three_copies, alone},
          {{1, "GroupsAreOfNodes", find_in_groups},
           {2, "ColumnsAreDividedOnce", find_in_columns},
           {3, "RowsBelongToColumns", find_in_rows},
           {4, "BiasIsAddedOnce", find_in_bias},
           {5, "PartsOfYAreSummed", find_in_forward},
           {6, "PartsOfDxAreSummed", find_in_backward},
           {7, "CopiesAverageGradients", find_in_averages},
           {8, "CopiesShareTheBatch", find_in_images},
           {0, "TrainsAsOneProcess", find_in_weights},
           {0, "ShowsItsValues", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          bytes_over_batch};
}

}  // namespace odori::grader
