// SPDX-License-Identifier: Apache-2.0
// The exchange strategies of the library, one per .cpp file of the same name. Each file starts with the strategy's
// timeline and its cost. Costs are per rank and update: E is the size of the gradients in bytes (4 per parameter, 2
// with a 16-bit dtype), n the number of ranks. Bytes are those of a bandwidth-optimal all-reduce (P. Patarasuk and X.
// Yuan, 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"); the communicator decides how
// many messages an all-reduce takes (comm/README.md).
#pragma once

#include <initializer_list>
#include <memory>
#include <string>

#include "distributed/exchange/strategy.h"
#include "optim/exchange_options.h"

namespace odori {

/// All-reduces all gradients at once after backward.
std::unique_ptr<ExchangeStrategy> synchronous();
/// All-reduces buckets of at least `mib` MiB while backward computes the rest. Throws UsageError for mib < 1.
std::unique_ptr<ExchangeStrategy> bucketed(int mib);
/// All-reduces the gradients of one iteration during the next one; each update is one iteration late.
std::unique_ptr<ExchangeStrategy> double_buffered();
/// Each rank reduces, keeps the optimizer state of, and updates one shard of the parameters (ZeRO stage 1). fp32 only.
std::unique_ptr<ExchangeStrategy> sharded();

/// The strategy that the options name. Throws UsageError for options that contradict each other.
std::unique_ptr<ExchangeStrategy> create_exchange_strategy(const ExchangeOptions& options);

/// For description(): the words that are not empty, separated by commas.
std::string join_words(std::initializer_list<std::string> words);
/// For description(): empty for fp32.
std::string in_words(Dtype dtype);

}  // namespace odori
