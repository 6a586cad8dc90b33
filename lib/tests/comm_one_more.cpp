// SPDX-License-Identifier: Apache-2.0
// star: an algorithm more, which no other file of the kit knows. The contract holds for it as for all.
//
//   all ranks but the first send it everything; it adds up, multiplies by 1/P, and sends everything back
#include "comm/algorithm.h"

namespace odori {
namespace {

class StarCommunicator : public MpiCommunicator {
 public:
  StarCommunicator() : MpiCommunicator(Cut::whole) {}
  std::string name() const override { return "star"; }

 protected:
  void all_reduce(std::span<float> numbers) override {
    if (rank() > 0) {
      send(numbers, 0);
      receive(numbers, 0);
      return;
    }
    received_.resize(numbers.size());
    for (int r = 1; r < size(); ++r) {
      receive(received_, r);
      add(dtype(), numbers, received_);
    }
    divide(numbers);
    for (int r = 1; r < size(); ++r) send(numbers, r);
  }

 private:
  std::vector<float> received_;
};

const Algorithm star_algorithm{
    "star", make<StarCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return 2 * (cluster.ranks() - 1) * cluster.between.message(gradients.bytes);
    }};

}  // namespace
}  // namespace odori
