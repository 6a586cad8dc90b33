#include "distributed/exchange/strategy.h"

#include "distributed/exchange/context.h"

namespace odori {

Range ExchangeStrategy::owned() const { return {0, context_->parameters.size()}; }

ExchangeReport& ExchangeStrategy::report() const { return context_->report; }

}  // namespace odori
