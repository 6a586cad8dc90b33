// The flags of the benchmarks.
#pragma once

#include <string>

namespace odori::bench {

struct Options {
  std::string model;   // empty: the benchmark's own choice
  int batchsize = 0;   // pictures a device; 0: the benchmark's own choice
  int iterations = 0;  // a round; 0: the benchmark's own choice
  int threads = 1;     // a device
  int rounds = 9;
  bool autotune = false;
  std::string rank_of;  // bench_scaling starts itself with this under mpirun: the communicator
};

/// What isn't given stays as it is in `options`. Throws UsageError and HelpRequested.
Options parse(int argc, char** argv, const std::string& about, Options options);

}  // namespace odori::bench
