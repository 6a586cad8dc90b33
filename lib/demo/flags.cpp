#include "demo/flags.h"

#include <CLI/CLI.hpp>

#include "core/error.h"

namespace odori::demo {

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CLI::App app{"Train the solutions on one device, on two, and on two nodes, and compare them.", "./odori demo"};
  app.add_option("--device", flags.device, "auto (GPUs if there are any), cpu or cuda")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--dataset", flags.dataset, "cifar10, cifar100, synthetic, or a folder; auto: cifar10 if it is there")
      ->capture_default_str();
  app.add_option("--epoch", flags.epoch, "How often each run goes through the data set")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--fraction", flags.fraction, "Part of the data set; without it, about 10,000 images")
      ->check(CLI::Range(1e-4, 1.0));
  app.add_option("--out", flags.out, "Folder for the results")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}. ./odori demo --help lists the flags.", error.what()));
  }
  return flags;
}

}  // namespace odori::demo
