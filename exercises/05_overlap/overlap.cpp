// Task 5: hide the exchange of gradients behind the computing, or shrink it.
//
// Goal:    less exposed time: the part of an iteration that is spent on the exchange alone.
// Time:    60 minutes.
// Reading: deck 3 of the slides, hiding the exchange; exercises/05_overlap/support/overlap_support.h.
// Command: ./odori run overlap --ranks 2 --link 1gbit,50us --model mid --batchsize 16
// Output:  for each of four strategies, whether its mean is right on known gradients, and its exposed time.
//          With --strategy overlapped: the table of epochs of a training run with that strategy.
//
// In task 2 every device is idle during the all-reduce. Three remedies. Overlapped: all-reduce the gradients of one
// bucket while backward computes the next. Double-buffered: all-reduce them while the next batch is computed, so each
// update is one iteration late. Half precision: send half the bytes. Use start(), average() and sum_in() alone.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "odori.h"
#include "overlap_support.h"

using namespace odori;

/// Task 2's strategy: after backward, finish() replaces `gradients` by their mean over all ranks. average() waits for
/// the result. start() does not: the program continues, and wait() returns when all started exchanges have ended. If
/// finish() returns true, the weights are then updated with `gradients`.
struct Synchronous : HostStrategy {
  using HostStrategy::HostStrategy;
  bool finish() override {
    average(gradients);
    return true;
  }
};

/// The buckets, in the order of their exchange. All but the last have at least `full` elements.
std::vector<Range> make_buckets(std::span<const Range> parameters, std::size_t full) {
  std::vector<Range> buckets;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // BLANK 1: Backward starts at the last layer, and `parameters` begins with the first one's. Which of them is number
    //          i in the buckets, so that the first bucket can start as early as possible?
    const Range next = PUT_YOUR_CODE;
    // END BLANK
    if (buckets.empty() || buckets.back().size() >= full)
      buckets.push_back(next);
    else
      buckets.back() = {std::min(buckets.back().begin, next.begin), std::max(buckets.back().end, next.end)};
  }
  return buckets;
}

/// All-reduces the gradients of complete buckets while backward computes others.
struct Overlapped : HostStrategy {
  Overlapped(Communicator& between, std::size_t n) : HostStrategy(between), n_buckets(n) {}
  const std::size_t n_buckets;  // approximately
  std::vector<Range> buckets;
  std::size_t started{0};  // buckets started in this iteration
  void prepare(std::span<const Range> parameters) override {
    buckets = make_buckets(parameters, gradients.size() / n_buckets);
  }

  /// Called once per layer: backward has just computed the gradients of `range`. All gradients after it are computed,
  /// too; those before it come next.
  void on_gradient_ready(Range range) override {
    // BLANK 2: Start every bucket whose gradients are all computed by now: each once, in their order, as early as
    //          possible. start(bucket) starts the exchange of the elements from bucket.begin to before bucket.end.
    PUT_YOUR_CODE;
    // END BLANK
  }
  bool finish() override {
    // BLANK 3: Backward is over. What has to happen before the weights are updated, and before the next iteration?
    PUT_YOUR_CODE;
    // END BLANK
    return true;
  }
};

/// Exchanges gradients while the next batch is computed. Backward always writes `gradients`, so a second buffer of the
/// same length is exchanged: `in_flight`, all 0 before the first iteration.
struct DoubleBuffered : HostStrategy {
  using HostStrategy::HostStrategy;
  bool finish() override {
    // BLANK 4: The exchange of `in_flight` started in the last iteration. Put its mean into `gradients`, for the
    //          update, and start the exchange of this iteration's gradients, which lasts until the next finish().
    PUT_YOUR_CODE;
    // END BLANK
    // BLANK 5: Are the weights to be updated in this iteration? `iteration` is 0 in the first one, then 1, 2, ...
    return PUT_YOUR_CODE;
    // END BLANK
  }
};

struct HalfPrecision : HostStrategy {
  using HostStrategy::HostStrategy;
  bool finish() override {
    // BLANK 6: Make `gradients` their mean over all comm.size() ranks. sum_in(Dtype::fp16, gradients) makes them their
    //          sum, sent with 16 bits each; beyond 65504 such a value is infinite.
    PUT_YOUR_CODE;
    // END BLANK
    return true;
  }
};

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int layers = 6, n_buckets = 4, iterations = 20;
  std::string strategy;
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "overlap",
       .about = "Task 5: hide the exchange of gradients while backward computes, or shrink it, and measure the gain.",
       .own = {{"--strategy", "Train with this one: synchronous, overlapped, double-buffered or half-precision",
                OneOf{&strategy, {"synchronous", "overlapped", "double-buffered", "half-precision"}}},
               {"--layers", "Layers of the gradients that each strategy is tested with", &layers, 1, 1000},
               {"--buckets", "About how many buckets the gradients are sent in", &n_buckets, 1, 1000},
               {"--iterations", "Iterations to measure; 0: nothing is measured", &iterations, 0, 1'000'000}}});
  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  Synchronous one(*comm);
  Overlapped two(*comm, static_cast<std::size_t>(n_buckets));
  DoubleBuffered three(*comm);
  HalfPrecision four(*comm);
  const std::vector<NamedStrategy> strategies{
      {"synchronous", one}, {"overlapped", two}, {"double-buffered", three, true}, {"half precision", four}};
  if (strategy.empty()) {
    try_strategies(strategies, layers, args.seed, *comm);
    measure_strategies(strategies, args, iterations, *comm);
  } else {
    train_with_strategy(strategies, strategy, args, *comm);
  }
  return 0;
} catch (...) {
  return report_failure();
}
