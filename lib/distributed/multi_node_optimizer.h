// SPDX-License-Identifier: Apache-2.0
// An optimizer whose gradients are the mean over all ranks. After ChainerMN's create_multi_node_optimizer.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "distributed/exchange/strategy.h"
#include "optim/optimizer.h"

namespace odori {

/// Wraps an optimizer. setup() broadcasts rank 0's parameters and statistics; each update uses the mean gradients of
/// all ranks. Both are collective. Unlike the original, whose first update only broadcasts, no update is lost. `comm`
/// must outlive it. All ranks give the same options; set_exchange() replaces them before setup(). Throws UsageError for
/// options that contradict each other.
std::unique_ptr<Optimizer> create_multi_node_optimizer(std::unique_ptr<Optimizer> optimizer, Communicator& comm,
                                                       const ExchangeOptions& options = {});
/// The same with a user-defined strategy. `dtype`: type of the elements in messages.
std::unique_ptr<Optimizer> create_multi_node_optimizer_with_strategy(std::unique_ptr<Optimizer> optimizer,
                                                                     Communicator& comm,
                                                                     std::unique_ptr<ExchangeStrategy> strategy,
                                                                     Dtype dtype = Dtype::fp32);

}  // namespace odori
