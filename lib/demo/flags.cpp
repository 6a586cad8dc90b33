#include "demo/flags.h"

#include "flags/command_line.h"

namespace odori::demo {

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line("Train the solutions on one device, on two, and on two nodes, and compare them.", "./odori demo",
                   argc, argv);
  CLI::App& app = line.app();
  app.add_option("--device", flags.device, "auto (GPUs if there are any), cpu or cuda")
      ->check(line.one_of({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--dataset", flags.dataset, "cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is there")
      ->capture_default_str();
  app.add_option("--epoch", flags.epoch, "How often each run goes through the data set")
      ->check(line.whole_number(1, 1000))
      ->capture_default_str();
  app.add_option("--fraction", flags.fraction, "Part of the data set; without it, about 10,000 images")
      ->check(line.number<double>({"a number from 0.0001 to 1", "0.0001 から 1 までの数"},
                                  [](double part) { return part >= 1e-4 && part <= 1; }));
  app.add_option("--out", flags.out, "Folder for the results")->capture_default_str();
  line.parse();
  return flags;
}

}  // namespace odori::demo
