// SPDX-License-Identifier: Apache-2.0
// ./odori timeline FOLDER: the event stream that a training wrote with --trace, as a diagram on one page.
#include "report/timeline.h"

#include <fmt/chrono.h>

#include <ctime>
#include <limits>
#include <optional>
#include <string>

#include "files/file.h"
#include "flags/command_line.h"
#include "program/program.h"

using namespace odori;

namespace {

struct Flags {
  std::string folder, out;
  std::optional<int> first, n;  // iterations
};

Flags parse_flags(int argc, char** argv) {
  Flags flags;
  CommandLine line("Draws what each device did: one page that opens from the disk.", "./odori timeline", argc, argv);
  line.add_option("folder", flags.folder, "Where a training wrote its event stream: its --trace");
  line.add_option("--out", flags.out, "The page to write; without it, FOLDER/timeline.html");
  line.add_option("--from", flags.first, "The first iteration to show, counted from 1")
      .check(line.whole_number(1, std::numeric_limits<int>::max()));
  line.add_option("--iterations", flags.n, "How many of them; without it, what a browser can show at once")
      .check(line.whole_number(1, std::numeric_limits<int>::max()));
  line.parse();
  if (flags.folder.empty())
    throw UsageError(line.say(
        {"Which folder? ./odori timeline FOLDER draws what a training wrote with --trace FOLDER.",
         "どのフォルダですか。./odori timeline フォルダ は、学習が --trace フォルダ で書いたものを図にします。"}));
  if (flags.out.empty()) flags.out = flags.folder + "/timeline.html";
  return flags;
}

/// Local date and time, as now() writes them.
std::string date_of(std::int64_t us) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(us / 1'000'000)));
}

}  // namespace

int main(int argc, char** argv) try {
  const Flags flags = parse_flags(argc, argv);
  timeline::Timeline seen = timeline::read(flags.folder);
  if (flags.first || flags.n)
    seen = timeline::window(seen, flags.first.value_or(1) - 1, flags.n.value_or(seen.n_iterations));
  const std::string page =
      timeline::to_page(timeline::shortened(seen), {flags.folder, language(), this_machine(), date_of(seen.began_us)},
                        timeline::read_d3());
  write_file(flags.out, page);
  fmt::print("{}\n", flags.out);
  return 0;
} catch (...) {
  return report_failure();
}
