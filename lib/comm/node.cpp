// SPDX-License-Identifier: Apache-2.0
#include "comm/node.h"

#include <cstring>
#include <utility>

#include "backend/gpu_plugin.h"
#include "comm/collective.h"
#include "comm/steps.h"
#include "errors/error.h"
#include "trace/trace.h"

namespace odori {

DeviceSharing find_sharing(Communicator& comm, const Device& device) {
  const std::vector<Hardware> all = comm.all_gather(device.hardware());
  const auto size = all.size(), rank = static_cast<std::size_t>(comm.rank());
  DeviceSharing sharing;
  for (std::size_t a = 0; a < size; ++a) {
    sharing.cpus_too |= all[a].id == 0;
    for (std::size_t b = a + 1; b < size; ++b) {
      if (all[a].id == 0 || all[a].id != all[b].id) continue;
      require(
          all[a].may_be_shared && all[b].may_be_shared,
          "Ranks {} and {} stand on one GPU. Give every rank a GPU of its own: no more ranks on a machine than it "
          "has GPUs, each with the device of its intra_rank. To try things out, --share-devices lets ranks share; a "
          "speedup can't be measured then.",
          a, b);
      sharing.any = true;
      if (b == rank) ++sharing.position;
    }
  }
  return sharing;
}
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
