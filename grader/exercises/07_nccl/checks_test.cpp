// SPDX-License-Identifier: Apache-2.0
// The checks of task 7, on operation logs put together here: what each misconception makes of a right iteration.
#include <array>

#include "backend/emulated/operation_log.h"
#include "fabricated.h"
#include "files/json.h"
#include "nccl_cases.h"
#include "nccl_timeline.h"

namespace odori::grader::test::of_nccl {
namespace {

using emulator::LogEntry, emulator::MemoryRange, emulator::OperationKind;

constexpr int host = -1, compute = 1, communication = 2, reading = 3;
constexpr int layers = 4;

MemoryRange memory(int begin, int bytes = 40) {
  MemoryRange range;
  range.begin = static_cast<std::uintptr_t>(begin), range.end = static_cast<std::uintptr_t>(begin + bytes);
  return range;
}
MemoryRange gradients(int layer) { return memory(1000 + 40 * layer); }
const MemoryRange all_gradients = memory(1000, 160), weights = memory(2000), loss = memory(3000, 4),
                  host_loss = memory(4000, 4);

/// Writes a log as the recorder does: an operation follows the last one of its stream, and of the host.
class Log {
 public:
  explicit Log(int ranks) : ranks_(ranks) {}

  int add(int stream, LogEntry entry, int after = -1) {
    entry.id = static_cast<int>(entries.size());
    entry.gpu = stream == host ? -1 : 0, entry.stream = stream;
    entry.position = n_on_[stream + 1]++;
    std::erase(entry.after, -1);
    for (const int earlier : {last_[stream + 1], last_[host + 1], after})
      if (earlier >= 0 && std::ranges::find(entry.after, earlier) == entry.after.end()) entry.after.push_back(earlier);
    last_[stream + 1] = entry.id;
    entries.push_back(std::move(entry));
    return entries.back().id;
  }
  void kernel(int stream, const std::string& name, std::vector<MemoryRange> reads, std::vector<MemoryRange> writes,
              double seconds = 1) {
    add(stream, {.name = name, .reads = std::move(reads), .writes = std::move(writes), .seconds = seconds});
  }
  int record(int stream) { return add(stream, {.kind = OperationKind::event_record, .name = "cudaEventRecord"}); }
  void wait(int stream, int event) {
    add(stream, {.kind = OperationKind::event_wait, .name = "cudaStreamWaitEvent", .awaited = event}, event);
  }
  void order(int earlier, int later) { wait(later, record(earlier)); }
  void host_wait(const char* call, std::vector<int> after) {
    add(host, {.kind = OperationKind::host_wait, .name = call, .after = std::move(after)});
  }
  void wait_for_all(const char* call) { host_wait(call, {last_[compute + 1], last_[communication + 1]}); }
  void all_reduce(int stream, MemoryRange range) {
    add(stream, {.kind = OperationKind::collective,
                 .name = "ncclAllReduce",
                 .reads = {range},
                 .writes = {range},
                 .bytes = range.end - range.begin,
                 .collective = emulator::CollectiveId{"c", ++collectives_, 0, ranks_}});
  }
  void copy_loss(int stream) {
    add(stream, {.kind = OperationKind::copy, .name = "cudaMemcpyAsync", .reads = {loss}, .writes = {host_loss}});
  }

  std::vector<LogEntry> entries;
  int forward_done = -1;

 private:
  int ranks_, collectives_ = 0;
  std::array<int, 5> last_{-1, -1, -1, -1, -1}, n_on_{};
};

/// The blanks 4 to 8, right ones unless a test replaces them.
struct Answer {
  std::function<void(Log&, int layer)> backward = [](Log& log, int) { log.order(compute, communication); };
  std::function<void(Log&, int layer)> exchange = [](Log& log, int layer) {
    log.all_reduce(communication, gradients(layer));
  };
  std::function<void(Log&)> update = [](Log& log) { log.order(communication, compute); };
  std::function<void(Log&)> read = [](Log& log) {
    log.wait(reading, log.forward_done);
    log.copy_loss(reading);
    log.host_wait("cudaEventSynchronize", {log.record(reading)});
  };
  std::function<void(Log&)> one_process = [](Log& log) {
    log.all_reduce(communication, all_gradients);
    log.order(communication, compute);
  };
};

std::vector<LogEntry> training_log(const Answer& answer, int ranks, int iterations) {
  Log log(ranks);
  for (int i = 0; i < iterations; ++i) {
    log.kernel(compute, "forward 0", {weights}, {});
    log.kernel(compute, "loss", {}, {loss});
    log.forward_done = log.record(compute);
    for (int layer = layers - 1; layer >= 0; --layer) {
      log.kernel(compute, "backward " + std::to_string(layer), {weights}, {gradients(layer)}, 1e-3);
      answer.backward(log, layer);
      answer.exchange(log, layer);
    }
    answer.update(log);
    log.kernel(compute, "update", {all_gradients}, {weights});
    answer.read(log);
    log.add(host, {.kind = OperationKind::host_access, .name = "report_loss()", .reads = {host_loss}});
  }
  return log.entries;
}

std::vector<LogEntry> one_process_log(const Answer& answer) {
  Log log(1);
  log.kernel(compute, "backward 0", {}, {all_gradients});
  log.order(compute, communication);
  answer.one_process(log);
  log.kernel(compute, "update", {all_gradients}, {weights});
  return log.entries;
}

Evidence run_of(const Answer& answer, const RunPlan& plan) {
  Evidence evidence = without_training(plan);
  const int iterations = std::stoi(plan.flags.back());
  const bool one_each = parse_json(plan.test_cases).at("one_each");
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
    RankSeen& seen = evidence.ranks[rank];
    const auto local =
        std::count(plan.nodes.begin(), plan.nodes.begin() + static_cast<std::ptrdiff_t>(rank), plan.nodes[rank]);
    seen.events = {{nccl_facts::gpu, {one_each ? 0 : local, local, 4}}, {nccl_facts::broadcast, {128, 0}}};
    const auto show = [&](nccl_facts::Phase phase, const std::vector<LogEntry>& log) {
      seen.events.push_back({nccl_facts::log, {phase}});
      for (const LogEntry& entry : log) seen.events.push_back({emulator::to_json(entry), {}});
    };
    show(nccl_facts::training, training_log(answer, plan.ranks(), iterations));
    const auto losses = static_cast<std::size_t>(iterations);
    seen.values = {{1, 2, 3}, std::vector<float>(losses, 2.5f)};
    if (rank > 0) continue;
    show(nccl_facts::one_process_phase, one_process_log(answer));
    seen.values.insert(seen.values.end(),
                       {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, std::vector<float>(losses * evidence.ranks.size(), 2.5f)});
    seen.values.insert(seen.values.end(), {{1, 2, 1, 2}, {1, 2}});
  }
  return evidence;
}

std::string nccl(int blank, const Answer& answer, const std::function<void(RankSeen&, int rank)>& change = {}) {
  return verdict_on(
      "nccl", blank,
      [&](Evidence& evidence, const RunPlan&) {
        for (std::size_t rank = 0; change && rank < evidence.ranks.size(); ++rank)
          change(evidence.ranks[rank], static_cast<int>(rank));
      },
      [&](const RunPlan& plan) { return run_of(answer, plan); });
}
/// The library stopped the run.
std::string refused(int blank, const char* name, const std::function<void(RankSeen&, int rank)>& change = {}) {
  return verdict_on(
      "nccl", blank,
      [&](Evidence& evidence, const RunPlan&) {
        evidence.ending = Ending::failed;
        for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank) {
          RankSeen& seen = evidence.ranks[rank];
          seen.values.clear();
          if (change) change(seen, static_cast<int>(rank));
          std::erase_if(seen.events, [](const auto& e) { return e.what == nccl_facts::log || e.what[0] == '{'; });
          seen.error = "A sentence of the library's.";
          seen.events.push_back({name, {}});
        }
      },
      [&](const RunPlan& plan) { return run_of({}, plan); });
}
void forget_broadcasts(RankSeen& seen, int) {
  std::erase_if(seen.events, [](const auto& event) { return event.what == nccl_facts::broadcast; });
}
void broadcast_a_pointer(RankSeen& seen, int) { seen.events[1].about[0] = 8; }

TEST(NcclChecks, PassARightRun) {
  for (int blank = 0; blank <= 8; ++blank) EXPECT_EQ(nccl(blank, {}), "right") << blank;
}

TEST(NcclChecks, Gpus) {
  EXPECT_EQ(refused(1, nccl_facts::no_such_gpu), "gpu_of_other_node");
  EXPECT_EQ(nccl(1, {}, [](RankSeen& seen, int) { seen.events[0].about[1] = 0; }), "gpu_shared");
}

TEST(NcclChecks, Communicators) {
  EXPECT_EQ(refused(2, nccl_facts::ranks_missing, forget_broadcasts), "id_of_its_own");
  EXPECT_EQ(refused(2, nccl_facts::ranks_missing, broadcast_a_pointer), "id_cut");
  EXPECT_EQ(refused(2, nccl_facts::ranks_missing), "id_differs");
  EXPECT_EQ(refused(2, nccl_facts::init_refused), "id_differs");
  EXPECT_EQ(refused(2, nccl_facts::ranks_missing,
                    [](RankSeen& seen, int rank) {
                      if (rank > 0) forget_broadcasts(seen, rank);
                    }),
            "broadcast_on_some_ranks");
  EXPECT_EQ(refused(3, nccl_facts::init_refused), "init_refused");
  EXPECT_EQ(refused(3, nccl_facts::no_communicator), "no_communicator");
  EXPECT_EQ(refused(3, nccl_facts::ranks_missing), "ranks_missing");
  Answer of_two;
  of_two.exchange = [](Log& log, int layer) {
    log.all_reduce(communication, gradients(layer));
    log.entries.back().collective->size = 2;
  };
  EXPECT_EQ(nccl(3, of_two), "communicator_size");  // on four ranks
}

TEST(NcclChecks, BackwardBeforeItsExchange) {
  const auto says = [](auto blank) { return nccl(4, {.backward = blank}); };
  EXPECT_EQ(says([](Log&, int) {}), "exchange_before_backward");
  EXPECT_EQ(says([](Log& log, int) { log.order(communication, compute); }), "exchange_before_backward");
  EXPECT_EQ(says([](Log& log, int) { log.wait(communication, -1); }), "event_not_recorded");
  EXPECT_EQ(says([](Log& log, int) { log.wait(communication, log.forward_done); }), "event_too_early");
  EXPECT_EQ(says([](Log& log, int) { log.wait_for_all("cudaDeviceSynchronize"); }), "host_waits_in_backward");
  EXPECT_EQ(says([](Log& log, int) {
              log.order(communication, compute);
              log.order(compute, communication);
            }),
            "backward_waits_for_exchange");
}

TEST(NcclChecks, Exchange) {
  const auto says = [](auto blank) { return nccl(5, {.exchange = blank}); };
  EXPECT_EQ(says([](Log&, int) {}), "no_exchange");
  EXPECT_EQ(says([](Log& log, int layer) {
              MemoryRange half = gradients(layer);
              half.end -= 20;
              log.all_reduce(communication, half);
            }),
            "length_wrong");
  EXPECT_EQ(says([](Log& log, int layer) { log.all_reduce(compute, gradients(layer)); }),
            "backward_waits_for_exchange");
  EXPECT_EQ(says([](Log& log, int layer) { log.all_reduce(reading, gradients(layer)); }), "exchange_on_reading");
  EXPECT_EQ(says([](Log& log, int layer) {
              for (int i = layers - 1; layer == 0 && i >= 0; --i) log.all_reduce(communication, gradients(i));
            }),
            "exchange_waits_for_backward");
  EXPECT_EQ(says([](Log& log, int layer) {
              log.all_reduce(communication, gradients(layer));
              log.kernel(reading, "scale " + std::to_string(layer), {}, {gradients(layer)});
            }),
            "scaled_in_any_order");
  EXPECT_EQ(refused(5, nccl_facts::all_reduce_refused), "all_reduce_refused");
  const auto weights_are = [](std::vector<float> values) {
    return nccl(5, {}, [values](RankSeen& seen, int) { seen.values[nccl_facts::weights] = values; });
  };
  EXPECT_EQ(weights_are({4, 5, 6}), "sum_not_mean");
  EXPECT_EQ(weights_are({7, 8, 9}), "scaled_twice");
  EXPECT_EQ(weights_are({1, 2, NAN}), "weights_wrong");
}

TEST(NcclChecks, Update) {
  const auto says = [](auto blank) { return nccl(6, {.update = blank}); };
  EXPECT_EQ(says([](Log&) {}), "update_before_exchange");
  EXPECT_EQ(says([](Log& log) { log.order(compute, communication); }), "update_before_exchange");
  EXPECT_EQ(says([](Log& log) { log.wait(compute, -1); }), "event_not_recorded");
  EXPECT_EQ(says([](Log& log) { log.wait_for_all("cudaStreamSynchronize"); }), "host_waits_for_exchange");
}

TEST(NcclChecks, Loss) {
  const auto says = [](auto blank) { return nccl(7, {.read = blank}); };
  EXPECT_EQ(says([](Log& log) {
              log.wait(reading, log.forward_done);
              log.copy_loss(reading);
            }),
            "host_reads_too_early");
  EXPECT_EQ(says([](Log& log) {
              log.copy_loss(reading);
              log.host_wait("cudaEventSynchronize", {log.record(reading)});
            }),
            "loss_copied_too_early");
  EXPECT_EQ(says([](Log& log) {
              log.copy_loss(compute);
              log.wait_for_all("cudaStreamSynchronize");
            }),
            "host_waits_for_all");
  EXPECT_EQ(says([](Log& log) {
              log.wait(reading, log.forward_done);
              log.copy_loss(reading);
              log.host_wait("cudaMemcpyAsync to pageable memory", {log.record(reading)});
            }),
            "loss_pageable");
  EXPECT_EQ(says([](Log& log) { log.host_wait("cudaEventSynchronize", {log.forward_done}); }), "loss_not_copied");
  EXPECT_EQ(nccl(7, {}, [](RankSeen& seen, int) { seen.values[nccl_facts::losses].back() = 9; }), "loss_wrong");
}

TEST(NcclChecks, OneProcess) {
  const auto says = [](auto blank) { return nccl(8, {.one_process = blank}); };
  EXPECT_EQ(says([](Log& log) { log.all_reduce(communication, all_gradients); }), "one_process_update_too_early");
  EXPECT_EQ(says([](Log& log) {
              const int event = log.record(communication);
              log.all_reduce(communication, all_gradients);
              log.wait(compute, event);
            }),
            "recorded_in_group");
  EXPECT_EQ(says([](Log& log) {
              log.order(communication, compute);
              log.all_reduce(communication, all_gradients);
            }),
            "recorded_in_group");
  EXPECT_EQ(says([](Log& log) {
              log.all_reduce(reading, all_gradients);
              log.order(reading, compute);
            }),
            "one_process_stream");
  EXPECT_EQ(says([](Log& log) {
              log.all_reduce(communication, all_gradients);
              log.wait_for_all("cudaDeviceSynchronize");
            }),
            "one_process_host_waits");
  EXPECT_EQ(refused(8, nccl_facts::no_group), "no_group");
  EXPECT_EQ(refused(8, nccl_facts::all_reduce_refused), "one_process_refused");
  EXPECT_EQ(nccl(8, {},
                 [](RankSeen& seen, int rank) {
                   if (rank == 0) seen.values[nccl_facts::of_one_process].back() = 9;
                 }),
            "one_process_wrong");
}

TEST(NcclChecks, OfAnyBlank) {
  EXPECT_EQ(refused(0, nccl_facts::exchange_failed), "exchange_failed");
  EXPECT_EQ(nccl(0, {.update =
                         [](Log& log) {
                           log.kernel(reading, "something", {}, {weights});
                           log.order(communication, compute);
                         }}),
            "unordered");
}

/// Four layers of 1 ms; the all-reduce of 40 bytes takes 40 bytes / bandwidth.
TEST(NcclTimeline, OneEventAfterBackwardTakesLonger) {
  const auto log = training_log({}, 2, 2);
  const auto one_event = nccl_timeline::with_one_event(log);
  ASSERT_EQ(one_event.size(), log.size());
  const double exchange = 40 / nccl_times::all_reduce_bytes;
  EXPECT_NEAR(nccl_timeline::seconds_of_iteration(one_event) - nccl_timeline::seconds_of_iteration(log), 3 * exchange,
              1e-9);
  EXPECT_TRUE(emulator::OperationGraph(one_event).conflicts().empty());
}

TEST(NcclExam, ShowsMilliseconds) {
  Fabricated runs([](Evidence&, const RunPlan&) {}, [](const RunPlan& plan) { return run_of({}, plan); });
  const ShownFigure shown = exam_of(task_named("nccl")).shows(runs);
  ASSERT_EQ(shown.figure.bars.size(), 3u);
  const auto& values = shown.figure.curves.at(0).values;
  EXPECT_GT(values[0], values[1]);
  EXPECT_GT(values[1], values[2]);
  for (const char* language : {"en", "ja"}) {
    const Messages messages(ODORI_FOLDER, language);
    std::vector<std::string> keys = shown.figure.bars;
    for (const std::string& key : {shown.figure.title, shown.figure.text, shown.figure.x_name, shown.figure.y_name})
      keys.push_back(key);
    for (const std::string& key : keys) EXPECT_NE(messages.text(key, shown.values), key);
  }
}

}  // namespace
}  // namespace odori::grader::test::of_nccl
