// SPDX-License-Identifier: Apache-2.0
// The learner's functions on the grader's test cases. No program includes this.
#pragma once

#include "sharded_support.h"

namespace odori {

/// False: there are no test cases. Collective.
bool try_sharded(const ShardedProgram& program, Communicator& comm);

}  // namespace odori
