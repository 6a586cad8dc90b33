// Exchanges of gradients that somebody else writes: what they can let travel, and that it arrives. Runs under mpirun
// with 1 and 3 ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "distributed/multi_node_ways.h"

namespace odori {
namespace {

/// Does in finish() what a test says.
struct Scripted : GradientExchange {
  using GradientExchange::GradientExchange;
  using GradientExchange::gradients, GradientExchange::travelling, GradientExchange::iteration, GradientExchange::comm;
  using GradientExchange::start, GradientExchange::wait, GradientExchange::average, GradientExchange::sum_in;
  void prepare(std::span<const Range> all) override { parameters = all; }
  void are_final(Range range) override { told.push_back(range.begin); }
  bool finish() override { return script(); }

  std::span<const Range> parameters;
  std::vector<std::size_t> told;
  std::function<bool()> script = [] { return true; };
};

class Ways : public testing::Test {
 protected:
  static constexpr std::size_t size = 64;  // two parameters, and a gap between them
  void set_up(GradientExchange::Arrival arrival) { exchange.setup(device, memory, {{0, 20}, {32, 64}}, arrival); }
  /// Backward of one iteration: each rank's gradients are its number + 1.
  bool iterate() {
    return exchange.iterate([&](const FinalGradients& tell) {
      std::fill_n(memory.data(), size, static_cast<float>(comm->rank() + 1));
      tell({32, 64});
      tell({0, 20});
    });
  }
  float mean() const { return static_cast<float>(comm->size() + 1) / 2; }
  float own() const { return static_cast<float>(comm->rank() + 1); }

  std::unique_ptr<Communicator> comm = create_communicator("flat");
  DevicePool pool{{.request = DeviceRequest::cpu}};
  Device& device = pool.device(0);
  Buffer memory = device.allocate(size);
  Scripted exchange{*comm};
};

TEST_F(Ways, TellWhatIsFinalAndWhetherToUpdate) {
  set_up(GradientExchange::Arrival::soon);
  EXPECT_EQ(exchange.parameters.size(), 2u);
  exchange.script = [&] { return exchange.iteration == 1; };
  EXPECT_FALSE(iterate());
  EXPECT_TRUE(iterate());
  EXPECT_EQ(exchange.told, (std::vector<std::size_t>{32, 0, 32, 0}));
  set_up(GradientExchange::Arrival::soon);
  EXPECT_EQ(exchange.iteration, 0);
}

TEST_F(Ways, LetNumbersTravel) {
  for (const auto arrival : {GradientExchange::Arrival::soon, GradientExchange::Arrival::when_waited}) {
    set_up(arrival);
    exchange.script = [&] {
      exchange.start(Range{32, 64});
      exchange.wait();
      EXPECT_EQ(exchange.gradients[32], mean());
      EXPECT_EQ(exchange.gradients[0], own());
      std::ranges::copy(exchange.gradients, exchange.travelling.begin());
      exchange.start(exchange.travelling.first(20));
      exchange.start(exchange.gradients.first(20));
      exchange.wait();
      EXPECT_EQ(exchange.travelling[19], mean());
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
}

TEST_F(Ways, ArriveWhenTheyAreWaitedForWhereThatIsAskedFor) {
  set_up(GradientExchange::Arrival::when_waited);
  exchange.script = [&] {
    exchange.start(exchange.gradients);
    comm->barrier();
    EXPECT_EQ(exchange.gradients[0], own());
    exchange.wait();
    EXPECT_EQ(exchange.gradients[0], mean());
    exchange.start(exchange.gradients);  // never waited for: the next set-up forgets it
    return true;
  };
  iterate();
  set_up(GradientExchange::Arrival::when_waited);
  exchange.script = [&] {
    exchange.wait();
    EXPECT_EQ(exchange.gradients[0], own());
    return true;
  };
  iterate();
}

TEST_F(Ways, SumInHalfPrecisionSendsHalfTheBytesAndOverflows) {
  set_up(GradientExchange::Arrival::soon);
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

TEST_F(Ways, RefuseWhatCantTravel) {
  set_up(GradientExchange::Arrival::soon);
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
  EXPECT_NE(says([&] { exchange.start(exchange.travelling.first(3)); }).find(whole), std::string::npos);
  EXPECT_EQ(says([&] { exchange.start(elsewhere); }),
            "start: these numbers are neither in `gradients` nor in `travelling`: only those can travel.");
  Scripted unprepared(*comm);
  EXPECT_NE(says([&] { unprepared.iterate([](const FinalGradients&) {}); }).find("setup()"), std::string::npos);
}

TEST_F(Ways, RefuseViewsOfOtherNumbers) {
  const std::vector<std::function<void()>> changes{[&] { std::swap(exchange.gradients, exchange.travelling); },
                                                   [&] { exchange.gradients = exchange.travelling; },
                                                   [&] { exchange.travelling = exchange.travelling.first(3); }};
  for (const auto& change : changes) {
    set_up(GradientExchange::Arrival::soon);
    exchange.script = [&] { return change(), true; };
    try {
      iterate();
      ADD_FAILURE() << "nothing was said";
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("finish: `gradients` or `travelling` shows other numbers"));
    }
  }
  set_up(GradientExchange::Arrival::soon);
  exchange.script = [&] {  // there and back
    std::swap(exchange.gradients, exchange.travelling);
    return std::swap(exchange.gradients, exchange.travelling), true;
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

TEST_F(Ways, AreTriedOnKnownGradients) {
  Scripted right(*comm), late(*comm), wrong(*comm), kept(*comm);
  right.script = [&] { return right.average(right.gradients), true; };
  late.script = [&] {
    late.wait();
    std::ranges::swap_ranges(late.gradients, late.travelling);
    return late.start(late.travelling), late.iteration > 0;
  };
  wrong.script = [&] { return wrong.average(wrong.gradients), wrong.iteration != 2; };
  bool is_first = true;  // of all networks
  kept.script = [&] {
    kept.wait();
    std::ranges::swap_ranges(kept.gradients, kept.travelling);
    return kept.start(kept.travelling), !std::exchange(is_first, false);
  };
  const std::string said = printed([&] {
    try_ways(*comm, {{"right", right}, {"late", late, true}, {"wrong", wrong}, {"kept", kept, true}}, 5);
  });
  EXPECT_EQ(said.empty(), comm->rank() != 0);
  if (comm->rank() != 0) return;
  const auto says = [&](const char* line) { return said.find(line) != std::string::npos; };
  EXPECT_TRUE(says("right     right ") && says("late      right ")) << said;
  EXPECT_TRUE(says("wrong     WRONG from iteration 2 on")) << said;
  EXPECT_TRUE(says("kept      WRONG from iteration 0 on")) << "with the second network\n" << said;
  EXPECT_EQ(says("right     WRONG") || says("late      WRONG"), false) << said;
}

TEST_F(Ways, AreMeasuredInTraining) {
  Scripted one(*comm), nothing(*comm);
  one.script = [&] { return one.average(one.gradients), true; };
  const std::vector<ExchangeWay> ways{{"one", one}, {"nothing", nothing}};
  const auto measure = [&](int iterations) {
    return printed([&] { measure_ways(*comm, ways, create_network("tiny", 10), 2, iterations, {}); });
  };
  const std::string said = measure(2);
  EXPECT_EQ(measure(0), "");
  EXPECT_EQ(one.told.size() % 4, 0u);
  EXPECT_EQ(said.empty(), comm->rank() != 0);
  if (comm->rank() != 0) return;
  EXPECT_EQ(said.find("Measuring 2 iterations of each of 2 ways, 2 images a rank ...\n"), 0u) << said;
  EXPECT_NE(said.find("without a simulated link"), std::string::npos) << said;
  EXPECT_NE(said.find("nothing"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '%'), 2) << said;
}

}  // namespace
}  // namespace odori
