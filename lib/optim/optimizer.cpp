#include "optim/optimizer.h"

#include "trace/trace.h"

namespace odori {

void Optimizer::update() {
  synchronize();
  const trace::Span span("update");
  update(Range{0, model().memory().parameters.size()});
}

}  // namespace odori
