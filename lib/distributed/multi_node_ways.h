// Ways of exchanging gradients between ranks (distributed/multi_node_exchange.h), side by side: whether they are right,
// and what they cost.
#pragma once

#include <string>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"
#include "distributed/multi_node_exchange.h"
#include "model/networks.h"

namespace odori {

struct ExchangeWay {
  std::string name;  // for people
  GradientExchange& exchange;
  bool one_late = false;  // an update is by the gradients of the iteration before
};

/// Tries each way on trial::gradient() of this seed, of so many layers, and then of others; what was started arrives
/// when it is waited for. Rank 0 prints whether the weights are right, and what was sent. Collective.
void try_ways(Communicator& comm, const std::vector<ExchangeWay>& ways, int layers, std::uint64_t seed = 0);

/// Trains the network on random images by each way, for some iterations (0: none) after two that aren't counted. Rank 0
/// prints what the quickest takes, and how much of that is spent on the exchange alone. Collective.
void measure_ways(Communicator& comm, const std::vector<ExchangeWay>& ways, const NetworkSpec& network, int batch,
                  int iterations, const DevicePoolOptions& devices);

}  // namespace odori
