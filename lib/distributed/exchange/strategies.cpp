// SPDX-License-Identifier: Apache-2.0
#include "distributed/exchange/strategies.h"

#include "errors/error.h"

namespace odori {

std::unique_ptr<ExchangeStrategy> create_exchange_strategy(const ExchangeOptions& options) {
  if (options.double_buffering && options.bucket_mib != 0)
    throw UsageError(
        "Double buffering and buckets are two ways to hide one exchange. Give --double-buffering or --bucket-mib.");
  if (options.sharded && options != ExchangeOptions{.sharded = true, .accumulate = options.accumulate})
    throw UsageError(
        "--sharded exchanges shards, each once: it can't be combined with --double-buffering, --allreduce-dtype or "
        "--bucket-mib.");
  if (options.sharded) return sharded();
  if (options.double_buffering) return double_buffered();
  return options.bucket_mib == 0 ? synchronous() : bucketed(options.bucket_mib);
}

std::string join_words(std::initializer_list<std::string> words) {
  std::string all;
  for (const std::string& word : words)
    if (!word.empty()) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string in_words(Dtype dtype) { return dtype == Dtype::fp32 ? "" : to_string(dtype); }

}  // namespace odori
