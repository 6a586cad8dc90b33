// SPDX-License-Identifier: Apache-2.0
// What predictions are made of. The formulas are in cost.h, which exercises don't see: learners write them.
#pragma once

#include <string>

namespace odori::cost {

struct Link {
  double latency = 0;    // seconds until the first byte is there
  double bandwidth = 1;  // bytes a second
  double message(double bytes) const { return latency + bytes / bandwidth; }
};

/// "1gbit,50us", or "1gbit" with a latency of 50 us. Throws UsageError for anything but a bandwidth in kbit, mbit or
/// gbit and a latency in us or ms.
Link link_from(const std::string& text);
/// "1 Gbit/s, 50 us".
std::string in_words(const Link& link);

/// Ranks in order, equally many on each node. The ranks of a node share its network card, which sends one message after
/// the other; those of the same step wait for the latency together.
struct Cluster {
  int nodes = 1, ranks_per_node = 1;
  Link within, between;  // nodes
  int ranks() const { return nodes * ranks_per_node; }
};

/// An iteration of one device without communication: fixed + per_image * batch seconds. `fixed` is what it takes
/// however few images there are: starting operations, updating the parameters.
struct Compute {
  double fixed = 0, per_image = 0;
  double seconds(double batch) const { return fixed + per_image * batch; }
};

struct Measured {
  double batch = 1, seconds = 0;
};

}  // namespace odori::cost
