// SPDX-License-Identifier: Apache-2.0
// The quantities of predictions. Their formulas are in cost.h, which exercises cannot include: learners write them.
#pragma once

#include <string>

namespace odori::cost {

struct Link {
  double latency = 0;    // seconds; alpha of the alpha-beta model
  double bandwidth = 1;  // bytes per second; 1 / beta
  double message(double bytes) const { return latency + bytes / bandwidth; }
};

/// Parses "1gbit,50us": a bandwidth in kbit, mbit or gbit, and a latency in us or ms, at most 10 s (default: 50us).
/// Throws UsageError for any other text.
Link link_from(const std::string& text);
/// Returns "1 Gbit/s, 50 us".
std::string in_words(const Link& link);

/// Ranks are numbered node by node, with the same number on each. The ranks of a node share one network card, which
/// sends one message at a time; the latencies of messages in the same step overlap.
struct Cluster {
  int nodes = 1, ranks_per_node = 1;
  Link within, between;  // nodes
  int ranks() const { return nodes * ranks_per_node; }
};

/// An iteration of one device without communication takes fixed + per_image * batch seconds. `fixed`: the time that
/// does not depend on the batch, such as launching operations and updating the parameters.
struct Compute {
  double fixed = 0, per_image = 0;
  double seconds(double batch) const { return fixed + per_image * batch; }
};

struct Measured {
  double batch = 1, seconds = 0;
};

}  // namespace odori::cost
