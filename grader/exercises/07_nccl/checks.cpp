// SPDX-License-Identifier: Apache-2.0
// Task 7: CUDA streams, events and NCCL, judged by the order of operations and by the weights.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "checks/findings.h"
#include "files/json.h"
#include "log_seen.h"

namespace odori::grader {
namespace {

using emulator::Conflict, emulator::LogEntry, emulator::Missing;
using nccl_timeline::is_backward;

RunPlan on(std::vector<int> nodes, NcclCase given, int iterations) {
  return {.nodes = std::move(nodes),
          .epochs = 0,
          .most_values = 30'000,
          .flags = {"--iterations", std::to_string(iterations)},
          .test_cases = json_text(nlohmann::json(given))};
}

// On two ranks a mean is exact. On scattered nodes the remainder of the global rank is not the local rank. Where each
// process sees one GPU, that is number 0. One rank has nobody to exchange with.
const RunPlan plainest = on({0, 0}, {.gpus = 2}, 3), scattered = on({0, 1, 0, 1}, {.gpus = 2, .seed = 2}, 2),
              one_each = on({0, 0, 1}, {.gpus = 4, .one_each = true, .seed = 3}, 4),
              more_gpus = on({0, 0, 1}, {.gpus = 3, .seed = 4}, 1), alone = on({0}, {.gpus = 1, .seed = 5}, 2);

NcclCase case_of(const RunPlan& plan) { return parse_json(plan.test_cases).get<NcclCase>(); }
int iterations_of(const RunPlan& plan) { return std::stoi(plan.flags.back()); }

const char* name_of(const LogEntry& entry) { return entry.name.c_str(); }

// ---- Blanks 1 to 3: GPUs and the communicator

const facts::Event* find_event(const RankSeen& rank, const char* what) {
  const auto event = std::ranges::find(rank.events, what, &facts::Event::what);
  return event == rank.events.end() ? nullptr : &*event;
}

Found find_in_gpus(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const bool is_one_each = case_of(situation.plan).one_each;
  if (Found none =
          find_refused(evidence, nccl_facts::no_such_gpu, is_one_each ? "gpu_of_one_visible" : "gpu_of_other_node"))
    return none;
  const std::vector<int>& nodes = situation.plan.nodes;
  std::map<std::pair<int, std::int64_t>, std::vector<int>> users;
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
    const facts::Event* const event = find_event(evidence.ranks[rank], nccl_facts::gpu);
    if (!event || event->about.size() != 3) continue;
    users[{nodes[rank], event->about[1]}].push_back(static_cast<int>(rank));
  }
  for (const auto& [place, ranks] : users)
    if (ranks.size() > 1)
      return found("gpu_shared", {{"ranks", list(ranks)}, {"node", place.first}, {"gpu", place.second}});
  return {};
}

/// The ids differ if ranks wait for each other in vain, or if one has none.
Found find_in_id(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  const auto silent = ranks_with(evidence, [](const RankSeen& r) { return !find_event(r, nccl_facts::broadcast); });
  constexpr std::int64_t bytes_of_id = 128;
  std::int64_t least = bytes_of_id, root = 0;
  for (const RankSeen& rank : evidence.ranks)
    for (const facts::Event& event : rank.events)
      if (event.what == nccl_facts::broadcast && event.about.size() == 2)
        least = std::min(least, event.about[0]), root = std::max(root, event.about[1]);
  if (!silent.empty() && silent.size() < evidence.ranks.size() && evidence.ending != Ending::finished)
    return found("broadcast_on_some_ranks", {{"ranks", list(silent)}});
  if (least < bytes_of_id && evidence.ending != Ending::finished) return found("id_cut", {{"bytes", least}});
  const char* const key = silent.size() == evidence.ranks.size() ? "id_of_its_own"
                          : root != 0                            ? "id_from_other_root"
                                                                 : "id_differs";
  const Found missing = find_refused(evidence, nccl_facts::ranks_missing, key);
  return missing ? missing : find_refused(evidence, nccl_facts::init_refused, key);
}

Found find_in_communicator(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found refused = find_refused(evidence, nccl_facts::init_refused)) return refused;
  if (Found none = find_refused(evidence, nccl_facts::no_communicator)) return none;
  if (Found missing = find_refused(evidence, nccl_facts::ranks_missing, "ranks_missing")) return missing;
  for (const LogSeen& log : logs_of(evidence, nccl_facts::training))
    for (const LogEntry& entry : log.entries())
      if (is_collective(entry) && entry.collective->size != situation.plan.ranks())
        return found("communicator_size",
                     {{"seen", entry.collective->size}, {"expected", situation.plan.ranks()}, {"rank", log.rank}});
  return {};
}

// ---- Order

/// The first conflict of such a pair, in the logs of all ranks.
template <typename Say>
Found find_conflict(const Situation& situation, nccl_facts::Phase phase, Say say) {
  for (const LogSeen& log : logs_of(situation.evidence(), phase))
    for (const Conflict& conflict : log.conflicts) {
      const LogEntry &first = log.entries()[conflict.first], &second = log.entries()[conflict.second];
      if (const char* key = say(pair_of(first, second), conflict.missing))
        return found(key, {{"first", name_of(first)},
                           {"second", name_of(second)},
                           {"rank", log.rank},
                           {"iteration", log.iteration_of(first)}});
    }
  return {};
}

/// Which event does not order what it should.
const char* key_of(Missing missing, const char* no_event) {
  return missing == Missing::later_record   ? "event_too_early"
         : missing == Missing::event_record ? "event_not_recorded"
                                            : no_event;
}

/// A wait of the host among an iteration's entries, from the first for which `begins` holds to the first for which
/// `ends` does.
template <typename Begins, typename Ends>
Found find_host_wait(const Situation& situation, nccl_facts::Phase phase, const char* key, Begins begins, Ends ends) {
  for (const LogSeen& log : logs_of(situation.evidence(), phase)) {
    bool inside = false;
    for (const LogEntry& entry : log.entries()) {
      if (begins(entry)) inside = true;
      if (ends(entry)) inside = false;
      if (inside && is_host_wait(entry))
        return found(key, {{"call", name_of(entry)}, {"rank", log.rank}, {"iteration", log.iteration_of(entry)}});
    }
  }
  return {};
}

bool overlap(const LogEntry& a, const LogEntry& b) {
  for (const auto& x : a.writes)
    for (const auto& y : b.writes)
      if (std::max(x.begin, y.begin) < std::min(x.end, y.end)) return true;
  return false;
}

/// All-reduces for which backward waits, or which wait for later layers than those whose gradients they exchange.
Found find_no_overlap(const Situation& situation) {
  for (const LogSeen& log : logs_of(situation.evidence(), nccl_facts::training))
    for (int iteration = 0; iteration < static_cast<int>(log.begins.size()); ++iteration) {
      const auto backward = log.in_iteration(iteration, is_backward);
      for (const std::size_t exchange : log.in_iteration(iteration, is_collective)) {
        const auto says = [&](const char* key, std::size_t layer) {
          return found(key, {{"layer", log.entries()[layer].name}, {"rank", log.rank}, {"iteration", iteration}});
        };
        std::vector<std::size_t> own;
        std::ranges::copy_if(backward, std::back_inserter(own),
                             [&](std::size_t layer) { return overlap(log.entries()[layer], log.entries()[exchange]); });
        if (own.size() > 1 && own.size() == backward.size())
          return says("exchange_waits_for_backward", backward.back());
        for (const std::size_t layer : backward) {
          if (log.graph.ordered(exchange, layer)) return says("backward_waits_for_exchange", layer);
          if (!own.empty() && layer > own.back() && log.graph.ordered(layer, exchange))
            return says("exchange_waits_for_backward", layer);
        }
      }
    }
  return {};
}

Found find_in_waiting_for_backward(const Situation& situation) {
  if (Found wrong = find_conflict(situation, nccl_facts::training, [](Pair pair, Missing missing) {
        return pair == Pair::gradients_exchange ? key_of(missing, "exchange_before_backward") : nullptr;
      }))
    return wrong;
  if (Found waits =
          find_host_wait(situation, nccl_facts::training, "host_waits_in_backward", is_backward,
                         [&](const LogEntry& e) { return is_collective(e) || is_update(e) || is_host_access(e); }))
    return waits;
  return find_no_overlap(situation);
}

Found find_in_waiting_for_exchange(const Situation& situation) {
  if (Found wrong = find_conflict(situation, nccl_facts::training, [](Pair pair, Missing missing) {
        return pair == Pair::exchange_update ? key_of(missing, "update_before_exchange") : nullptr;
      }))
    return wrong;
  if (Found waits =
          find_host_wait(situation, nccl_facts::training, "host_waits_for_exchange", is_collective,
                         [](const LogEntry& e) { return is_update(e) || is_backward(e) || is_host_access(e); }))
    return waits;
  return find_no_overlap(situation);
}

// ---- The weights

bool are_equal(const std::vector<float>& seen, const std::vector<float>& expected, double tolerance) {
  if (seen.size() != expected.size()) return false;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!(std::abs(double{seen[i]} - expected[i]) <= tolerance)) return false;
  return true;
}

/// Two ranks' mean is exact in any order.
double tolerance_on(int ranks) { return ranks <= 2 ? 0 : 1e-5; }

Found find_in_weights(const Situation& situation) {
  const auto& ranks = situation.evidence().ranks;
  const int n = situation.plan.ranks();
  if (ranks.empty() || ranks[0].values.size() <= nccl_facts::all_losses) return {};
  const auto& known = ranks[0].values;
  for (int rank = 0; rank < n; ++rank) {
    const auto& values = ranks[static_cast<std::size_t>(rank)].values;
    if (values.empty()) return {};
    const auto is = [&](nccl_facts::Shown shown) { return are_equal(values[nccl_facts::weights], known[shown], 1e-5); };
    if (are_equal(values[nccl_facts::weights], known[nccl_facts::mean], tolerance_on(n))) continue;
    const char* const key = is(nccl_facts::sum)     ? "sum_not_mean"
                            : is(nccl_facts::twice) ? "scaled_twice"
                                                    : "weights_wrong";
    return found(key, {{"rank", rank}, {"n", n}, {"iterations", iterations_of(situation.plan)}});
  }
  return {};
}

/// One all-reduce for each layer, of all its gradients, in place; or a reduce, and a broadcast of its result.
Found find_in_calls(const Situation& situation) {
  for (const LogSeen& log : logs_of(situation.evidence(), nccl_facts::training))
    for (int iteration = 0; iteration < static_cast<int>(log.begins.size()); ++iteration) {
      const auto backward = log.in_iteration(iteration, is_backward),
                 calls = log.in_iteration(iteration, is_collective);
      const bool reduces = std::ranges::any_of(calls, [&](auto i) { return log.entries()[i].name == "ncclReduce"; });
      std::size_t expected = 0, seen = 0;
      for (const std::size_t i : backward) {
        const auto& gradients = log.entries()[i].writes.front();
        expected += gradients.end - gradients.begin;
      }
      for (const std::size_t i : calls) {
        const LogEntry& call = log.entries()[i];
        if (!reduces || call.name != "ncclBroadcast") seen += call.bytes;
        if (!call.reads.empty() && !call.writes.empty() && call.reads.front().begin != call.writes.front().begin)
          return found("not_in_place", {{"call", name_of(call)}, {"rank", log.rank}});
        if (call.stream > log.entries()[backward.front()].stream + 1)
          return found("exchange_on_reading", {{"call", name_of(call)}, {"rank", log.rank}});
      }
      if (seen == expected) continue;
      return found(calls.empty() ? "no_exchange" : "length_wrong",
                   {{"rank", log.rank}, {"seen", seen / sizeof(float)}, {"expected", expected / sizeof(float)}});
    }
  return {};
}

Found find_in_exchange(const Situation& situation) {
  if (Found refused = find_refused(situation.evidence(), nccl_facts::all_reduce_refused)) return refused;
  if (Found calls = find_in_calls(situation)) return calls;
  if (Found scaling = find_conflict(situation, nccl_facts::training, [](Pair pair, Missing) {
        return pair == Pair::scaling ? "scaled_in_any_order" : nullptr;
      }))
    return scaling;
  if (Found weights = find_in_weights(situation)) return weights;
  if (Found waits = find_host_wait(situation, nccl_facts::training, "host_waits_in_backward", is_collective,
                                   [](const LogEntry& e) { return is_update(e) || is_host_access(e); }))
    return waits;
  return find_no_overlap(situation);
}

// ---- Blank 7: the loss

/// After the update only the copy of the loss may be waited for.
Found find_in_waiting_for_loss(const Situation& situation) {
  for (const LogSeen& log : logs_of(situation.evidence(), nccl_facts::training))
    for (int iteration = 0; iteration < static_cast<int>(log.begins.size()); ++iteration) {
      const auto updates = log.in_iteration(iteration, is_update), reads = log.in_iteration(iteration, is_host_access);
      if (updates.empty() || reads.empty()) continue;
      const auto says = [&](const char* key, const std::string& call) {
        return found(key, {{"call", call}, {"rank", log.rank}, {"iteration", iteration}});
      };
      const auto in_blank = [&](const LogEntry& e) {
        return e.id > log.entries()[updates.back()].id && e.id < log.entries()[reads.front()].id;
      };
      const auto copies = log.in_iteration(iteration, is_copy);
      if (copies.empty()) return says("loss_not_copied", "cudaMemcpyAsync");
      for (const std::size_t wait : log.in_iteration(iteration, is_host_wait)) {
        const LogEntry& entry = log.entries()[wait];
        if (!in_blank(entry)) continue;
        if (entry.name.find("pageable") != std::string::npos) return says("loss_pageable", entry.name);
        for (const std::size_t work : log.in_iteration(iteration, is_backward))
          if (log.graph.ordered(work, wait)) return says("host_waits_for_all", entry.name);
      }
    }
  return {};
}

Found find_in_loss(const Situation& situation) {
  if (Found wrong = find_conflict(situation, nccl_facts::training, [](Pair pair, Missing) {
        return pair == Pair::loss_copy   ? "loss_copied_too_early"
               : pair == Pair::copy_host ? "host_reads_too_early"
                                         : nullptr;
      }))
    return wrong;
  if (Found waits = find_in_waiting_for_loss(situation)) return waits;
  const auto& ranks = situation.evidence().ranks;
  if (ranks.empty() || ranks[0].values.size() <= nccl_facts::all_losses) return {};
  const auto& all = ranks[0].values[nccl_facts::all_losses];
  const auto n = static_cast<std::size_t>(iterations_of(situation.plan));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].values.size() <= nccl_facts::losses) return {};
    const auto& losses = ranks[rank].values[nccl_facts::losses];
    for (std::size_t i = 0; i < n; ++i)
      if (losses.size() != n || !(std::abs(losses[i] - all[rank * n + i]) <= 1e-4))
        return found("loss_wrong", {{"rank", rank},
                                    {"iteration", i},
                                    {"seen", fmt::format("{:g}", i < losses.size() ? losses[i] : NAN)},
                                    {"expected", fmt::format("{:g}", all[rank * n + i])}});
  }
  return {};
}

// ---- Blank 8: one process

Found find_in_one_process(const Situation& situation) {
  const Evidence& evidence = situation.evidence();
  if (Found no_group = find_refused(evidence, nccl_facts::no_group)) return no_group;
  if (Found refused = find_refused(evidence, nccl_facts::all_reduce_refused, "one_process_refused")) return refused;
  if (Found wrong = find_conflict(situation, nccl_facts::one_process_phase, [](Pair pair, Missing) {
        return pair == Pair::exchange_update      ? "one_process_update_too_early"
               : pair == Pair::gradients_exchange ? "one_process_stream"
                                                  : nullptr;
      })) {
    const LogSeen log = logs_of(evidence, nccl_facts::one_process_phase).front();
    for (const Conflict& conflict : log.conflicts)
      if (is_collective(log.entries()[conflict.first]) && waits_too_early(log, conflict.first, conflict.second))
        wrong->key = "recorded_in_group";
    return wrong;
  }
  for (const LogSeen& log : logs_of(evidence, nccl_facts::one_process_phase)) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < log.entries().size(); ++i)
      if (is_backward(log.entries()[i])) last = i;
    for (std::size_t i = last; i < log.entries().size(); ++i) {
      const LogEntry& entry = log.entries()[i];
      if (is_host_wait(entry)) return found("one_process_host_waits", {{"call", name_of(entry)}});
    }
  }
  if (evidence.ranks.empty() || evidence.ranks[0].values.size() < nccl_facts::n_shown) return {};
  const auto& seen = evidence.ranks[0].values[nccl_facts::of_one_process];
  const auto& mean = evidence.ranks[0].values[nccl_facts::one_process_mean];
  const std::size_t n = seen.size() / mean.size();
  for (std::size_t gpu = 0; gpu < n; ++gpu) {
    const auto begin = seen.begin() + static_cast<std::ptrdiff_t>(gpu * mean.size());
    if (!are_equal({begin, begin + static_cast<std::ptrdiff_t>(mean.size())}, mean, tolerance_on(static_cast<int>(n))))
      return found("one_process_wrong", {{"gpu", gpu}, {"n", n}});
  }
  return {};
}

// ---- Anyone's

Found find_unordered(const Situation& situation) {
  for (const auto phase : {nccl_facts::training, nccl_facts::one_process_phase})
    if (Found wrong = find_conflict(situation, phase, [](Pair, Missing) { return "unordered"; })) return wrong;
  return find_refused(situation.evidence(), nccl_facts::exchange_failed);
}

// ---- What a right answer shows

ShownFigure milliseconds_of_iteration(Runs& runs) {
  const LogSeen log = logs_of(runs.of(plainest), nccl_facts::training).at(0);
  std::vector<LogEntry> alone = log.entries();
  for (LogEntry& entry : alone)
    if (is_collective(entry)) entry.bytes = 0;
  Curve curve{.name = "streams_ms", .measured = true};
  for (const auto& entries : {nccl_timeline::with_one_event(log.entries()), log.entries(), alone})
    curve.values.emplace_back(1e3 * nccl_timeline::seconds_of_iteration(entries));
  return {{.title = "streams",
           .text = "streams_is",
           .x_name = "streams_how",
           .y_name = "streams_ms",
           .curves = {curve},
           .bars = {"streams_one_event", "streams_yours", "streams_no_exchange"}},
          {}};
}

}  // namespace

Exam exam_of_nccl() {
  return {{plainest, scattered, one_each, more_gpus, alone},
          {{1, "RanksUseDifferentGpus", find_in_gpus},
           {2, "AllRanksHaveOneId", find_in_id},
           {3, "CommunicatorHasAllRanks", find_in_communicator},
           {4, "ExchangeWaitsForItsLayer", find_in_waiting_for_backward},
           {5, "GradientsAreMeans", find_in_exchange},
           {6, "UpdateWaitsForExchange", find_in_waiting_for_exchange},
           {7, "HostWaitsForTheLoss", find_in_loss},
           {8, "OneProcessGroupsItsCalls", find_in_one_process},
           {0, "AllWorkIsOrdered", find_unordered},
           {0, "WeightsAreOneGpus", find_in_weights},
           {0, "ShowsItsValues", find_no_values},
           {0, "EvidenceIsOfTheProgram", find_forgery}},
          milliseconds_of_iteration};
}

}  // namespace odori::grader
