// An optimizer whose gradients are the mean over all ranks. After ChainerMN's create_multi_node_optimizer.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "optim/optimizer.h"

namespace odori {

/// Wraps an optimizer: setup() makes all ranks equal (rank 0's parameters and statistics; collective), each
/// update averages the gradients first. Unlike the original, no update is lost: the original's first only
/// broadcasts. `comm` must outlive it.
///
/// `options` (exchange_options.h): all ranks give the same; set_exchange() replaces them before setup(). What goes on
/// in the background is waited for before ranks speak about anything else.
std::unique_ptr<Optimizer> create_multi_node_optimizer(std::unique_ptr<Optimizer> optimizer, Communicator& comm,
                                                       const ExchangeOptions& options = {});

}  // namespace odori
