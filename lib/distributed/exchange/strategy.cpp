// SPDX-License-Identifier: Apache-2.0
#include "distributed/exchange/strategy.h"

#include "distributed/exchange/context.h"
#include "errors/error.h"

namespace odori {

Range ExchangeStrategy::owned() const {
  require(context_ != nullptr, "This exchange strategy has no model yet. Call optimizer.setup(model) first.");
  return {0, context_->parameters.size()};
}

ExchangeReport& ExchangeStrategy::report() const {
  require(context_ != nullptr, "This exchange strategy has no model yet. Call optimizer.setup(model) first.");
  return context_->report;
}

}  // namespace odori
