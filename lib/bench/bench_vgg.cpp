// How quick one device trains, how much memory it takes, and what an iteration allocates.
//
//   build/bin/bench_vgg --batchsize 64 --threads 1
//
//   vgg, batch 64, 1 thread: 121.0 images/s (median of 9 rounds of 4; 119.2 .. 121.9), peak memory 504 MB, an iteration
//   allocates 3994912 bytes in 2761 calls, the largest 623040, and keeps 0
#include <fmt/core.h>

#include "backend/device_pool.h"
#include "bench/allocations.h"
#include "bench/flags.h"
#include "bench/measure.h"
#include "core/program.h"
#include "model/classifier.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"

using namespace odori;

int main(int argc, char** argv) try {
  const bench::Options options =
      bench::parse(argc, argv, "Training speed of one CPU device, its memory and its allocations.",
                   {.model = "vgg", .batchsize = 64, .iterations = 4});
  DevicePool pool({.request = DeviceRequest::cpu, .threads_per_device = options.threads});
  const bench::RandomPictures pictures(static_cast<std::size_t>(options.batchsize));
  const Batch batch = pictures.batch(options.batchsize);
  Classifier model(create_network(options.model, 10), options.batchsize, 0);
  model.to_device(pool.use(0), {.measure = options.autotune});
  MomentumSGD optimizer(0.05f);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
  const auto iterate = [&](int times) {
    for (int i = 0; i < times; ++i) {
      model.forward_backward(batch);
      optimizer.update();
    }
    model.device().synchronize();
  };

  iterate(2);  // compiles kernels
  bench::count_allocations();
  iterate(1);
  const bench::Allocations allocated = bench::allocations();
  std::vector<double> rates;
  for (int round = 0; round < options.rounds; ++round)
    rates.push_back(options.batchsize * options.iterations / bench::seconds_of([&] { iterate(options.iterations); }));
  const bench::Spread rate = bench::spread_of(rates);
  fmt::print(
      "{}, batch {}, {} thread{}: {:.1f} images/s (median of {} rounds of {}; {:.1f} .. {:.1f}), peak memory {:.0f} "
      "MB, "
      "an iteration allocates {} bytes in {} calls, the largest {}, and keeps {}\n",
      options.model, options.batchsize, options.threads, options.threads == 1 ? "" : "s", rate.median, options.rounds,
      options.iterations, rate.min, rate.max, bench::peak_memory_mb(), allocated.bytes, allocated.calls,
      allocated.largest, allocated.kept);
  return 0;
} catch (...) {
  return report_failure();
}
