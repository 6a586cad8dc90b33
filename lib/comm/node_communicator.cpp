// SPDX-License-Identifier: Apache-2.0
#include "comm/node_communicator.h"

#include "comm/collective.h"
#include "trace/trace.h"

namespace odori {

void NodeCommunicator::all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) {
  const Range range = range_of(gradients, pieces);
  const trace::Span span("allreduce", range.size() * sizeof(float));
  const Collective call({"comm->all_reduce_mean()"});
  if (node_.has_gpus(*this, device))
    average_by_nodes({{gradients.data() + range.begin, range.size()}, &device, &gradients});
  else
    in_slices(device, gradients, range, [this](std::span<float> slice) { average_by_nodes({slice}); });
}

void NodeCommunicator::on_host(const Numbers& numbers, const std::function<void(std::span<float>)>& work) {
  if (!numbers.gpu) return work(numbers.there);
  in_slices(*numbers.gpu, *numbers.buffer, numbers.range(), work);
}

void NodeCommunicator::divide(const Numbers& numbers) const {
  if (!numbers.gpu) return divide(numbers.there);
  numbers.gpu->scale(1.0f / static_cast<float>(size()), *numbers.buffer, numbers.range());
}

}  // namespace odori
