// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_communicator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "comm/background.h"
#include "comm/chunks.h"
#include "comm/collective.h"
#include "comm/half_precision.h"
#include "comm/mpi_check.h"
#include "errors/error.h"

namespace odori {

MpiCommunicator::MpiCommunicator(Cut cut)
    : cut_(cut), interconnect_(std::make_shared<Interconnect>()), world_(interconnect_) {}

Group MpiCommunicator::split(int color, int key) const {
  const BlockingCall call(CollectiveCall{"create_communicator()"});
  return world_.split(color, key);
}

std::vector<int> MpiCommunicator::ranks_of_nodes() const {
  std::vector<int> ranks(static_cast<std::size_t>(inter_size()));
  for (const int node : interconnect_->nodes()) ++ranks[static_cast<std::size_t>(node)];
  return ranks;
}

void MpiCommunicator::on_host(Device& device, Buffer& values, Range range, std::size_t most,
                              const std::function<void(std::span<float>)>& work) {
  const bool is_host = device.kind() == DeviceKind::cpu;
  const std::size_t part_size = std::min(most, range.size());
  if (is_host) device.synchronize();
  if (!is_host && staging_.size() < part_size) staging_ = device.allocate_host(part_size);
  std::size_t begin = range.begin;
  do {
    const std::size_t size = std::min(part_size, range.end - begin);
    const std::span<float> part(is_host ? values.data() + begin : staging_.data(), size);
    if (!is_host) device.read(values, begin, part);
    work(part);
    if (!is_host) device.write(values, begin, part);
    begin += size;
  } while (begin < range.end);
}

constexpr std::size_t slice_floats = slice_bytes / sizeof(float);

void MpiCommunicator::in_slices(Device& device, Buffer& values, Range range,
                                const std::function<void(std::span<float>)>& work) {
  on_host(device, values, range, slice_floats, work);
}

Range MpiCommunicator::range_of(const Buffer& values, std::span<const Range> pieces) {
  if (pieces.empty()) return {0, values.size()};
  return {pieces.front().begin, std::min(values.size(), end_of_cache_line(pieces.back().end))};
}

void MpiCommunicator::all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) {
  average(device, gradients, range_of(gradients, pieces));
}

void MpiCommunicator::require_takes(Dtype dtype) const {
  if (dtype == Dtype::fp32 || takes_packed()) return;
  std::vector<std::string> others = communicator_names();
  std::erase_if(others, std::not_fn(takes_half_precision));
  throw UsageError(fmt::format(
      "The communicator {} exchanges gradients in fp32 alone. With --allreduce-dtype {}, use another --communicator: "
      "{}.",
      name(), to_string(dtype), fmt::join(others, ", ")));
}

const TrafficOfRank& MpiCommunicator::traffic() const {
  Background::wait_for_all();  // they count, too
  return interconnect_->traffic();
}

std::int64_t MpiCommunicator::all_reduce_mean_in(Dtype dtype, Device& device, Buffer& gradients,
                                                 std::span<const Range> pieces) {
  require_takes(dtype);
  Background::wait_for_all();  // a mean that is under way there is of another type
  dtype_ = dtype;
  not_finite_ = 0;
  all_reduce_mean(device, gradients, pieces);
  dtype_ = Dtype::fp32;
  return not_finite_;
}

void MpiCommunicator::average(Device& device, Buffer& values, Range range) {
  const bool slices = cut_ == Cut::slices;  // else messages say how many bytes they are
  const trace::Span span("allreduce", slices ? range.size() * bytes_of(dtype_) : 0);
  const Collective call({.name = "comm->all_reduce_mean()", .length = static_cast<std::int64_t>(range.size())});
  on_host(device, values, range, slices ? slice_floats : range.size(),
          [this](std::span<float> slice) { dtype_ == Dtype::fp32 ? all_reduce(slice) : all_reduce_packed(slice); });
}

void MpiCommunicator::all_reduce_packed(std::span<float> slice) {
  packed_.resize(packed_size(slice.size()));
  pack(dtype_, 1.0f / static_cast<float>(size()), slice, packed_);
  all_reduce(packed_);
  not_finite_ += unpack(dtype_, packed_, slice);
}

void MpiCommunicator::all_reduce(std::span<float> slice) {
  if (dtype_ == Dtype::fp32)
    world_.all_reduce(slice);
  else
    world_.all_reduce_packed(dtype_, slice);
  divide(slice);
}

void MpiCommunicator::divide(std::span<float> slice) const { odori::divide(dtype_, slice, size()); }

Range MpiCommunicator::shard(std::size_t n) const { return world_.range_of(n, rank()); }

void MpiCommunicator::reduce_scatter_mean(Device& device, Buffer& gradients) {
  const trace::Span span("reduce", gradients.bytes());
  const Collective call({.name = "comm->reduce_scatter_mean()", .length = static_cast<std::int64_t>(gradients.size())});
  on_host(device, gradients, {0, gradients.size()}, gradients.size(), [this](std::span<float> slice) {
    world_.reduce_scatter(slice);
    divide(world_.chunk(slice, rank()));
  });
}

void MpiCommunicator::all_gather_shards(Device& device, Buffer& values) {
  const trace::Span span("allgather", values.bytes());
  const Collective call({.name = "comm->all_gather_shards()", .length = static_cast<std::int64_t>(values.size())});
  on_host(device, values, {0, values.size()}, values.size(),
          [this](std::span<float> slice) { world_.all_gather(slice); });
}

void MpiCommunicator::broadcast(Device& device, Buffer& values, int root) {
  const trace::Span span("broadcast", values.bytes());
  const Collective call(
      {.name = "comm->broadcast()", .length = static_cast<std::int64_t>(values.size()), .root = root});
  on_host(device, values, {0, values.size()}, slice_floats,
          [this, root](std::span<float> part) { world_.broadcast(part, root); });
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int root, CallSite site) {
  const trace::Span span("broadcast", bytes.size());
  const Collective call({"comm->broadcast()", site, static_cast<std::int64_t>(bytes.size()), root, "bytes"});
  const Passage passage = world_.pass(chain_steps(size(), root, static_cast<double>(bytes.size()), false));
  for_each_chunk(bytes.size(), [&](std::size_t offset, int count) {
    ODORI_MPI(MPI_Bcast(&bytes[offset], count, MPI_BYTE, root, MPI_COMM_WORLD));
  });
}

void MpiCommunicator::sum(std::span<double> values, CallSite site) {
  const trace::Span span("allreduce", values.size_bytes());
  const Collective call({"comm->sum()", site, static_cast<std::int64_t>(values.size())});
  const Passage passage = world_.pass_all_reduce(static_cast<double>(values.size_bytes()));
  for_each_chunk(values.size(), [&](std::size_t offset, int count) {
    ODORI_MPI(MPI_Allreduce(MPI_IN_PLACE, &values[offset], count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  });
}

std::vector<std::byte> MpiCommunicator::all_gather(std::span<const std::byte> own, CallSite site) {
  const trace::Span span("allgather", own.size());
  const Collective call({"comm->all_gather()", site, static_cast<std::int64_t>(own.size()), -1, "bytes"});
  require(own.size() <= max_mpi_count, "all_gather: {} bytes of each rank are more than it takes, {}.", own.size(),
          max_mpi_count);
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(size()));
  const auto count = static_cast<int>(own.size());
  const Passage passage = world_.pass(ring_steps(size(), 1, static_cast<double>(all.size())));
  ODORI_MPI(MPI_Allgather(own.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, MPI_COMM_WORLD));
  return all;
}

// The root sends each part by itself: MPI_Scatterv's counts and displacements are ints, too small for large sets.
std::vector<std::byte> MpiCommunicator::scatter(std::span<const std::byte> all, std::span<const std::size_t> counts,
                                                int root, CallSite site) {
  require(static_cast<int>(counts.size()) == size(), "scatter: {} counts were given for {} ranks.", counts.size(),
          size());
  std::vector<std::byte> part(counts[static_cast<std::size_t>(rank())]);
  const trace::Span span("scatter", part.size());
  const Collective call({.name = "comm->scatter()", .site = site, .root = root});
  const Passage passage = world_.pass(scatter_steps(root, {counts.begin(), counts.end()}));
  constexpr int tag = 0;
  if (rank() != root) {
    for_each_chunk(part.size(), [&](std::size_t offset, int count) {
      ODORI_MPI(MPI_Recv(&part[offset], count, MPI_BYTE, root, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    });
    return part;
  }

  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  require(all.size() == total, "scatter: the root has {} bytes, but the counts add up to {}.", all.size(), total);
  const std::byte* from = all.data();
  for (int to = 0; to < size(); from += counts[static_cast<std::size_t>(to++)]) {
    const std::size_t bytes = counts[static_cast<std::size_t>(to)];
    if (to == root) {
      if (bytes > 0) std::memcpy(part.data(), from, bytes);
      continue;
    }
    for_each_chunk(bytes, [&](std::size_t offset, int count) {
      ODORI_MPI(MPI_Send(from + offset, count, MPI_BYTE, to, tag, MPI_COMM_WORLD));
    });
  }
  return part;
}

void MpiCommunicator::barrier(CallSite site) {
  const trace::Span span("barrier");
  const Collective call({"comm->barrier()", site});
  const Passage passage = world_.pass_all_reduce(0);
  ODORI_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

}  // namespace odori
