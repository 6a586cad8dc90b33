// Ranks that don't come together: who waited for whom, and who called what.
#pragma once

#include <optional>

#include "blanks/finding.h"
#include "runner/evidence.h"

namespace odori::grader {

/// From the collective calls that each rank entered: those that entered most wait for those that entered fewest.
/// Keys: hang_collective (the others never came), hang_two_collectives (the others wait in another call),
/// hang (nobody waits for another rank: a loop without an end). Where one waits in a message: hang_messages.
Finding find_hang(const Evidence& evidence);

/// Ranks whose first, second, ... collective calls are the same up to one that differs: MPI then gives one call the
/// messages of another, and the program dies of it, or is stopped, or waits for ever. Key: ranks_called_apart; nothing
/// if some have only come further than others.
std::optional<Finding> find_calls_apart(const Evidence& evidence);

}  // namespace odori::grader
