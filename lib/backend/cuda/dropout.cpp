// SPDX-License-Identifier: Apache-2.0
// Each element is dropped with probability `ratio`, the others are divided by 1 - ratio; in place, and so is the
// gradient. Source: N. Srivastava et al., 2014, "Dropout: a simple way to prevent neural networks from overfitting".
#include "backend/cuda/kernels/dropout.h"

#include "backend/cuda/operation.h"

namespace odori::cuda {
namespace {

class Dropout : public Operation {
 public:
  Dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer)
      : setup_(setup), ratio_(ratio), layer_(layer) {
    output_ = x;
  }

  void forward(Mode mode) override {
    if (mode == Mode::train) drop(output_.data.data());
  }
  void backward() override {
    if (output_.gradient) drop(output_.gradient.data());
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("dropout " + to_string(output_.shape) + " forward and backward: one kernel each, in place");
  }

 private:
  void drop(void* x) const {
    kernels::dropout(setup_.stream(), setup_.storage, x, x, output_.shape, ratio_, layer_, setup_.step_data());
  }

  const Setup& setup_;
  float ratio_;
  std::uint32_t layer_;
};

}  // namespace

OperationPtr dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer) {
  return std::make_unique<Dropout>(setup, x, ratio, layer);
}

}  // namespace odori::cuda
