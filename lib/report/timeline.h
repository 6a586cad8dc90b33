// SPDX-License-Identifier: Apache-2.0
// Draws the event stream of a training run as a timeline of all devices, in a web page.
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

/// An operation of a device.
struct Span {
  std::string name;  // "forward", "allreduce", ...
  Interval time;     // from the first event of all ranks
  std::int64_t bytes = 0;
  std::int64_t wait = 0;  // of allreduce, allgather, barrier: for the last rank; else 0
};

/// The kind of a span. other: "evaluate", "snapshot", ...
enum class Kind { compute, communication, other };
Kind kind_of(std::string_view name);

/// A device of a rank.
struct Row {
  int rank = 0, device = 0;
  std::vector<Span> spans;           // by begin
  std::vector<Interval> iterations;  // of its rank
};

struct Timeline {
  std::vector<Row> rows;      // by rank and device
  int first_iteration = 0;    // shown here, counted from 0
  int n_iterations = 0;       // of the whole run
  std::int64_t began_us = 0;  // time of the first event of all ranks, since 1970
  std::vector<int> cut;       // ranks with an incomplete stream: killed, or a full disk
};

/// Reads trace.RANK.json of all ranks. Events before the first use of a device count for the rank's first device. An
/// incomplete stream is read as far as it goes. Throws Error if there is no stream in the folder, or if one is invalid.
Timeline read(const std::filesystem::path& folder);

/// The part of `n` iterations from `first`. Iteration 0 includes what precedes training. Throws Error if there is no
/// such iteration.
Timeline window(const Timeline& whole, int first, int n);

/// The first iterations that together have about `most_spans` spans at most, so that browsers remain responsive.
Timeline shortened(const Timeline& whole, std::size_t most_spans = 20'000);

/// How a device spends an iteration: means over its iterations, without the run's very first one, in which kernels are
/// compiled, unless it is the only one.
struct Shares {
  int iterations = 0;
  double iteration_us = 0;
  double compute_us = 0;  // load, forward, backward, update
  double hidden_us = 0;   // communication during computation
  double exposed_us = 0;  // communication without computation: the cost of parallelism
  double late_us = 0;     // part of exposed_us: waits for the last rank
  double waiting_us = 0;  // neither computing nor communicating
  double bytes = 0;       // communicated
  double collectives = 0;
};
Shares shares_of(const Timeline& timeline, const Row& row);

struct PageTexts {
  std::string source;           // what was traced, such as a task or a folder
  std::string language = "en";  // or "ja": the initial language of the page
  Machine machine;              // that draws the page; streams do not contain theirs
  std::string date;             // of the run
};

/// A self-contained web page. `d3`: the source of D3, from read_d3(). Empty: the page has no diagram, and says so.
std::string to_page(const Timeline& timeline, const PageTexts& texts, const std::string& d3);

/// Data and partials of the page, for other pages that contain the diagram.
nlohmann::json page_data(const Timeline& timeline, const PageTexts& texts, const std::string& d3);
std::map<std::string, std::string> page_parts();

/// Reads D3, as html::read_library() does, with ODORI_D3_JS and the file of Debian's node-d3.
std::string read_d3();

}  // namespace odori::timeline
