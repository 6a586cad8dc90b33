// SPDX-License-Identifier: Apache-2.0
#include "comm/node.h"

#include <cstring>
#include <utility>

#include "backend/gpu_plugin.h"
#include "comm/device_sharing.h"
#include "comm/steps.h"

namespace odori {
namespace {

double bytes_of(const Numbers& numbers) { return static_cast<double>(numbers.there.size_bytes()); }

}  // namespace

bool Node::has_gpus(Communicator& all, Device& device) {
  if (std::exchange(asked_, true)) return nccl_ != nullptr;
  const DeviceSharing sharing = find_sharing(all, device);
  // Nodes exchange what each has summed up: all of them the whole vector, or all of them slices.
  if (sharing.any || sharing.cpus_too || ranks_.size() == 1) return false;
  nccl_ = gpu_plugin()->make_nccl_group(device, ranks_.size(), rank(), [this](std::span<std::byte> id) {
    std::vector<float> carried(id.size() / sizeof(float));
    std::memcpy(carried.data(), id.data(), id.size());
    ranks_.broadcast(carried, 0);
    std::memcpy(id.data(), carried.data(), id.size());
  });
  return true;
}

Numbers Node::own_part(const Numbers& numbers) const {
  return numbers.part(ranks_.range_of(numbers.there.size(), rank()));
}

// What NCCL sends isn't told, and counted as what MPI sends.

void Node::sum_to(const Numbers& numbers, int root) const {
  if (!numbers.gpu) return ranks_.sum_to(numbers.there, root);
  ranks_.count(chain_steps(ranks_.size(), root, bytes_of(numbers), true));
  nccl_->sum_to(*numbers.gpu, numbers.there, root);
}

void Node::broadcast(const Numbers& numbers, int root) const {
  if (!numbers.gpu) return ranks_.broadcast(numbers.there, root);
  ranks_.count(chain_steps(ranks_.size(), root, bytes_of(numbers), false));
  nccl_->broadcast(*numbers.gpu, numbers.there, root);
}

void Node::reduce_scatter(const Numbers& numbers) const {
  if (!numbers.gpu) return ranks_.reduce_scatter(numbers.there);
  ranks_.count(ring_steps(ranks_.size(), 1, bytes_of(numbers)));
  nccl_->reduce_scatter(*numbers.gpu, numbers.there, ranks_.parts(numbers.there.size()), NcclGroup::Become::sum);
}

void Node::all_gather(const Numbers& numbers) const {
  if (!numbers.gpu) return ranks_.all_gather(numbers.there);
  ranks_.count(ring_steps(ranks_.size(), 1, bytes_of(numbers)));
  nccl_->all_gather(*numbers.gpu, numbers.there, ranks_.parts(numbers.there.size()));
}

}  // namespace odori
