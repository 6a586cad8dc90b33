// SPDX-License-Identifier: Apache-2.0
#include "optim/optimizer.h"

#include "distributed/exchange/strategy.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "trace/trace.h"

namespace odori {

bool Optimizer::update() {
  if (!finish_exchange()) return false;
  {
    const trace::Span span("update");
    update(Range{0, model().memory().parameters.size()});
  }
  if (exchange()) exchange()->after_update();
  return true;
}

bool Optimizer::finish_exchange() {
  model();  // throws before setup()
  if (exchange()) {
    const observe::CollectiveScope call("optimizer->update()");
    if (!exchange()->finish()) return false;
  }
  begin_update(++n_updates_);
  return true;
}

void Optimizer::set_exchange(const ExchangeOptions& options) {
  require(options == ExchangeOptions(),
          "This optimizer exchanges no gradients: --double-buffering, --allreduce-dtype, --bucket-mib and --sharded "
          "are for one that create_multi_node_optimizer() has made.");
}

}  // namespace odori
