// Calls, groups, and communicators of GPUs of one process.
#include "backend/emulated/nccl.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

thread_local int group_depth = 0;
thread_local std::vector<NcclCall> group;
thread_local std::string last_words;

const char* name_of(Collective what) {
  constexpr const char* names[] = {"ncclReduce", "ncclBroadcast", "ncclAllReduce"};
  return names[static_cast<int>(what)];
}

/// Members of one process, one a GPU. What a member gives is copied when its stream comes to that, so that it can go
/// on.
class GpuCommunicator : public EmulatedCommunicator {
 public:
  explicit GpuCommunicator(std::size_t n) : n_(n) {}
  std::size_t members_here() const override { return n_; }
  void abort(ncclComm_t) override {}

  ncclResult_t queue(std::span<const NcclCall> calls) override {
    const auto given = std::make_shared<std::vector<std::vector<std::byte>>>(n_);
    std::vector<cudaEvent_t> events;
    for (const NcclCall& call : calls) {
      const auto rank = static_cast<std::size_t>(call.comm->rank);
      if (!call.gives(call.comm->rank)) continue;
      emulator::queue(call.stream, [given, call, rank] { (*given)[rank].assign(call.from, call.from + call.bytes()); });
      cudaEventCreate(&events.emplace_back());
      cudaEventRecord(events.back(), call.stream);
    }
    for (const NcclCall& call : calls) {
      if (!call.takes(call.comm->rank)) continue;
      for (const cudaEvent_t event : events) cudaStreamWaitEvent(call.stream, event);
      emulator::queue(call.stream, [given, call] {
        std::vector<const std::byte*> parts;
        for (const auto& part : *given)
          if (call.what != Collective::broadcast || !part.empty()) parts.push_back(part.data());
        if (call.count > 0) combine(call, parts, call.comm->size, call.count, call.to);
      });
    }
    for (const cudaEvent_t event : events) cudaEventDestroy(event);
    return ncclSuccess;
  }

 private:
  std::size_t n_;
};

ncclResult_t call(const NcclCall& call) {
  const bool takes = call.takes(call.comm->rank);
  {
    const std::lock_guard lock(state().mutex);
    if (!state().streams.contains(call.stream) || call.stream->gpu != call.comm->gpu)
      return nccl_failed(ncclInvalidArgument, "the stream is of another GPU than the communicator");
    for (const void* memory : {call.from, static_cast<const std::byte*>(takes ? call.to : call.from)}) {
      const Allocation* found = find_allocation(memory, call.bytes());
      if (call.count > 0 && (!found || found->gpu != call.comm->gpu))
        return nccl_failed(ncclInvalidArgument, "the memory is not of the communicator's GPU");
    }
  }
  ncclGroupStart();
  group.push_back(call);
  return ncclGroupEnd();
}

/// Queues what one communicator was called for in a group: its members' k-th calls belong together.
ncclResult_t queue_group(EmulatedCommunicator& communicator, const std::vector<NcclCall>& calls) {
  std::map<ncclComm_t, std::vector<NcclCall>> of_member;
  for (const NcclCall& one : calls) of_member[one.comm].push_back(one);
  const NcclCall& first = calls.front();
  for (std::size_t k = 0; k < of_member.at(first.comm).size(); ++k) {
    std::vector<NcclCall> together;
    for (const auto& [comm, its] : of_member)
      if (k < its.size()) together.push_back(its[k]);
    if (together.size() < communicator.members_here())
      return nccl_failed(ncclInvalidUsage, std::string(name_of(first.what)) + " is called for " +
                                               std::to_string(together.size()) + " of " +
                                               std::to_string(communicator.members_here()) +
                                               " GPUs in one group: it would wait for ever");
    for (const NcclCall& one : together)
      if (!one.same_as(together.front()))
        return nccl_failed(ncclInvalidUsage, "the GPUs of one group were called for different things");
    if (const ncclResult_t result = communicator.queue(together); result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

}  // namespace

namespace {

float to_float(float x) { return x; }
float to_float(__half x) { return __half2float(x); }
float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
void assign(float& to, float x) { to = x; }
void assign(__half& to, float x) { to = __float2half_rn(x); }
void assign(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

template <typename T>
void combine_all(float factor, std::span<const std::byte* const> given, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum{}, part{};
    for (const std::byte* const from : given) {
      std::memcpy(&part, from + i * sizeof part, sizeof part);
      assign(sum, to_float(sum) + factor * to_float(part));
    }
    std::memcpy(to + i * sizeof sum, &sum, sizeof sum);
  }
}

}  // namespace

void combine(const NcclCall& call, std::span<const std::byte* const> given, int n_ranks, std::size_t count,
             std::byte* to) {
  const float factor = call.op == ncclAvg ? 1.0f / static_cast<float>(n_ranks) : 1.0f;
  const auto work = call.type == ncclFloat  ? combine_all<float>
                    : call.type == ncclHalf ? combine_all<__half>
                                            : combine_all<__nv_bfloat16>;
  work(factor, given, count, to);
}

ncclResult_t nccl_failed(ncclResult_t result, const std::string& words) {
  last_words = words;
  return result;
}

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int n_devices, const int* devices) {
  if (std::set(devices, devices + n_devices).size() < static_cast<std::size_t>(n_devices))
    return nccl_failed(ncclInvalidUsage, "Duplicate GPU detected");
  const auto communicator = std::make_shared<GpuCommunicator>(static_cast<std::size_t>(n_devices));
  for (int i = 0; i < n_devices; ++i) comms[i] = new ncclComm{i, n_devices, devices[i], communicator};
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int n_ranks, ncclUniqueId id, int rank) {
  if (group_depth > 0) return nccl_failed(ncclInvalidUsage, "ranks can't be joined inside a group");
  auto joining = std::make_unique<ncclComm>(rank, n_ranks, current_gpu());
  ncclResult_t result = ncclSuccess;
  joining->communicator = join_ranks(joining.get(), id, &result);
  if (result == ncclSuccess) *comm = joining.release();
  return result;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm) return nccl_failed(ncclInvalidArgument, "there is no communicator");
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!comm) return nccl_failed(ncclInvalidArgument, "there is no communicator");
  comm->communicator->abort(comm);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  *error = comm->async;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* words[] = {"no error",
                                   "unhandled cuda error",
                                   "unhandled system error",
                                   "internal error",
                                   "invalid argument",
                                   "invalid usage",
                                   "remote process exited or there was a network error",
                                   "NCCL operation in progress"};
  return words[result];
}
const char* ncclGetLastError(ncclComm_t) { return last_words.c_str(); }

ncclResult_t ncclGroupStart() {
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group_depth == 0) return nccl_failed(ncclInvalidUsage, "ncclGroupEnd without an ncclGroupStart");
  if (--group_depth > 0) return ncclSuccess;
  const std::vector<NcclCall> calls = std::exchange(group, {});
  std::vector<std::shared_ptr<EmulatedCommunicator>> communicators;  // in the order of their first calls
  for (const NcclCall& one : calls)
    if (std::find(communicators.begin(), communicators.end(), one.comm->communicator) == communicators.end())
      communicators.push_back(one.comm->communicator);
  for (const auto& communicator : communicators) {
    std::vector<NcclCall> its;
    for (const NcclCall& one : calls)
      if (one.comm->communicator == communicator) its.push_back(one);
    if (const ncclResult_t result = queue_group(*communicator, its); result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call({comm, Collective::reduce, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), count, type,
               op, root, stream});
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return call({comm, Collective::broadcast, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), count,
               type, ncclSum, root, stream});
}
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call({comm, Collective::all_reduce, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), count,
               type, op, 0, stream});
}
}
