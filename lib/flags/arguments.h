// The flags of the training programs: parsed by one compiled call, checked there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/device_pool.h"
#include "backend/graph.h"
#include "optim/gradient_rule.h"

namespace odori {

enum class Program { single_gpu, multi_gpu, multi_node, ring };

struct Arguments {
  std::string dataset = "auto";  // cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is there
  int epoch = 4;
  int batchsize = 32;  // pictures a device and iteration
  float learnrate = 0.05f;
  int n_gpus = 2;             // multi_gpu: devices of this process, GPUs or not
  std::string communicator;   // multi_node: filled in from the devices if not given
  std::size_t length = 1000;  // ring: how many numbers are tried
  std::string out;            // out/single_gpu and so on if not given
  bool no_snapshot = false;
  bool keep_going = false;  // also when the loss is no finite number
  std::string resume;       // a snapshot's folder
  std::string model = "vgg";
  int image_size = 32;
  double fraction = 1.0;
  bool augment = false;
  DevicePoolOptions devices;  // --device --threads_per_device --share_devices --precision --workspace_mib
  std::uint64_t seed = 0;
  AlgorithmOptions autotune;                        // --autotune --show_algorithms
  GradientRule gradient_rule = GradientRule::mean;  // multi_gpu: --compat chainer asks for the sum
  std::string trace;                                // a folder for the event stream
};

/// Throws UsageError with a sentence and the way to --help, and HelpRequested with the help for --help.
Arguments parse_arguments(int argc, char** argv, Program program);

}  // namespace odori
