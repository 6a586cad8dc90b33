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

/// Reports the call to the watch, the event stream and the observer. Of some of the ranks it is none that all ranks
/// make.
struct GroupCall {
  GroupCall(const Group& group, const char* name, const char* kind, std::size_t bytes)
      : scope(name),
        exchange(group.is_whole_job() ? rank_table::Call{name}
                                      : rank_table::Call{name, rank_table::several, rank_table::several}),
        span(kind, bytes) {}
  observe::CollectiveScope scope;
  Exchange exchange;
  trace::Span span;
};

enum class Kind : std::int64_t { all_reduce, reduce_scatter_mean, all_gather, broadcast, split };
constexpr const char* names[] = {"all_reduce", "reduce_scatter_mean", "all_gather", "broadcast", "split"};

/// What a rank is about to do. Compared over all ranks before anything else is sent.
struct Plan {
  Kind kind;
  std::int64_t length = 0, root = 0;
};

/// Throws Error on every rank unless all ranks plan the same. Collective.
void agree(const Group& group, const Plan& own) {
  const std::vector<Plan> all = group.all_gather_plain(own);
  const auto differing = [&](auto Plan::*member) {
    const auto differs = [&](const Plan& plan) { return plan.*member != all.front().*member; };
    return static_cast<std::size_t>(std::ranges::find_if(all, differs) - all.begin());
  };
  const auto job_rank = [&](std::size_t r) { return group.ranks()[r]; };
  const char* const name = names[static_cast<std::size_t>(all.front().kind)];
  if (const std::size_t r = differing(&Plan::kind); r < all.size())
    fail(
        "The ranks of one group make different calls: rank {} {}, rank {} {}. All ranks have to make the same calls in "
        "the same order.",
        job_rank(0), name, job_rank(r), names[static_cast<std::size_t>(all[r].kind)]);
  if (const std::size_t r = differing(&Plan::length); r < all.size())
    refusal::require(refusal::other_length, false,
                     "{}: rank {} gave {} elements, and rank {} gave {}. Give the same number on every rank.", name,
                     job_rank(0), all.front().length, job_rank(r), all[r].length);
  if (const std::size_t r = differing(&Plan::root); r < all.size())
    fail("{}: rank {} names the root {}, and rank {} names {}. Name the same root on every rank.", name, job_rank(0),
         all.front().root, job_rank(r), all[r].root);
}

void check_shard(const Group& group, const char* call, std::size_t shard, std::size_t values) {
  const std::size_t expected = group.range_of(values, group.rank()).size();
  refusal::require(refusal::other_length, shard == expected,
                   "{}: rank {} gave a shard of {} elements, but its shard of {} has {}. Ask the group: shard({}).",
                   call, group.ranks()[static_cast<std::size_t>(group.rank())], shard, values, expected, values);
}

void gather(const Group& group, std::span<const float> shard, std::span<float> values) {
  const GroupCall call(group, "all_gather()", "allgather", values.size_bytes());
  agree(group, {Kind::all_gather, static_cast<std::int64_t>(values.size())});
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

ProcessGroup ProcessGroup::split(int color) const {
  require(color >= 0, "split: rank {} gave the color {}, but colors are 0 or greater.", rank(), color);
  const GroupCall call(members_->group, "split()", "split", 0);
  agree(members_->group, {Kind::split});
  return ProcessGroup(members_->group.split(color, rank()));
}

void ProcessGroup::all_reduce(std::span<float> values) const {
  const GroupCall call(members_->group, "all_reduce()", "allreduce", values.size_bytes());
  agree(members_->group, {Kind::all_reduce, static_cast<std::int64_t>(values.size())});
  members_->group.sum(values);
}

void ProcessGroup::reduce_scatter_mean(std::span<const float> values, std::span<float> shard) const {
  const Group& group = members_->group;
  check_shard(group, "reduce_scatter_mean", shard.size(), values.size());
  const GroupCall call(group, "reduce_scatter_mean()", "reduce", values.size_bytes());
  agree(group, {Kind::reduce_scatter_mean, static_cast<std::int64_t>(values.size())});
  group.reduce_scatter(values, shard);
  for (float& value : shard) value *= 1.0f / static_cast<float>(group.size());
}

void ProcessGroup::all_gather(std::span<const float> shard, std::span<float> values) const {
  check_shard(members_->group, "all_gather", shard.size(), values.size());
  gather(members_->group, shard, values);
}

Work ProcessGroup::all_gather_async(std::span<const float> shard, std::span<float> values) const {
  check_shard(members_->group, "all_gather_async", shard.size(), values.size());
  if (!members_->background) members_->background.emplace();
  Background& background = *members_->background;
  const std::int64_t ticket =
      background.start([&group = members_->group, shard, values] { gather(group, shard, values); });
  return {std::shared_ptr<Background>(members_, &background), ticket};  // keeps the group as well
}

void ProcessGroup::broadcast(std::span<float> values, int root) const {
  require(0 <= root && root < size(), "broadcast: rank {} names the root {}, but the ranks of this group are 0 to {}.",
          rank(), root, size() - 1);
  const GroupCall call(members_->group, "broadcast()", "broadcast", values.size_bytes());
  agree(members_->group, {Kind::broadcast, static_cast<std::int64_t>(values.size()), root});
  members_->group.broadcast(values, root);
}

}  // namespace odori
