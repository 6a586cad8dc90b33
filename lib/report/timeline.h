// SPDX-License-Identifier: Apache-2.0
// What every device did, as a diagram: one web page made of a training's event stream.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/machine.h"

namespace odori::timeline {

/// Times are in microseconds.
struct Interval {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Interval&) const = default;
};

/// Something that a device did.
struct Span {
  std::string name;  // "forward", "allreduce", ...
  Interval time;     // since the first event of all ranks
  std::int64_t bytes = 0;
  std::int64_t wait = 0;  // of what all ranks take part in: until the last one had come, and data could move
};

/// What a span of this name is: work, the exchange of data, or neither ("evaluate", "snapshot").
enum class Kind { compute, communication, other };
Kind kind_of(std::string_view name);

/// A device of a rank.
struct Row {
  int rank = 0, device = 0;
  std::vector<Span> spans;           // in the order of their begin
  std::vector<Interval> iterations;  // of its rank
};

struct Timeline {
  std::vector<Row> rows;      // by rank and device
  int first_iteration = 0;    // that is in it, counted from 0
  int n_iterations = 0;       // of the whole training
  std::int64_t began_us = 0;  // the first event of all ranks, since 1970
  std::vector<int> cut;       // ranks whose stream has no end: killed, or their disk was full
};

/// Reads trace.RANK.json of all ranks. What lies in the stream before a device was made current belongs to its rank's
/// first device. A stream of a killed rank, without its end, is read as far as it goes. Throws Error if there is no
/// stream in the folder, or one that is not a stream.
Timeline read(const std::filesystem::path& folder);

/// The part that belongs to `n` iterations from `first` on; what came before the training is left in with the first.
/// Throws Error if there is no such iteration.
Timeline window(const Timeline& whole, int first, int n);

/// As many iterations from the first on as a browser shows without delay: those with up to `most_spans` spans.
Timeline shortened(const Timeline& whole, std::size_t most_spans = 20'000);

/// How a device spent its iterations, as a mean over them; the very first one, in which kernels are compiled, is left
/// out if there are others.
struct Shares {
  int iterations = 0;
  double iteration_us = 0;
  double compute_us = 0;  // load, forward, backward, update
  double hidden_us = 0;   // communication while it computed
  double exposed_us = 0;  // communication while it did not: what more devices cost
  double late_us = 0;     // of it: until the last rank had come
  double waiting_us = 0;  // the rest
  double bytes = 0;       // that it moved
  double collectives = 0;
};
Shares shares_of(const Timeline& timeline, const Row& row);

struct PageTexts {
  std::string source;           // what was traced: a task, a folder
  std::string language = "en";  // or "ja": to begin with; a button changes it
  Machine machine;              // that draws it; the stream doesn't tell which one it is of
  std::string date;             // of the training
};

/// The page: it holds all that it needs. `d3` is the text of D3 (see read_d3); without it the page says so, and holds
/// everything but the diagram.
std::string to_page(const Timeline& timeline, const PageTexts& texts, const std::string& d3);

/// Data and parts of the page, for another page that contains the diagram.
nlohmann::json page_data(const Timeline& timeline, const PageTexts& texts, const std::string& d3);
std::map<std::string, std::string> page_parts();

/// D3's text: of the file that the variable ODORI_D3_JS names, else of Debian's node-d3; empty if neither is there.
/// Throws Error if the variable names a file that can't be read.
std::string read_d3();

}  // namespace odori::timeline
