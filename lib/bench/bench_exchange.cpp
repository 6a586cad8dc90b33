// SPDX-License-Identifier: Apache-2.0
// What each way to exchange gradients leaves exposed: how much longer an iteration takes than one that exchanges
// nothing.
//
//   ODORI_NODES=0,1 ODORI_LINK=1gbit,50us mpirun -np 2 build/bin/bench_exchange
//   mpirun -np 2 build/bin/bench_exchange                           without a link: what hiding costs
//
// A round measures all ways in turn, each from an iteration on that has exchanged already, by the slowest rank; what is
// printed is the median over the rounds (least .. greatest). Over a simulated link a model is shown next to it: an
// exchange takes what comm/cost.h says of it, buckets go one after the other, each not before backward has computed it
// (these times are measured, without an exchange), and double buffering has a whole iteration to hide in.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include "bench/allocations.h"
#include "bench/flags.h"
#include "bench/measure.h"
#include "comm/communicator.h"
#include "comm/cost.h"
#include "comm/session.h"
#include "distributed/exchange/buckets.h"
#include "distributed/multi_node_optimizer.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "program/program.h"
#include "report/machine.h"
#include "report/table.h"

using namespace odori;

namespace {

constexpr int bucket_mib = 25;

std::vector<Range> pieces_of(const Classifier& model) {
  std::vector<Range> pieces;
  for (const NamedView& parameter : model.parameters())
    pieces.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
  return pieces;
}

/// A training that exchanges in one way, or (no options) not at all.
class Way {
 public:
  Way(std::string said, const bench::Options& options, const Batch& images, Communicator& comm,
      const std::optional<ExchangeOptions>& exchange)
      : name(std::move(said)),
        pool_(options.devices),
        model(create_network(options.model, 10), options.batchsize, 0),
        optimizer_(std::make_unique<MomentumSGD>(1e-3f)),
        batch_(images) {
    model.to_device(pool_.use(comm.intra_rank()));
    if (exchange) optimizer_ = create_multi_node_optimizer(std::move(optimizer_), comm, *exchange);
    bench::count_allocations();
    optimizer_->setup(model);
    megabytes = static_cast<double>(bench::allocations().kept) / 1e6;
  }
  void iterate(int times) {
    for (int i = 0; i < times; ++i) {
      if (ExchangeStrategy* const exchange = optimizer_->exchange(); exchange && exchange->wants_ready_gradients())
        model.forward_backward(batch_, [&](Range range) { exchange->on_gradient_ready(range); });
      else
        model.forward_backward(batch_);
      optimizer_->update();
    }
  }
  /// One iteration, with a callback for gradients that are ready.
  void iterate(const OnGradientReady& on_gradient_ready) {
    model.forward_backward(batch_, on_gradient_ready);
    optimizer_->update();
  }

  std::string name;
  double megabytes = 0;                 // that its optimizer keeps
  std::vector<double> seconds = {};     // of an iteration, by round
  std::optional<double> model_exposed;  // seconds, by the model

 private:
  DevicePool pool_;

 public:
  Classifier model;

 private:
  std::unique_ptr<Optimizer> optimizer_;
  const Batch& batch_;
};

/// When backward has computed each bucket, and its bytes.
struct BucketTimes {
  std::vector<std::vector<double>> seconds;  // from the iteration's begin, by bucket and round
  std::vector<double> bytes;
  std::vector<double> backward_ends;  // by round
};

double bytes_of(std::span<const Range> pieces) {
  return static_cast<double>(pieces.back().end - pieces.front().begin) * sizeof(float);
}

void measure_buckets(Way& nothing, BucketTimes& times) {
  const std::vector<Range> pieces = pieces_of(nothing.model);
  Buckets buckets(pieces, bucket_mib);
  std::vector<double> final_at;
  const auto begin = std::chrono::steady_clock::now();
  const auto now = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  nothing.iterate([&](Range range) { final_at.resize(final_at.size() + buckets.complete(range).size(), now()); });
  // What is left over is full when backward ends, which tells of its last range.
  times.backward_ends.push_back(final_at.empty() ? now() : final_at.back());
  final_at.resize(buckets.all().size(), times.backward_ends.back());
  times.seconds.resize(final_at.size());
  times.bytes.clear();
  for (std::size_t b = 0; b < final_at.size(); ++b) {
    times.seconds[b].push_back(final_at[b]);
    times.bytes.push_back(bytes_of(buckets.all()[b]));
  }
}

double median(const std::vector<double>& values) { return bench::spread_of(values).median; }

class Bench {
 public:
  Bench(const bench::Options& options, Communicator& comm)
      : options_(options),
        comm_(comm),
        images_(static_cast<std::size_t>(options.batchsize)),
        batch_(images_.batch(options.batchsize)) {
    { const Way what_mpi_and_the_backend_keep_for_later("rehearsal", options, batch_, comm, ExchangeOptions{}); }
    add("nothing", {});
    add("all at once", ExchangeOptions{});
    add("buckets", ExchangeOptions{.bucket_mib = bucket_mib});
    add("double buffering", ExchangeOptions{.double_buffering = true});
    add("all at once, bf16", ExchangeOptions{.dtype = Dtype::bf16});
    add("buckets, bf16", ExchangeOptions{.dtype = Dtype::bf16, .bucket_mib = bucket_mib});
    add("double buffering, bf16", ExchangeOptions{.dtype = Dtype::bf16, .double_buffering = true});
    add("sharded", ExchangeOptions{.sharded = true});
  }

  void measure() {
    for (int round = -1; round < options_.rounds; ++round) {  // the first is a rehearsal
      for (const auto& way : ways_) {
        way->iterate(1);
        const double seconds = slowest([&] { way->iterate(options_.iterations); }) / options_.iterations;
        if (round >= 0) way->seconds.push_back(seconds);
      }
      comm_.barrier();
      if (round >= 0) measure_buckets(*ways_.front(), buckets_);
    }
    if (const char* link = std::getenv("ODORI_LINK")) foresee(cost::link_from(link));
  }

  void print() const {
    std::vector<TableRow> rows;
    const Way &nothing = *ways_.front(), &plain = *ways_[1];
    for (const auto& way : ways_) {
      TableRow row{way->name, fmt::format("{:.1f}", 1e3 * median(way->seconds))};
      const auto exposed = spread(*way, nothing, [](double a, double b) { return 1e3 * (a - b); });
      row.push_back(fmt::format("{:.1f} ({:.1f} .. {:.1f})", exposed.median, exposed.min, exposed.max));
      row.push_back(way->model_exposed ? fmt::format("{:.1f}", 1e3 * *way->model_exposed) : "-");
      row.push_back(way->model_exposed && *way->model_exposed > 0
                        ? fmt::format("{:.2f}", exposed.median / (1e3 * *way->model_exposed))
                        : "-");
      const auto of_plain = spread(*way, plain, [](double a, double b) { return a / b; });
      row.push_back(fmt::format("{:.3f} ({:.3f} .. {:.3f})", of_plain.median, of_plain.min, of_plain.max));
      row.push_back(fmt::format("{:.2f}", way->megabytes));
      row.push_back(fmt::format("{:.3f}", way->megabytes / plain.megabytes));
      rows.push_back(row);
    }
    rows[0][2] = "-";
    fmt::print(
        "{}, batch {} a rank, {} ranks{}, {} rounds of {} iterations in turn. {}, {}\n{}", options_.model,
        options_.batchsize, comm_.size(), comm_.link().empty() ? "" : " over a simulated link of " + comm_.link(),
        options_.rounds, options_.iterations, describe(this_machine()), now(),
        text_table(
            {"exchange", "ms", "exposed: ms", "by the model", "over it", "over all at once", "optimizer: MB", "over"},
            rows));
    fmt::print("Of what is exposed all at once, bf16 leaves {:.2f}.\n", share_of_exposed(*ways_[4]));
  }

 private:
  void add(const char* name, const std::optional<ExchangeOptions>& exchange) {
    ways_.push_back(std::make_unique<Way>(name, options_, batch_, comm_, exchange));
  }

  template <typename Work>
  double slowest(const Work& work) {
    comm_.barrier();
    const std::vector<double> all = comm_.all_gather(bench::seconds_of(work));
    return *std::ranges::max_element(all);
  }

  template <typename Of>
  static bench::Spread spread(const Way& way, const Way& other, Of of) {
    std::vector<double> values;
    for (std::size_t round = 0; round < way.seconds.size(); ++round)
      values.push_back(of(way.seconds[round], other.seconds[round]));
    return bench::spread_of(values);
  }

  double share_of_exposed(const Way& way) const {
    const Way &nothing = *ways_.front(), &plain = *ways_[1];
    std::vector<double> shares;
    for (std::size_t round = 0; round < way.seconds.size(); ++round)
      shares.push_back((way.seconds[round] - nothing.seconds[round]) / (plain.seconds[round] - nothing.seconds[round]));
    return median(shares);
  }

  void foresee(const cost::Link& link) {
    const cost::Cluster cluster{.nodes = comm_.inter_size(),
                                .ranks_per_node = comm_.size() / comm_.inter_size(),
                                .within = {.latency = 0, .bandwidth = 1e300},
                                .between = link};
    const auto exchange = [&](double bytes) { return *cost::all_reduce("flat", cluster, {.bytes = bytes}); };
    double all = 0;
    for (const double bytes : buckets_.bytes) all += bytes;
    const auto of_buckets = [&](double factor) {
      double end = 0;
      for (std::size_t b = 0; b < buckets_.bytes.size(); ++b)
        end = std::max(end, median(buckets_.seconds[b])) + exchange(factor * buckets_.bytes[b]);
      return std::max(0.0, end - median(buckets_.backward_ends));
    };
    const double iteration = median(ways_.front()->seconds);
    ways_[1]->model_exposed = exchange(all);
    ways_[2]->model_exposed = of_buckets(1);
    ways_[3]->model_exposed = std::max(0.0, exchange(all) - iteration);
    ways_[4]->model_exposed = exchange(all / 2);
    ways_[5]->model_exposed = of_buckets(0.5);
    ways_[6]->model_exposed = std::max(0.0, exchange(all / 2) - iteration);
  }

  const bench::Options& options_;
  Communicator& comm_;
  bench::RandomImages images_;
  Batch batch_;
  std::vector<std::unique_ptr<Way>> ways_;
  BucketTimes buckets_;
};

}  // namespace

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const bench::Options options = bench::parse(argc, argv, bench::Benchmark::exchange,
                                              "What each way to exchange gradients leaves exposed of the exchange.",
                                              {.model = "vgg", .batchsize = 32, .iterations = 3, .rounds = 5});
  const auto comm = create_communicator("flat");
  Bench bench(options, *comm);
  bench.measure();
  if (comm->rank() == 0) bench.print();
  return 0;
} catch (...) {
  return report_failure();
}
