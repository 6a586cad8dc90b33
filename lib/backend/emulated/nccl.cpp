// SPDX-License-Identifier: Apache-2.0
// Implements NCCL's calls and groups.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backend/emulated/machine.h"
#include "backend/emulated/nccl_communicator.h"
#include "backend/emulated/stream.h"

namespace odori::emulator {
namespace {

thread_local int group_depth = 0;
thread_local std::vector<NcclCall> group;
thread_local bool connected_in_group = false;  // by ncclCommInitRank
thread_local std::string last_nccl_error;

const char* name_of(Collective collective) {
  constexpr const char* names[] = {"ncclReduce", "ncclBroadcast", "ncclAllReduce"};
  return names[static_cast<int>(collective)];
}

void log_call(const NcclCall& call) {
  const std::lock_guard lock(state().mutex);
  ncclComm& comm = *call.comm;
  LogEntry entry{.kind = OperationKind::collective,
                 .name = name_of(call.operation.collective),
                 .bytes = call.operation.bytes(),
                 .collective = CollectiveId{comm.communicator->name(), ++comm.collectives, comm.rank, comm.size}};
  if (call.sends()) entry.reads = {{call.input, entry.bytes}};
  if (call.receives()) entry.writes = {{call.output, entry.bytes}};
  log_queued(call.stream, std::move(entry));
}

/// Checks a call and adds it to the group. A call outside a group is a group of its own.
ncclResult_t submit(const NcclCall& call) {
  {
    const std::lock_guard lock(state().mutex);
    if (!call.stream) return nccl_error(ncclInvalidArgument, "collectives on the default stream are not emulated");
    if (!state().streams.contains(call.stream) || call.stream->gpu != call.comm->gpu)
      return nccl_error(ncclInvalidArgument, "the stream belongs to another GPU than the communicator");
    for (const std::byte* memory : {call.input, call.receives() ? call.output : call.input}) {
      const Allocation* found = find_allocation(memory, call.operation.bytes());
      if (call.operation.count > 0 && (!found || found->gpu != call.comm->gpu))
        return nccl_error(ncclInvalidArgument, "the memory does not belong to the communicator's GPU");
    }
  }
  ncclGroupStart();
  group.push_back(call);
  return ncclGroupEnd();
}

/// Queues the calls that a group made on one communicator. The k-th calls of its members form one collective.
ncclResult_t queue_group(EmulatedCommunicator& communicator, const std::vector<NcclCall>& calls) {
  std::map<ncclComm_t, std::vector<NcclCall>> calls_of_member;
  for (const NcclCall& call : calls) calls_of_member[call.comm].push_back(call);
  const NcclCall& first = calls.front();
  for (std::size_t k = 0; k < calls_of_member.at(first.comm).size(); ++k) {
    std::vector<NcclCall> collective;
    for (const auto& [comm, member_calls] : calls_of_member)
      if (k < member_calls.size()) collective.push_back(member_calls[k]);
    if (collective.size() < communicator.local_members())
      return nccl_error(ncclInvalidUsage, std::string(name_of(first.operation.collective)) + " was called for " +
                                              std::to_string(collective.size()) + " of " +
                                              std::to_string(communicator.local_members()) +
                                              " GPUs in one group: it would block forever");
    for (const NcclCall& call : collective)
      if (call.operation != collective.front().operation)
        return nccl_error(ncclInvalidUsage, "the GPUs of one group called different collectives");
    const LogPause pause;
    if (const ncclResult_t result = communicator.queue(collective); result != ncclSuccess) return result;
  }
  for (const NcclCall& call : calls) log_call(call);
  return ncclSuccess;
}

}  // namespace

ncclResult_t nccl_error(ncclResult_t result, const std::string& message) {
  last_nccl_error = message;
  return result;
}

namespace {

float to_float(float x) { return x; }
float to_float(__half x) { return __half2float(x); }
float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
void assign(float& to, float x) { to = x; }
void assign(__half& to, float x) { to = __float2half_rn(x); }
void assign(__nv_bfloat16& to, float x) { to = __float2bfloat16_rn(x); }

template <typename T>
void sum(float factor, std::span<const std::byte* const> inputs, std::size_t count, std::byte* output) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum{}, x{};
    for (const std::byte* const input : inputs) {
      std::memcpy(&x, input + i * sizeof x, sizeof x);
      assign(sum, to_float(sum) + factor * to_float(x));
    }
    std::memcpy(output + i * sizeof sum, &sum, sizeof sum);
  }
}

}  // namespace

void reduce(const NcclOperation& operation, std::span<const std::byte* const> inputs, int n_ranks, std::size_t count,
            std::byte* output) {
  const float factor = operation.op == ncclAvg ? 1.0f / static_cast<float>(n_ranks) : 1.0f;
  const auto sum_of_type = operation.type == ncclFloat  ? sum<float>
                           : operation.type == ncclHalf ? sum<__half>
                                                        : sum<__nv_bfloat16>;
  sum_of_type(factor, inputs, count, output);
}

namespace {

/// Copies a member's input when its stream reaches the collective, so that the stream can continue.
class GpuCommunicator : public EmulatedCommunicator {
 public:
  GpuCommunicator(std::size_t size, const ncclUniqueId& id) : EmulatedCommunicator(id), size_(size) {}
  std::size_t local_members() const override { return size_; }
  void abort() override {}

  ncclResult_t queue(std::span<const NcclCall> calls) override {
    const auto inputs = std::make_shared<std::vector<std::vector<std::byte>>>(size_);
    std::vector<cudaEvent_t> copied;
    for (const NcclCall& call : calls) {
      if (!call.sends()) continue;
      const auto rank = static_cast<std::size_t>(call.comm->rank);
      emulator::queue(call.stream, [inputs, call, rank] {
        (*inputs)[rank].assign(call.input, call.input + call.operation.bytes());
      });
      cudaEventCreate(&copied.emplace_back());
      cudaEventRecord(copied.back(), call.stream);
    }
    for (const NcclCall& call : calls) {
      if (!call.receives()) continue;
      for (const cudaEvent_t event : copied) cudaStreamWaitEvent(call.stream, event);
      emulator::queue(call.stream, [inputs, call, size = call.comm->size] {
        std::vector<const std::byte*> sent;
        for (int rank = 0; rank < size; ++rank)
          if (call.operation.sends(rank)) sent.push_back((*inputs)[static_cast<std::size_t>(rank)].data());
        reduce(call.operation, sent, size, call.operation.count, call.output);
      });
    }
    for (const cudaEvent_t event : copied) cudaEventDestroy(event);
    return ncclSuccess;
  }

 private:
  std::size_t size_;
};

}  // namespace
}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int n_devices, const int* devices) {
  if (std::set(devices, devices + n_devices).size() < static_cast<std::size_t>(n_devices))
    return nccl_error(ncclInvalidUsage, "Duplicate GPU detected");
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  const auto communicator = std::make_shared<GpuCommunicator>(n_devices, id);
  for (int i = 0; i < n_devices; ++i) comms[i] = new ncclComm{i, n_devices, devices[i], communicator};
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int n_ranks, ncclUniqueId id, int rank) {
  if (group_depth > 0 && std::exchange(connected_in_group, true))
    return nccl_error(ncclInvalidUsage, "a second ncclCommInitRank in one group is not emulated");
  if (rank < 0 || rank >= n_ranks)
    return nccl_error(ncclInvalidArgument, "rank " + std::to_string(rank) + " of " + std::to_string(n_ranks) +
                                               " ranks: the rank must be from 0 to the number of ranks minus 1");
  auto connecting = std::make_unique<ncclComm>(rank, n_ranks, current_gpu());
  ncclResult_t result = ncclSuccess;
  connecting->communicator = connect_ranks(connecting.get(), id, &result);
  if (result == ncclSuccess) *comm = connecting.release();
  return result;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (!comm) return nccl_error(ncclInvalidArgument, "the communicator is null");
  *count = comm->size;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (!comm) return nccl_error(ncclInvalidArgument, "the communicator is null");
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm) return nccl_error(ncclInvalidArgument, "the communicator is null");
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!comm) return nccl_error(ncclInvalidArgument, "the communicator is null");
  comm->communicator->abort();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  *error = comm->async_error;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* descriptions[] = {"no error",
                                          "unhandled cuda error",
                                          "unhandled system error",
                                          "internal error",
                                          "invalid argument",
                                          "invalid usage",
                                          "remote process exited or there was a network error",
                                          "NCCL operation in progress"};
  return descriptions[result];
}
const char* ncclGetLastError(ncclComm_t) { return last_nccl_error.c_str(); }

ncclResult_t ncclGroupStart() {
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group_depth == 0) return nccl_error(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--group_depth > 0) return ncclSuccess;
  connected_in_group = false;
  const std::vector<NcclCall> calls = std::exchange(group, {});
  std::vector<std::shared_ptr<EmulatedCommunicator>> communicators;  // in the order of their first calls
  for (const NcclCall& call : calls)
    if (std::find(communicators.begin(), communicators.end(), call.comm->communicator) == communicators.end())
      communicators.push_back(call.comm->communicator);
  for (const auto& communicator : communicators) {
    std::vector<NcclCall> its_calls;
    for (const NcclCall& call : calls)
      if (call.comm->communicator == communicator) its_calls.push_back(call);
    if (const ncclResult_t result = queue_group(*communicator, its_calls); result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

ncclResult_t ncclReduce(const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return submit({comm,
                 {Collective::reduce, count, type, op, root},
                 static_cast<const std::byte*>(input),
                 static_cast<std::byte*>(output),
                 stream});
}
ncclResult_t ncclBroadcast(const void* input, void* output, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return submit({comm,
                 {Collective::broadcast, count, type, ncclSum, root},
                 static_cast<const std::byte*>(input),
                 static_cast<std::byte*>(output),
                 stream});
}
ncclResult_t ncclAllReduce(const void* input, void* output, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return submit({comm,
                 {Collective::all_reduce, count, type, op, 0},
                 static_cast<const std::byte*>(input),
                 static_cast<std::byte*>(output),
                 stream});
}
}
