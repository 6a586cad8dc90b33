// SPDX-License-Identifier: Apache-2.0
#include "distributed/multi_node_evaluator.h"

#include <utility>
#include <vector>

#include "errors/error.h"
#include "observe/hooks.h"

namespace odori {
namespace {

/// All ranks add up the same numbers in the same order, whatever the order in which the communicator adds.
Metrics sum_over_ranks(const Metrics& own, Communicator& comm) {
  Metrics sum;
  for (const Metrics& of_rank : comm.all_gather(own)) sum += of_rank;
  return sum;
}

class MultiNodeEvaluator : public Evaluator {
 public:
  MultiNodeEvaluator(std::unique_ptr<Evaluator> own, Communicator& comm)
      : Evaluator(*own), own_(std::move(own)), comm_(comm) {}

  Metrics evaluate() override {
    const observe::CollectiveScope call("multi_node_evaluator->evaluate()");
    average_statistics(model(), comm_);
    return sum_over_ranks(own_->evaluate(), comm_);
  }

 private:
  std::unique_ptr<Evaluator> own_;  // of this rank's shard
  Communicator& comm_;
};

}  // namespace

std::unique_ptr<Evaluator> create_multi_node_evaluator(std::unique_ptr<Evaluator> evaluator, Communicator& comm) {
  require(evaluator != nullptr, "create_multi_node_evaluator() was given no evaluator of this rank.");
  return std::make_unique<MultiNodeEvaluator>(std::move(evaluator), comm);
}

void average_statistics(Classifier& model, Communicator& comm) {
  std::vector<Range> pieces;
  for (const NamedView& statistic : model.statistics())
    pieces.push_back({statistic.view.offset, statistic.view.offset + statistic.view.size()});
  if (!pieces.empty()) comm.all_reduce_mean(model.device(), model.memory().statistics, pieces);
}

}  // namespace odori
