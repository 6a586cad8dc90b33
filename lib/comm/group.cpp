// SPDX-License-Identifier: Apache-2.0
#include "comm/group.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <utility>

#include "comm/agreement.h"
#include "comm/background.h"
#include "comm/chunks.h"
#include "comm/collective.h"
#include "comm/half_precision.h"
#include "comm/mpi_check.h"
#include "errors/error.h"

namespace odori {

struct Group::Handle {
  MPI_Comm comm = MPI_COMM_WORLD;
  std::uint64_t n_agreed = 0;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (comm == MPI_COMM_WORLD || finalized || std::uncaught_exceptions() > 0) return;
    Background::wait_for_all();  // one thread at a time
    MPI_Comm_free(&comm);
  }
};

namespace {

int count_of(std::span<const float> values) {
  require(values.size() <= max_mpi_count, "{} elements are more than one call of MPI's takes, {}.", values.size(),
          max_mpi_count);
  return static_cast<int>(values.size());
}

double bytes_of(std::span<const float> values) { return static_cast<double>(values.size_bytes()); }
template <Dtype dtype>
void add_for_mpi(void* from, void* to, int* length, MPI_Datatype*) {
  add_packed(dtype, from, to, static_cast<std::size_t>(*length));
}

}  // namespace

Group::Group(std::shared_ptr<Interconnect> interconnect)
    : interconnect_(std::move(interconnect)),
      handle_(std::make_shared<Handle>()),
      ranks_(static_cast<std::size_t>(interconnect_->ranks().size)),
      rank_(interconnect_->ranks().rank),
      size_(interconnect_->ranks().size) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
}

Group Group::split(int color, int key) const {
  Group some;
  const auto handle = std::make_shared<Handle>();
  ODORI_MPI(MPI_Comm_split(handle_->comm, color, key, &handle->comm));
  ODORI_MPI(MPI_Comm_rank(handle->comm, &some.rank_));
  ODORI_MPI(MPI_Comm_size(handle->comm, &some.size_));
  some.interconnect_ = interconnect_;
  some.handle_ = handle;
  some.ranks_ = some.all_gather_plain(interconnect_->ranks().rank);
  return some;
}

void Group::all_gather_bytes(const void* own, void* all, std::size_t bytes_of_each) const {
  const auto count = static_cast<int>(bytes_of_each);
  MPI_Request request = MPI_REQUEST_NULL;
  ODORI_MPI(MPI_Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, handle_->comm, &request));
  if (interconnect_->link()) await({&request, 1});
  ODORI_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

Passage Group::pass(std::span<const Steps> steps) const {
  Link* const link = interconnect_->link();
  if (!link) return Passage();
  constexpr int first = 0;
  const Link::Time own = Link::now();
  Link::Time all_there = 0, arrival = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  ODORI_MPI(MPI_Ireduce(&own, &all_there, 1, MPI_INT64_T, MPI_MAX, first, handle_->comm, &request));
  await({&request, 1});
  if (rank_ == first) {
    arrival = all_there;
    for (const Steps& step : steps) arrival = link->carry(interconnect_->load(step, ranks_), arrival);
  }
  ODORI_MPI(MPI_Ibcast(&arrival, 1, MPI_INT64_T, first, handle_->comm, &request));
  await({&request, 1});
  return Passage(arrival);
}

void Group::count(std::span<const Steps> steps) const {
  for (const Steps& step : steps)
    for (const Hop& hop : step.hops)
      interconnect_->count(ranks_[static_cast<std::size_t>(hop.from)], ranks_[static_cast<std::size_t>(hop.to)],
                           hop.messages, std::llround(hop.bytes));
}

Passage Group::pass_and_count(std::span<const Steps> steps) const {
  count(steps);
  return pass(steps);
}

void Group::agree(const CollectiveCall& plan) const {
  is_whole_job() ? odori::agree(plan) : odori::agree(handle_->comm, ranks_, ++handle_->n_agreed, plan);
}

Range Group::range_of(std::size_t length, int c) const {
  return even_part(length, static_cast<std::size_t>(c), static_cast<std::size_t>(size_));
}

std::vector<Range> Group::parts(std::size_t length) const {
  std::vector<Range> all;
  for (int c = 0; c < size_; ++c) all.push_back(range_of(length, c));
  return all;
}

std::span<float> Group::chunk(std::span<float> values, int c) const {
  const Range range = range_of(values.size(), c);
  return values.subspan(range.begin, range.size());
}

Group::Layout Group::layout(std::span<const float> values) const {
  count_of(values);
  Layout layout;
  for (const Range& part : parts(values.size())) {
    layout.counts.push_back(static_cast<int>(part.size()));
    layout.offsets.push_back(static_cast<int>(part.begin));
  }
  return layout;
}

void Group::all_reduce(std::span<float> values) const {
  const Passage passage = pass_and_count(interconnect_->all_reduce(ranks_, bytes_of(values)));
  ODORI_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), count_of(values), MPI_FLOAT, MPI_SUM, handle_->comm));
}

void Group::all_reduce_packed(Dtype dtype, std::span<float> packed) const {
  const Passage passage = pass_and_count(interconnect_->all_reduce(ranks_, bytes_of(packed)));
  constexpr int commutes = 1;
  MPI_Op add = MPI_OP_NULL;
  ODORI_MPI(MPI_Op_create(dtype == Dtype::fp16 ? add_for_mpi<Dtype::fp16> : add_for_mpi<Dtype::bf16>, commutes, &add));
  ODORI_MPI(MPI_Allreduce(MPI_IN_PLACE, packed.data(), count_of(packed), MPI_FLOAT, add, handle_->comm));
  ODORI_MPI(MPI_Op_free(&add));
}

void Group::reduce(std::span<float> values, int root) const {
  const Passage passage = pass_and_count(chain_steps(size_, root, bytes_of(values), true));
  const bool is_root = rank_ == root;
  ODORI_MPI(MPI_Reduce(is_root ? MPI_IN_PLACE : values.data(), is_root ? values.data() : nullptr, count_of(values),
                       MPI_FLOAT, MPI_SUM, root, handle_->comm));
}

void Group::broadcast(std::span<float> values, int root) const {
  const Passage passage = pass_and_count(chain_steps(size_, root, bytes_of(values), false));
  ODORI_MPI(MPI_Bcast(values.data(), count_of(values), MPI_FLOAT, root, handle_->comm));
}

void Group::reduce_scatter(std::span<const float> values, std::span<float> own) const {
  const Passage passage = pass_and_count(ring_steps(size_, 1, bytes_of(values)));
  std::vector<float> sum(own.size());
  ODORI_MPI(
      MPI_Reduce_scatter(values.data(), sum.data(), layout(values).counts.data(), MPI_FLOAT, MPI_SUM, handle_->comm));
  std::copy(sum.begin(), sum.end(), own.begin());
}

void Group::reduce_scatter_by_all_to_all(std::span<float> values) const {
  const Passage passage = pass_and_count(all_to_all_steps(size_, bytes_of(values)));
  const Layout sent = layout(values);
  const std::span<float> own = chunk(values, rank_);
  const auto own_count = static_cast<int>(own.size());
  std::vector<float> received(own.size() * static_cast<std::size_t>(size_));
  const std::vector<int> counts(static_cast<std::size_t>(size_), own_count);
  std::vector<int> offsets;
  for (int r = 0; r < size_; ++r) offsets.push_back(r * own_count);
  ODORI_MPI(MPI_Alltoallv(values.data(), sent.counts.data(), sent.offsets.data(), MPI_FLOAT, received.data(),
                          counts.data(), offsets.data(), MPI_FLOAT, handle_->comm));
  std::fill(own.begin(), own.end(), 0.0f);
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += received[r * own.size() + i];
}

void Group::all_gather(std::span<float> values) const {
  const Passage passage = pass_and_count(ring_steps(size_, 1, bytes_of(values)));
  const Layout chunks = layout(values);
  ODORI_MPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_FLOAT, values.data(), chunks.counts.data(), chunks.offsets.data(),
                           MPI_FLOAT, handle_->comm));
}

}  // namespace odori
