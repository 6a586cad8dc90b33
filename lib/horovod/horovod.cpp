// SPDX-License-Identifier: Apache-2.0
#include "horovod/horovod.h"

#include <utility>

#include "distributed/multi_node_optimizer.h"
#include "observe/hooks.h"
#include "train/trainer.h"

namespace odori::horovod {

Horovod init(const std::string& communicator) { return Horovod(create_communicator(communicator)); }

std::unique_ptr<Optimizer> Horovod::DistributedOptimizer(std::unique_ptr<Optimizer> optimizer,
                                                         const DistributedOptions& options,
                                                         ExchangeOptions exchange) const {
  exchange.dtype = options.compression;
  exchange.accumulate = options.backward_passes_per_step;
  return create_multi_node_optimizer(std::move(optimizer), *comm_, exchange);
}

void Horovod::broadcast_parameters(Classifier& model, int root_rank) const {
  const observe::CollectiveScope call("hvd.broadcast_parameters()");
  comm_->broadcast(model.device(), model.memory().parameters, root_rank);
  comm_->broadcast(model.device(), model.memory().statistics, root_rank);
}

void Horovod::broadcast_optimizer_state(Optimizer& optimizer, int root_rank) const {
  const observe::CollectiveScope call("hvd.broadcast_optimizer_state()");
  std::vector<std::vector<float>> state = optimizer.state();
  for (std::vector<float>& vector : state) comm_->broadcast(std::as_writable_bytes(std::span(vector)), root_rank);
  optimizer.restore(state);
  std::int64_t n_updates = optimizer.n_updates();
  comm_->broadcast(std::as_writable_bytes(std::span(&n_updates, 1)), root_rank);
  optimizer.set_n_updates(n_updates);
  float rate = optimizer.learning_rate();
  comm_->broadcast(std::as_writable_bytes(std::span(&rate, 1)), root_rank);
  optimizer.set_learning_rate(rate);
}

void Horovod::broadcast_bytes(std::span<std::byte> bytes, int root_rank) const {
  const observe::CollectiveScope call("hvd.broadcast_object()");
  comm_->broadcast(bytes, root_rank);
}

double Horovod::allreduce(double value, ReduceOp op) const {
  const observe::CollectiveScope call("hvd.allreduce()");
  comm_->sum(std::span(&value, 1));
  return op == Average ? value / size() : value;
}

void MetricAverage::run(Trainer& trainer) {
  for (auto& [name, value] : trainer.observation()) value = hvd_->allreduce(value);
}

}  // namespace odori::horovod
