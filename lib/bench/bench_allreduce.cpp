// How quick ranks average a network's gradients.
//
//   mpirun -np 2 build/bin/bench_allreduce --device cuda --communicator pure_nccl
//
//   pure_nccl, 2 ranks, 60.0 MB: 0.41 ms (median of 9 rounds of 20; 0.40 .. 0.43), bus bandwidth 146.2 GB/s
//
// Bus bandwidth as nccl-tests defines it: bytes / time x 2 (n - 1) / n, what each link has to carry whatever n is.
#include <fmt/core.h>

#include "backend/device_pool.h"
#include "bench/flags.h"
#include "bench/measure.h"
#include "comm/communicator.h"
#include "comm/session.h"
#include "core/program.h"
#include "model/classifier.h"

using namespace odori;

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const bench::Options options =
      bench::parse(argc, argv, bench::Benchmark::allreduce, "Speed of the gradients' mean over all ranks.",
                   {.model = "vgg", .batchsize = 1, .iterations = 20});
  const auto comm = create_communicator(options.communicator);
  DevicePool pool(options.devices);
  Classifier model(create_network(options.model, 10), options.batchsize, 0);
  model.to_device(pool.use(comm->intra_rank()));
  Buffer& gradients = model.memory().gradients;
  std::vector<Range> pieces;
  for (const NamedView& parameter : model.parameters())
    pieces.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
  const auto iterate = [&](int times) {
    for (int i = 0; i < times; ++i) comm->all_reduce_mean(model.device(), gradients, pieces);
    model.device().synchronize();
    comm->barrier();
  };

  iterate(3);
  std::vector<double> milliseconds;
  for (int round = 0; round < options.rounds; ++round)
    milliseconds.push_back(1e3 * bench::seconds_of([&] { iterate(options.iterations); }) / options.iterations);
  const bench::Spread time = bench::spread_of(milliseconds);
  const double n = comm->size(), megabytes = static_cast<double>(gradients.bytes()) / 1e6;
  if (comm->rank() == 0)
    fmt::print(
        "{}, {} ranks{}, {:.1f} MB: {:.3f} ms (median of {} rounds of {}; {:.3f} .. {:.3f}), bus bandwidth {:.1f} "
        "GB/s\n",
        comm->name(), comm->size(), comm->link().empty() ? "" : " over a simulated link of " + comm->link(), megabytes,
        time.median, options.rounds, options.iterations, time.min, time.max, megabytes / time.median * 2 * (n - 1) / n);
  return 0;
} catch (...) {
  return report_failure();
}
