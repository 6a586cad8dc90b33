// SPDX-License-Identifier: Apache-2.0
// How quick ranks average a network's gradients.
//
//   mpirun -np 2 build/bin/bench_allreduce --device cuda --communicator pure_nccl
//   mpirun -np 2 build/bin/bench_allreduce --device cpu --communicator flat,ring --compare-mpi --iterations 3
//
//   pure_nccl, 2 ranks, 60.0 MB: 0.41 ms (median of 9 rounds of 20; 0.40 .. 0.43), bus bandwidth 146.2 GB/s
//
// Bus bandwidth as nccl-tests defines it: bytes / time x 2 (n - 1) / n, what each link has to carry whatever n is.
// Beside MPI: what MPI_Allreduce itself takes for the same numbers, in slices of several sizes, and each communicator's
// ratio to the quickest of these. A round measures all of them, in turn.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "backend/device_pool.h"
#include "bench/flags.h"
#include "bench/measure.h"
#include "comm/communicator.h"
#include "comm/session.h"
#include "errors/error.h"
#include "errors/text.h"
#include "model/classifier.h"
#include "program/program.h"

using namespace odori;

namespace {

/// One way to add the gradients up, and what was seen of it.
struct Way {
  std::string name;
  std::function<void()> run;
  std::vector<double> milliseconds = {};
};

/// The sum alone, of host memory, without what a communicator does around it.
void all_reduce_bare(std::span<float> numbers, std::size_t slice) {
  for (std::size_t begin = 0; begin < numbers.size(); begin += slice) {
    const std::span<float> part = numbers.subspan(begin, std::min(slice, numbers.size() - begin));
    MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
}

std::vector<Way> bare_ways(Buffer& gradients) {
  std::vector<Way> ways;
  for (const std::size_t kib : {512, 1024, 2048, 4096, 8192, 0}) {
    const std::size_t slice = kib ? kib * 1024 / sizeof(float) : gradients.size();
    const std::string size = kib ? fmt::format("slices of {} KiB", kib) : "one call";
    ways.push_back({fmt::format("MPI_Allreduce itself, {}", size), [&gradients, slice] {
                      all_reduce_bare({gradients.data(), gradients.size()}, slice);
                    }});
  }
  return ways;
}

void print_ratio(const Way& way, const Way& bare) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < way.milliseconds.size(); ++round)
    ratios.push_back(way.milliseconds[round] / bare.milliseconds[round]);
  const bench::Spread ratio = bench::spread_of(ratios);
  fmt::print("{} over {}: {:.2f} (median of {} rounds in turn; {:.2f} .. {:.2f})\n", way.name, bare.name, ratio.median,
             ratios.size(), ratio.min, ratio.max);
}

}  // namespace

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const bench::Options options =
      bench::parse(argc, argv, bench::Benchmark::allreduce, "Speed of the gradients' mean over all ranks.",
                   {.model = "vgg", .batchsize = 1, .iterations = 20});
  std::vector<std::unique_ptr<Communicator>> comms;
  for (const std::string& name : split(options.communicator, ',')) comms.push_back(create_communicator(name));
  Communicator& all = *comms.front();
  DevicePool pool(options.devices);
  Classifier model(create_network(options.model, 10), options.batchsize, 0);
  model.to_device(pool.use(all.intra_rank()));
  Device& device = model.device();
  Buffer& gradients = model.memory().gradients;
  require(!options.compare_mpi || (device.kind() == DeviceKind::cpu && all.link().empty()),
          "--compare-mpi is for host memory, and for no simulated link: give --device cpu, and unset ODORI_LINK.");
  std::vector<Range> pieces;
  for (const NamedView& parameter : model.parameters())
    pieces.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});

  std::vector<Way> ways;
  for (const auto& comm : comms)
    ways.push_back({comm->name(), [&, one = comm.get()] { one->all_reduce_mean(device, gradients, pieces); }});
  std::vector<Way> bare;
  if (options.compare_mpi) bare = bare_ways(gradients);
  const auto iterate = [&](const Way& way, int times) {
    for (int i = 0; i < times; ++i) way.run();
    device.synchronize();
    all.barrier();
  };
  for (int round = -1; round < options.rounds; ++round)  // the first is a rehearsal
    for (std::vector<Way>* some : {&ways, &bare})
      for (Way& way : *some) {
        all.barrier();
        const double seconds = bench::seconds_of([&] { iterate(way, round < 0 ? 3 : options.iterations); });
        if (round >= 0) way.milliseconds.push_back(1e3 * seconds / options.iterations);
      }
  if (all.rank() != 0) return 0;

  const double n = all.size(), megabytes = static_cast<double>(gradients.bytes()) / 1e6;
  for (const std::vector<Way>* some : {&ways, &bare})
    for (const Way& way : *some) {
      const bench::Spread time = bench::spread_of(way.milliseconds);
      fmt::print(
          "{}, {} ranks{}, {:.1f} MB: {:.3f} ms (median of {} rounds of {}; {:.3f} .. {:.3f}), bus bandwidth {:.1f} "
          "GB/s\n",
          way.name, all.size(), all.link().empty() ? "" : " over a simulated link of " + all.link(), megabytes,
          time.median, options.rounds, options.iterations, time.min, time.max,
          megabytes / time.median * 2 * (n - 1) / n);
    }
  if (bare.empty()) return 0;
  const auto median = [](const Way& way) { return bench::spread_of(way.milliseconds).median; };
  const Way& quickest = *std::ranges::min_element(bare, {}, median);
  for (const Way& way : ways) print_ratio(way, quickest);
  return 0;
} catch (...) {
  return report_failure();
}
