// SPDX-License-Identifier: Apache-2.0
// Parses and checks the flags of the training programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/device_pool.h"
#include "backend/graph.h"
#include "files/resume_from.h"
#include "optim/exchange_options.h"
#include "optim/gradient_rule.h"

namespace odori {

/// A value that must be one of `names`.
struct OneOf {
  std::string* value;
  std::vector<std::string> names;
};

/// A flag of one program, and the variable for its value, which holds the default. `least` and `most`: range of an
/// integer.
struct OwnFlag {
  std::string name, help;  // "--length"
  std::variant<int*, std::string*, OneOf> value;
  int least = 0, most = 1 << 30;
};

/// Describes a program, and the groups of flags that it accepts in addition to the common ones.
struct Program {
  std::string name;              // as in ./odori run NAME; the default output folder is out/NAME
  std::string about;             // first line of --help
  bool trains = true;            // flags of data set, epochs, learning rate, seed, ...
  bool network = true;           // flags of a network of networks.h, batch size and devices
  bool chooses_device = false;   // --device, without `network`
  bool one_training = true;      // false: several runs in turn, without snapshots and event stream
  bool several_devices = false;  // in one process
  bool communicator = false;     // --communicator
  bool exchange = true;          // with `communicator`: flags of the gradient exchange and of rate scaling
  bool optimizer = false;        // --optimizer
  int least_epochs = 1;          // minimum of --epoch; 0: the program is useful without training
  float learnrate = 0.05f;       // default of --learnrate
  std::vector<OwnFlag> own = {};
};

struct Arguments {
  std::string dataset = "auto";  // cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is installed
  int epoch = 4;
  int batchsize = 32;  // images per device and iteration
  float learnrate = 0.05f;
  std::string optimizer = "momentum";  // if Program::optimizer
  int n_gpus = 2;                      // if Program::several_devices: devices of this process, GPUs or not
  std::string communicator;            // default: chosen from the devices
  // ---- If Program::communicator and Program::exchange
  ExchangeOptions exchange;       // --double-buffering --allreduce-dtype --bucket-mib --sharded
  std::optional<int> accumulate;  // batches of a rank per update
  int warmup_epochs = 0;
  bool scale_learnrate = false;  // multiply --learnrate by the number of ranks
  int check_every = 0;           // updates between two checks that ranks have equal parameters; 0: none

  std::string out;  // default: out/NAME of the program
  bool no_snapshot = false;
  int keep = 3;             // snapshots; 0: all
  bool keep_going = false;  // although the loss is not finite
  ResumeFrom resume;        // a snapshot's folder
  std::string model = "vgg";
  int image_size = 32;
  double fraction = 1.0;
  bool augment = false;
  DevicePoolOptions devices;  // --device --threads-per-device --share-devices --precision --workspace-mib
  std::uint64_t seed = 0;
  AlgorithmOptions autotune;                        // --autotune --show-algorithms
  GradientRule gradient_rule = GradientRule::mean;  // sum: --compat chainer
  std::string trace;                                // folder for the event stream
};

/// Throws UsageError for invalid flags, and HelpRequested for --help.
Arguments parse_arguments(int argc, char** argv, const Program& program);

}  // namespace odori
