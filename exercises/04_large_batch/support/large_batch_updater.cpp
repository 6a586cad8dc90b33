// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "errors/error.h"
#include "large_batch_support.h"
#include "observe/hooks.h"
#include "observe/refusal.h"

namespace odori {

LargeBatchUpdater::LargeBatchUpdater(SerialIterator iterator, Optimizer& optimizer, Communicator& comm,
                                     std::function<void(LargeBatchUpdater&)> make_gradients)
    : StandardUpdater(std::move(iterator), optimizer), comm_(comm), make_gradients_(std::move(make_gradients)) {}

void LargeBatchUpdater::compute_gradients() {
  n_batches_ = 0;
  make_gradients_(*this);
}

std::vector<float> LargeBatchUpdater::next_gradients() {
  require_within_epoch(++n_batches_, iterators().front());
  next_batch();
  std::vector<float> gradients(n_gradients());
  model().device().read(model().memory().gradients, 0, gradients);
  return gradients;
}

void LargeBatchUpdater::average_over_ranks(std::span<float> gradients) {
  const observe::CollectiveScope call("average_over_ranks()");
  require_length(gradients.size(), "average_over_ranks");
  Device& device = model().device();
  Buffer& memory = model().memory().gradients;
  const Range all{0, memory.size()};
  device.write(memory, 0, gradients);
  comm_.all_reduce_mean(device, memory, {&all, 1});
  device.read(memory, 0, gradients);
}

void LargeBatchUpdater::use(std::span<const float> gradients, double rate) {
  require_length(gradients.size(), "use");
  const auto rounded = static_cast<float>(rate);
  observe::on_values(std::span(&rounded, 1));
  model().device().write(model().memory().gradients, 0, gradients);
  optimizer().set_learning_rate(rounded);
}

void LargeBatchUpdater::require_length(std::size_t n, const char* call) {
  refusal::require(refusal::other_gradients, n == n_gradients(),
                   "{} was given {} numbers, and the model has {} gradients. Give it all of them at once.", call, n,
                   n_gradients());
}

}  // namespace odori
