// SPDX-License-Identifier: Apache-2.0
// Steps that all ranks take, and that succeed on all of them or fail on all of them.
#pragma once

#include <functional>

#include "comm/communicator.h"

namespace odori {

/// Collective: runs this rank's part of a step. If any rank's part throws, the Error of the lowest of these ranks is
/// thrown on all ranks, so that none goes on into a collective where the others never arrive. `comm` null: one rank.
void collectively(Communicator* comm, const std::function<void()>& step);

}  // namespace odori
