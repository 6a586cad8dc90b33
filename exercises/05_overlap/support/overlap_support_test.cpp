// SPDX-License-Identifier: Apache-2.0
// Exchange strategies that a learner writes: what they can communicate, when it arrives, and how they are tried,
// measured and trained with. Runs under mpirun with 1 and 3 ranks.
#include "overlap_support.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "backend/device_pool.h"
#include "distributed/exchange/context.h"
#include "errors/error.h"
#include "files/file.h"
#include "recorded_strategy.h"
#include "synthetic.h"

namespace odori {
namespace {

/// Does in finish() what a test says.
struct Scripted : HostStrategy {
  using HostStrategy::gradients, HostStrategy::in_flight, HostStrategy::iteration, HostStrategy::comm;
  using HostStrategy::HostStrategy;
  using HostStrategy::start, HostStrategy::wait, HostStrategy::average, HostStrategy::sum_in;
  void prepare(std::span<const Range> all) override { parameters = all; }
  void on_gradient_ready(Range range) override { told.push_back(range.begin); }
  bool finish() override { return script(); }

  std::span<const Range> parameters;
  std::vector<std::size_t> told;
  std::function<bool()> script = [] { return true; };
};

class Strategies : public testing::Test {
 protected:
  static constexpr std::size_t size = 64;  // two parameters, and a gap between them
  void set_up() {
    context.reset();
    context = std::make_unique<ExchangeContext>(*comm, device, memory, weights, std::vector<Range>{{0, 20}, {32, 64}});
    recorded.setup(*context);
  }
  /// Backward of one iteration: each rank's gradients are its number + 1.
  bool iterate() {
    std::fill_n(memory.data(), size, own());
    recorded.on_gradient_ready({32, 64});
    recorded.on_gradient_ready({0, 20});
    return recorded.finish();
  }
  float mean() const { return static_cast<float>(comm->size() + 1) / 2; }
  float own() const { return static_cast<float>(comm->rank() + 1); }

  std::unique_ptr<Communicator> comm = create_communicator("flat");
  DevicePool pool{{.request = DeviceRequest::cpu}};
  Device& device = pool.device(0);
  Buffer memory = device.allocate(size), weights = device.allocate(size);
  Scripted exchange{*comm};
  RecordedStrategy recorded{exchange, "scripted"};
  std::unique_ptr<ExchangeContext> context;  // last: its all-reduces end before the buffers go
};

TEST_F(Strategies, TellWhatIsFinalAndWhetherToUpdate) {
  set_up();
  EXPECT_EQ(exchange.parameters.size(), 2u);
  exchange.script = [&] { return exchange.iteration == 1; };
  EXPECT_FALSE(iterate());
  EXPECT_TRUE(iterate());
  EXPECT_EQ(exchange.told, (std::vector<std::size_t>{32, 0, 32, 0}));
  set_up();
  EXPECT_EQ(exchange.iteration, 0);
}

TEST_F(Strategies, ExchangeElements) {
  set_up();
  exchange.script = [&] {
    exchange.start(Range{32, 64});
    exchange.wait();
    EXPECT_EQ(exchange.gradients[32], mean());
    EXPECT_EQ(exchange.gradients[0], own());
    std::ranges::copy(exchange.gradients, exchange.in_flight.begin());
    exchange.start(exchange.in_flight.first(20));
    exchange.start(exchange.gradients.first(20));
    exchange.wait();
    EXPECT_EQ(exchange.in_flight[19], mean());
    EXPECT_EQ(exchange.gradients[19], mean());
    return true;
  };
  iterate();
  exchange.script = [&] {
    exchange.average(exchange.gradients);
    EXPECT_EQ(exchange.gradients[0], mean());
    return true;
  };
  iterate();
}

TEST_F(Strategies, SumInHalfPrecisionSendsHalfTheBytesAndOverflows) {
  set_up();
  const auto sent = [&] {
    const TrafficOfRank& traffic = comm->traffic();
    return traffic.sent_within_node.bytes + traffic.sent_to_other_nodes.bytes;
  };
  const auto sum = [&](Dtype dtype, float number) {
    std::vector<float> numbers(100, number);
    exchange.sum_in(dtype, numbers);
    return numbers.back();
  };
  const auto n = static_cast<float>(comm->size());
  exchange.script = [&] {
    const auto before = sent();
    EXPECT_EQ(sum(Dtype::fp32, 40000), 40000 * n);
    const auto whole = sent() - before;
    EXPECT_EQ(sum(Dtype::fp16, 1.5f), 1.5f * n);
    EXPECT_NEAR(2 * (sent() - before - whole), whole, 4);  // parts of a byte are counted
    EXPECT_EQ(std::isinf(sum(Dtype::fp16, 40000)), n > 1);
    EXPECT_FALSE(std::isinf(sum(Dtype::bf16, 40000)));
    return true;
  };
  iterate();
}

TEST_F(Strategies, RefuseWhatCantBeSent) {
  set_up();
  std::vector<float> elsewhere(size);
  const auto says = [&](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const std::string whole = "doesn't begin and end with a parameter.";
  for (const Range range : {Range{0, 0}, Range{32, 80}, Range{32, 20}, Range{1 << 20, 1 << 21}})
    EXPECT_EQ(says([&] { exchange.start(range); }),
              "start: this range is not a part of the 64 gradients, or is empty.");
  const Range *const first = exchange.parameters.data(), behind = first[2], before = first[-1];
  for (const Range range : {behind, Range{0, behind.end}})
    EXPECT_EQ(says([&] { exchange.start(range); }), "start: parameters[2] doesn't exist. There are 2, counted from 0.");
  for (const Range range : {before, Range{0, before.end}})
    EXPECT_EQ(says([&] { exchange.start(range); }),
              "start: parameters[-1] doesn't exist. There are 2, counted from 0.");
  for (const Range range : {Range{0, 19}, Range{1, 20}})
    EXPECT_EQ(says([&] { exchange.start(range); }),
              fmt::format("start: [{}, {}) of 64 gradients {}", range.begin, range.end, whole));
  EXPECT_NE(says([&] { exchange.start(exchange.in_flight.first(3)); }).find(whole), std::string::npos);
  EXPECT_EQ(says([&] { exchange.start(elsewhere); }),
            "start: these elements are neither in `gradients` nor in `in_flight`: only those can be sent.");
}

TEST_F(Strategies, RefuseViewsOfOtherNumbers) {
  const std::vector<std::function<void()>> changes{[&] { std::swap(exchange.gradients, exchange.in_flight); },
                                                   [&] { exchange.gradients = exchange.in_flight; },
                                                   [&] { exchange.in_flight = exchange.in_flight.first(3); }};
  for (const auto& change : changes) {
    set_up();
    exchange.script = [&] { return change(), true; };
    try {
      iterate();
      ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("finish: `gradients` or `in_flight` shows other numbers"));
    }
  }
  set_up();
  exchange.script = [&] {  // there and back
    std::swap(exchange.gradients, exchange.in_flight);
    return std::swap(exchange.gradients, exchange.in_flight), true;
  };
  EXPECT_TRUE(iterate());
}

/// What rank 0 prints.
std::string printed(const std::function<void()>& work) {
  testing::internal::CaptureStdout();
  work();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

TEST_F(Strategies, AreTriedOnKnownGradients) {
  Scripted right(*comm), late(*comm), wrong(*comm), kept(*comm), early(*comm);
  right.script = [&] { return right.average(right.gradients), true; };
  late.script = [&] {
    late.wait();
    std::ranges::swap_ranges(late.gradients, late.in_flight);
    return late.start(late.in_flight), late.iteration > 0;
  };
  wrong.script = [&] { return wrong.average(wrong.gradients), wrong.iteration != 2; };
  early.script = [&] { return early.start(early.gradients), true; };  // without wait(): the mean has not arrived
  bool is_first = true;                                               // of all networks
  kept.script = [&] {
    kept.wait();
    std::ranges::swap_ranges(kept.gradients, kept.in_flight);
    return kept.start(kept.in_flight), !std::exchange(is_first, false);
  };
  const std::string said = printed([&] {
    try_strategies({{"right", right}, {"late", late, true}, {"wrong", wrong}, {"kept", kept, true}, {"early", early}},
                   5, 0, *comm);
  });
  EXPECT_EQ(said.empty(), comm->rank() != 0);
  if (comm->rank() != 0) return;
  const auto says = [&](const char* line) { return said.find(line) != std::string::npos; };
  EXPECT_TRUE(says("right     right ") && says("late      right ")) << said;
  EXPECT_TRUE(says("wrong     WRONG from iteration 2 on")) << said;
  EXPECT_TRUE(says("kept      WRONG from iteration 0 on")) << "with the second network\n" << said;
  if (comm->size() > 1) {
    EXPECT_TRUE(says("early     WRONG from iteration 0 on")) << said;
  }
  EXPECT_EQ(says("right     WRONG") || says("late      WRONG"), false) << said;
}

TEST_F(Strategies, AreMeasuredInTraining) {
  Scripted one(*comm), nothing(*comm);
  one.script = [&] { return one.average(one.gradients), true; };
  const std::vector<NamedStrategy> strategies{{"one", one}, {"nothing", nothing}};
  Arguments args;
  args.model = "tiny", args.batchsize = 2;
  const auto measure = [&](int iterations) {
    return printed([&] { measure_strategies(strategies, args, iterations, *comm); });
  };
  const std::string said = measure(2);
  EXPECT_EQ(measure(0), "");
  EXPECT_EQ(one.told.size() % 4, 0u);
  EXPECT_EQ(said.empty(), comm->rank() != 0);
  if (comm->rank() != 0) return;
  EXPECT_EQ(said.find("Measuring 2 iterations of each of 2 strategies, 2 images a rank ...\n"), 0u) << said;
  EXPECT_NE(said.find("without a simulated link"), std::string::npos) << said;
  EXPECT_NE(said.find("nothing"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '%'), 2) << said;
}

/// Rank 0's folder, for all ranks.
std::string shared_folder(Communicator& comm) {
  std::array<char, 64> path{};
  if (comm.rank() == 0) {
    std::strcpy(path.data(), "/tmp/odori_overlap_XXXXXX");
    if (!::mkdtemp(path.data())) ADD_FAILURE();
  }
  comm.broadcast(std::as_writable_bytes(std::span(path)));
  return path.data();
}

TEST_F(Strategies, TrainThroughTheOrdinaryTrainer) {
  const std::string folder = shared_folder(*comm);
  if (comm->rank() == 0) synthetic::write_set(folder + "/data", {.train = 90, .test = 30});
  comm->barrier();
  Scripted late(*comm);
  late.script = [&] {
    late.wait();
    std::ranges::swap_ranges(late.gradients, late.in_flight);
    return late.start(late.in_flight), late.iteration > 0;
  };
  Arguments args;
  args.model = "tiny", args.batchsize = 4, args.dataset = folder + "/data";
  const auto train = [&](const std::string& out, int epochs, const std::string& from) {
    args.out = folder + "/" + out, args.epoch = epochs, args.resume.path = from;
    const std::string said = printed([&] { train_with_strategy({{"one late", late, true}}, "one-late", args, *comm); });
    comm->barrier();
    return said;
  };
  const std::string said = train("whole", 2, "");
  EXPECT_EQ(said.find("Throughput: ") != said.npos, comm->rank() == 0) << said;
  EXPECT_THROW(train_with_strategy({{"one late", late, true}}, "another", args, *comm), UsageError);
  train("halves", 1, "");
  train("halves", 2, args.out);
  if (comm->rank() != 0) return;
  for (const char* file : {"model.bin", "optimizer.bin"}) {  // resumed: the same bits
    const auto of = [&](const char* out) { return read_file(folder + "/" + out + "/snapshot_epoch_2/" + file); };
    EXPECT_TRUE(of("whole") == of("halves")) << file;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace odori
