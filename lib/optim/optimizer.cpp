#include "optim/optimizer.h"

#include "core/error.h"
#include "trace/trace.h"

namespace odori {

bool Optimizer::update() {
  if (!synchronize()) return false;
  {
    const trace::Span span("update");
    update(Range{0, model().memory().parameters.size()});
  }
  publish();
  return true;
}

void Optimizer::set_exchange(const ExchangeOptions& options) {
  require(options == ExchangeOptions(),
          "This optimizer exchanges no gradients: --double_buffering, --allreduce_dtype, --bucket_mib and --sharded "
          "are for one that create_multi_node_optimizer() has made.");
}

}  // namespace odori
