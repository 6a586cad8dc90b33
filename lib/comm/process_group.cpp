// SPDX-License-Identifier: Apache-2.0
#include "comm/process_group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/background.h"
#include "comm/collective.h"
#include "comm/group.h"
#include "errors/error.h"
#include "observe/refusal.h"
#include "trace/trace.h"

namespace odori {

struct ProcessGroup::Members {
  explicit Members(Group its_group) : group(std::move(its_group)) {}
  Group group;
  std::optional<Background> background;  // from the first asynchronous call on
};

namespace {

/// Reports the call to the watchdog, the event stream and the observer, and compares it over all ranks. Of some of the
/// ranks it is none that all ranks make.
struct GroupCall {
  GroupCall(const Group& group, const CollectiveCall& plan, const char* kind, std::size_t bytes)
      : span(kind, bytes),
        scope(plan.name, plan.site),
        blocking(group.is_whole_job()
                     ? rank_table::Call{.name = plan.name, .site = plan.site}
                     : rank_table::Call{plan.name, rank_table::several, rank_table::several, plan.site}) {
    group.agree(plan);
  }
  trace::Span span;  // first: the wait for the last rank is in it
  observe::CollectiveScope scope;
  BlockingCall blocking;
};

CollectiveCall plan_of(const char* name, CallSite site, std::span<const float> values, int root = -1) {
  return {name, site, static_cast<std::int64_t>(values.size()), root};
}

void check_shard(const Group& group, const char* call, std::size_t shard, std::size_t values) {
  const std::size_t expected = group.range_of(values, group.rank()).size();
  refusal::require(refusal::other_length, shard == expected,
                   "{}: rank {} gave a shard of {} elements, but its shard of {} has {}. Ask the group: shard({}).",
                   call, group.ranks()[static_cast<std::size_t>(group.rank())], shard, values, expected, values);
}

void gather(const Group& group, std::span<const float> shard, std::span<float> values, CallSite site) {
  const GroupCall call(group, plan_of("all_gather()", site, values), "allgather", values.size_bytes());
  const std::span<float> place = group.chunk(values, group.rank());
  if (shard.data() != place.data()) std::ranges::copy(shard, place.begin());
  group.all_gather(values);
}

}  // namespace

Work::Work(std::shared_ptr<Background> background, std::int64_t ticket) noexcept
    : background_(std::move(background)), ticket_(ticket) {}

Work::~Work() {
  if (background_) background_->wait_quietly(ticket_);
}

void Work::wait() { background_->wait(ticket_); }

ProcessGroup::ProcessGroup(Group group) : members_(std::make_shared<Members>(std::move(group))) {}

int ProcessGroup::rank() const { return members_->group.rank(); }
int ProcessGroup::size() const { return members_->group.size(); }
const std::vector<int>& ProcessGroup::ranks_of_job() const { return members_->group.ranks(); }
Range ProcessGroup::shard(std::size_t n, int r) const { return members_->group.range_of(n, r); }

ProcessGroup ProcessGroup::split(int color, CallSite site) const {
  require(color >= 0, "split: rank {} gave the color {}, but colors are 0 or greater.", rank(), color);
  const GroupCall call(members_->group, {"split()", site}, "split", 0);
  return ProcessGroup(members_->group.split(color, rank()));
}

void ProcessGroup::all_reduce(std::span<float> values, CallSite site) const {
  const GroupCall call(members_->group, plan_of("all_reduce()", site, values), "allreduce", values.size_bytes());
  members_->group.all_reduce(values);
}

void ProcessGroup::reduce_scatter_mean(std::span<const float> values, std::span<float> shard, CallSite site) const {
  const Group& group = members_->group;
  check_shard(group, "reduce_scatter_mean", shard.size(), values.size());
  const GroupCall call(group, plan_of("reduce_scatter_mean()", site, values), "reduce", values.size_bytes());
  group.reduce_scatter(values, shard);
  for (float& value : shard) value *= 1.0f / static_cast<float>(group.size());
}

void ProcessGroup::all_gather(std::span<const float> shard, std::span<float> values, CallSite site) const {
  check_shard(members_->group, "all_gather", shard.size(), values.size());
  gather(members_->group, shard, values, site);
}

Work ProcessGroup::all_gather_async(std::span<const float> shard, std::span<float> values, CallSite site) const {
  check_shard(members_->group, "all_gather_async", shard.size(), values.size());
  if (!members_->background) members_->background.emplace();
  Background& background = *members_->background;
  const std::int64_t ticket =
      background.start([&group = members_->group, shard, values, site] { gather(group, shard, values, site); });
  return {std::shared_ptr<Background>(members_, &background), ticket};  // keeps the group as well
}

void ProcessGroup::broadcast(std::span<float> values, int root, CallSite site) const {
  require(0 <= root && root < size(), "broadcast: rank {} names the root {}, but the ranks of this group are 0 to {}.",
          rank(), root, size() - 1);
  const GroupCall call(members_->group, plan_of("broadcast()", site, values, root), "broadcast", values.size_bytes());
  members_->group.broadcast(values, root);
}

}  // namespace odori
