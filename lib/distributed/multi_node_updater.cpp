#include "distributed/multi_node_updater.h"

#include <utility>

#include "core/error.h"
#include "trace/evidence.h"
#include "trace/refusal.h"

namespace odori {

MultiNodeUpdater::MultiNodeUpdater(SerialIterator iterator, Optimizer& optimizer, Communicator& comm, Update update)
    : Updater(optimizer), comm_(comm), update_(std::move(update)) {
  require(static_cast<bool>(update_), "The updater was given an update that is null.");
  require_fit(iterator, optimizer.model());
  iterators_.push_back(std::move(iterator));
}

void MultiNodeUpdater::update() {
  new_epoch_ = false;
  n_batches_ = 0;
  update_(*this);
  ++iteration_;
}

std::vector<float> MultiNodeUpdater::next_gradients() {
  SerialIterator& iterator = iterators_.front();
  require_within_epoch(++n_batches_, iterator);
  model().forward_backward(*iterator.next());
  new_epoch_ |= iterator.is_new_epoch();
  std::vector<float> gradients(n_gradients());
  model().device().read(model().memory().gradients, 0, gradients);
  return gradients;
}

void MultiNodeUpdater::average_over_ranks(std::span<float> gradients) {
  const evidence::Collective call("average_over_ranks()");
  require_length(gradients.size(), "average_over_ranks");
  Device& device = model().device();
  Buffer& memory = model().memory().gradients;
  const Range all{0, memory.size()};
  device.write(memory, 0, gradients);
  comm_.all_reduce_mean(device, memory, {&all, 1});
  device.read(memory, 0, gradients);
}

void MultiNodeUpdater::step(std::span<const float> gradients, double rate) {
  require_length(gradients.size(), "step");
  const auto shown = static_cast<float>(rate);
  evidence::write(facts::Values{1}, {&shown, 1});
  model().device().write(model().memory().gradients, 0, gradients);
  optimizer_.set_learning_rate(shown);
  optimizer_.update();
}

void MultiNodeUpdater::require_length(std::size_t n, const char* call) {
  refusal::require(refusal::other_gradients, n == n_gradients(),
                   "{} was given {} numbers, and the model has {} gradients. Give it all of them at once.", call, n,
                   n_gradients());
}

}  // namespace odori
