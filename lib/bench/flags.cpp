#include "bench/flags.h"

#include <CLI/CLI.hpp>

#include "core/error.h"

namespace odori::bench {

Options parse(int argc, char** argv, const std::string& about, Options options) {
  CLI::App app(about);
  app.add_option("--model", options.model, "The network: vgg or mid")->check(CLI::IsMember({"vgg", "mid"}));
  app.add_option("--batchsize", options.batchsize, "Pictures a device and iteration")->check(CLI::Range(1, 1 << 20));
  app.add_option("--iterations", options.iterations, "Iterations a round")->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", options.threads, "Threads a device")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds; their median is what counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--autotune", options.autotune, "Measure which convolution algorithm is the fastest, at set-up");
  app.add_option("--rank_of", options.rank_of)->group("");  // hidden
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}. --help lists the flags.", error.what()));
  }
  return options;
}

}  // namespace odori::bench
