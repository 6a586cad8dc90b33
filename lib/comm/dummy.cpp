// SPDX-License-Identifier: Apache-2.0
// dummy: copies all gradients into a buffer and back, and sends nothing.
//
// WRONG BY DESIGN: each rank keeps its own gradients, and the models diverge. Compare training runs with it and with
// another communicator to measure the cost of communication. Messages and bytes: none.
// Source: ChainerMN 1.3's DummyCommunicator, which packs gradients into a buffer, and unpacks them.
#include <algorithm>

#include "comm/algorithm.h"

namespace odori {
namespace {

class DummyCommunicator : public MpiCommunicator {
 public:
  std::string name() const override { return "dummy"; }

 protected:
  void all_reduce(std::span<float> values) override {
    buffer_.assign(values.begin(), values.end());
    std::copy(buffer_.begin(), buffer_.end(), values.begin());
  }

 private:
  std::vector<float> buffer_;
};

const Algorithm dummy_algorithm{
    "dummy", make<DummyCommunicator>,
    [](const cost::Cluster&, const cost::Gradients&) -> std::optional<double> { return 0; }};

}  // namespace
}  // namespace odori
