// SPDX-License-Identifier: Apache-2.0
// The flags of the training programs: parsed by one compiled call, checked there.
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

/// A text that is one of these.
struct OneOf {
  std::string* value;
  std::vector<std::string> names;
};

/// A flag of one program alone, and the variable that its value goes to; its earlier value is the default. An integer
/// is from `least` to `most`.
struct OwnFlag {
  std::string name, help;  // "--length"
  std::variant<int*, std::string*, OneOf> value;
  int least = 0, most = 1 << 30;
};

/// A program's description, and the groups of flags that it reads in addition to those of all programs. No program
/// takes a flag that it doesn't read.
struct Program {
  std::string name;              // ./odori run NAME; results go to out/NAME
  std::string about;             // what --help begins with
  bool trains = true;            // on a data set, for some epochs
  bool network = true;           // one of networks.h, on devices; else it has its own, and takes no flags for those
  bool chooses_device = false;   // takes --device all the same
  bool one_training = true;      // else several in turn, without snapshots and event stream, whatever becomes of them
  bool several_devices = false;  // of one process
  bool communicator = false;     // by name
  bool exchange = true;          // with a communicator: flags of the gradient exchange and of several ranks' rate
  bool optimizer = false;        // by name
  int least_epochs = 1;          // 0: it has something to do without training
  float learnrate = 0.05f;       // of --learnrate unless given
  std::vector<OwnFlag> own = {};
};

struct Arguments {
  std::string dataset = "auto";  // cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is there
  int epoch = 4;
  int batchsize = 32;  // images a device and iteration
  float learnrate = 0.05f;
  std::string optimizer = "momentum";  // of programs with an optimizer by name
  int n_gpus = 2;                      // of several_devices: devices of this process, GPUs or not
  std::string communicator;            // filled in from the devices if not given
  // ---- Of programs with a communicator by name and flags of the exchange
  ExchangeOptions exchange;       // --double-buffering --allreduce-dtype --bucket-mib --sharded
  std::optional<int> accumulate;  // batches of a rank that make an update
  int warmup_epochs = 0;
  bool scale_learnrate = false;  // --learnrate times the number of ranks
  int check_every = 0;           // updates between two comparisons of the ranks' parameters; 0: none

  std::string out;  // out/single_gpu and so on if not given
  bool no_snapshot = false;
  int keep = 3;             // snapshots; 0: all
  bool keep_going = false;  // also when the loss is no finite number
  ResumeFrom resume;        // a snapshot's folder
  std::string model = "vgg";
  int image_size = 32;
  double fraction = 1.0;
  bool augment = false;
  DevicePoolOptions devices;  // --device --threads-per-device --share-devices --precision --workspace-mib
  std::uint64_t seed = 0;
  AlgorithmOptions autotune;                        // --autotune --show-algorithms
  GradientRule gradient_rule = GradientRule::mean;  // several_devices: --compat chainer asks for the sum
  std::string trace;                                // a folder for the event stream
};

/// Throws UsageError with a sentence and the way to --help, and HelpRequested with the help for --help.
Arguments parse_arguments(int argc, char** argv, const Program& program);

}  // namespace odori
