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

double bytes_of(const Elements& elements) { return static_cast<double>(elements.values.size_bytes()); }

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

Elements Node::own_part(const Elements& elements) const {
  return elements.part(ranks_.range_of(elements.values.size(), rank()));
}

// What NCCL sends isn't told, and counted as what MPI sends.

void Node::reduce(const Elements& elements, int root) const {
  if (!elements.gpu) return ranks_.reduce(elements.values, root);
  ranks_.count(chain_steps(ranks_.size(), root, bytes_of(elements), true));
  nccl_->reduce(*elements.gpu, elements.values, root);
}

void Node::broadcast(const Elements& elements, int root) const {
  if (!elements.gpu) return ranks_.broadcast(elements.values, root);
  ranks_.count(chain_steps(ranks_.size(), root, bytes_of(elements), false));
  nccl_->broadcast(*elements.gpu, elements.values, root);
}

void Node::reduce_scatter(const Elements& elements) const {
  if (!elements.gpu) return ranks_.reduce_scatter(elements.values);
  ranks_.count(ring_steps(ranks_.size(), 1, bytes_of(elements)));
  nccl_->reduce_scatter(*elements.gpu, elements.values, ranks_.parts(elements.values.size()), NcclGroup::ReduceOp::sum);
}

void Node::all_gather(const Elements& elements) const {
  if (!elements.gpu) return ranks_.all_gather(elements.values);
  ranks_.count(ring_steps(ranks_.size(), 1, bytes_of(elements)));
  nccl_->all_gather(*elements.gpu, elements.values, ranks_.parts(elements.values.size()));
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

void NodeCommunicator::on_host(const Elements& elements, const std::function<void(std::span<float>)>& work) {
  if (!elements.gpu) return work(elements.values);
  in_slices(*elements.gpu, *elements.buffer, elements.range(), work);
}

void NodeCommunicator::divide(const Elements& elements) const {
  if (!elements.gpu) return divide(elements.values);
  elements.gpu->scale(1.0f / static_cast<float>(size()), *elements.buffer, elements.range());
}

}  // namespace odori
