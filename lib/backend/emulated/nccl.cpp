// SPDX-License-Identifier: Apache-2.0
// Implements NCCL's calls and groups.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backend/emulated/memory.h"
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

}  // namespace odori::emulator

using namespace odori::emulator;

extern "C" {

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int n_devices, const int* devices) {
  if (std::set(devices, devices + n_devices).size() < static_cast<std::size_t>(n_devices))
    return nccl_error(ncclInvalidUsage, "Duplicate GPU detected");
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  const auto communicator = connect_gpus(static_cast<std::size_t>(n_devices), id);
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
