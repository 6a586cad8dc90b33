// Were the weights that a run shows really reached by the training that it was to do?
#pragma once

#include <optional>
#include <vector>

#include "checks/reference.h"
#include "worker/evidence.h"

namespace odori::grader {

/// [update][worker]: a worker is a device of one process, or a rank with its one device.
using Updates = std::vector<std::vector<Step>>;
/// Of the ranks of a run, each with its own device. As many updates as all ranks have done.
Updates updates_of_ranks(const Evidence& evidence);

/// Workers that came out of the same update with other weights.
struct Disagreement {
  int update = 0;          // from 1
  int one = 0, other = 0;  // positions in the update
};
std::optional<Disagreement> find_disagreement(const Updates& updates);

/// An update after which the weights are not what the mean gradient of all workers' pictures makes of them.
struct WrongWeights {
  int update = 0;  // from 1
  // What would explain it, if one of these would:
  std::optional<double> rate;      // the learning rate, in the first update
  std::optional<double> momentum;  // the momentum, in the second
};
std::optional<WrongWeights> find_wrong_weights(const RunData& data, const Updates& updates);

/// What one worker reaches by its own pictures alone, in the first update, from the weights of `seed`.
std::vector<float> alone(const RunData& data, const Pictures& pictures, std::uint64_t seed);

}  // namespace odori::grader
