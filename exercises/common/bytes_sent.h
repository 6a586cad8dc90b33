// SPDX-License-Identifier: Apache-2.0
// Counts what exercises' programs send.
#pragma once

#include <cstdint>
#include <functional>

#include "comm/communicator.h"

namespace odori {

/// Bytes that this rank sends while `call` runs.
inline std::int64_t bytes_sent_by(const std::function<void()>& call, const Communicator& comm) {
  const auto sent = [&] { return comm.traffic().sent_within_node.bytes + comm.traffic().sent_to_other_nodes.bytes; };
  const std::int64_t before = sent();
  call();
  return sent() - before;
}

}  // namespace odori
