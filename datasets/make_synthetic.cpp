// Writes a learnable picture set of ten classes in CIFAR-10's binary format: what the kit trains on where CIFAR isn't.
//
//   ./odori data synthetic --train 10000 --test 2000 --seed 0 --out datasets/cache/synthetic
//
// says in one sentence what is there now. The pictures are those of synthetic_picture.cpp.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "core/program.h"
#include "synthetic.h"

using namespace odori;
namespace fs = std::filesystem;

namespace {

/// What was asked for; a number that was not given takes whatever is there.
struct Flags {
  std::optional<std::uint32_t> train, test;
  std::optional<std::uint64_t> seed;
  fs::path out;
  bool force = false;

  synthetic::Options options() const {
    const synthetic::Options defaults;
    return {train.value_or(defaults.train), test.value_or(defaults.test), seed.value_or(defaults.seed)};
  }
  bool fits(const synthetic::Options& there) const {
    return train.value_or(there.train) == there.train && test.value_or(there.test) == there.test &&
           seed.value_or(there.seed) == there.seed;
  }
};

Flags parse(int argc, char** argv) {
  const synthetic::Options defaults;
  Flags flags;
  CLI::App app{"Write a learnable picture set of ten classes in CIFAR-10's binary format.", "./odori data synthetic"};
  app.add_option("--train", flags.train, fmt::format("Training pictures [{}]", defaults.train))
      ->check(CLI::Range(5u, synthetic::max_pictures));
  app.add_option("--test", flags.test, fmt::format("Test pictures [{}]", defaults.test))
      ->check(CLI::Range(1u, synthetic::max_pictures));
  app.add_option("--seed", flags.seed, fmt::format("Another seed, other pictures [{}]", defaults.seed))
      ->check(CLI::NonNegativeNumber);
  app.add_option("--out", flags.out, "The folder to write")->required()->take_last();
  app.add_flag("--force", flags.force, "Replace a synthetic set that is there already");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}. ./odori data synthetic --help lists the flags.", error.what()));
  }
  flags.out = fs::absolute(flags.out).lexically_normal();
  if (!flags.out.has_filename()) flags.out = flags.out.parent_path();  // a slash at the end
  return flags;
}

std::string describe(const synthetic::Options& options) {
  return fmt::format("{} training and {} test pictures, seed {}", options.train, options.test, options.seed);
}

void run(const Flags& flags) {
  using What = synthetic::Found::What;
  const synthetic::Found found = synthetic::look_at(flags.out);
  const std::string out = flags.out.string();
  require(
      found.what != What::something_else,
      "{} is there, but is no complete synthetic set: nothing was touched. Remove it, or choose another folder with "
      "--out.",
      out);
  if (found.what == What::complete_set && !flags.force) {
    require(
        flags.fits(found.options),
        "{} holds another synthetic set ({}): nothing was touched. --force replaces it, --out takes another folder.",
        out, describe(found.options));
    fmt::print("The synthetic set is there already: {} ({}).\n", out, describe(found.options));
    return;
  }
  synthetic::write_set(flags.out, flags.options());
  fmt::print("Wrote the synthetic set: {} ({}).\n", out, describe(flags.options()));
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  run(parse(argc, argv));
} catch (...) {
  return report_failure();
}
