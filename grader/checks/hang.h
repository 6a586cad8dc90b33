// A program that came to a standstill: who waited for whom.
#pragma once

#include "exercise/finding.h"
#include "worker/evidence.h"

namespace odori::grader {

/// From the collective calls that each rank entered: those that entered most wait for those that entered fewest.
/// Keys: hang_collective (the others never came), hang_two_collectives (the others wait in another call),
/// hang (nobody waits for another rank: a loop without an end).
Finding find_hang(const Evidence& evidence);

}  // namespace odori::grader
