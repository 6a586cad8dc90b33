// SPDX-License-Identifier: Apache-2.0
// Defines the emulated NCCL's communicators: of the GPUs of one process (nccl_gpus.cpp) and of ranks (nccl_ranks.cpp).
//
// A collective orders streams no more than it must: a member that only sends continues before the others have called.
// Calls that would block forever in NCCL (outside a group, or missing or different on a member) return an error.
//
// ODORI_EMULATED_NCCL_FAULT=async:1:3 makes the third collective of rank 1 fail after its call has returned. hang:1:3
// makes it run forever, differ:1:3 changes its count. ODORI_EMULATED_NCCL_TIMEOUT is how many seconds ncclCommInitRank
// waits for the other ranks (60); then it names those that are missing.
#pragma once

#include <nccl.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

namespace odori::emulator {

enum class Collective : int { reduce, broadcast, all_reduce };

/// The arguments that must be equal on all members.
struct NcclOperation {
  Collective collective;
  std::size_t count;  // elements
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
  bool operator==(const NcclOperation&) const = default;
  std::size_t element_bytes() const { return type == ncclFloat ? 4 : 2; }
  std::size_t bytes() const { return count * element_bytes(); }
  bool sends(int rank) const { return collective != Collective::broadcast || rank == root; }
  bool receives(int rank) const { return collective != Collective::reduce || rank == root; }
};

/// The call of one member.
struct NcclCall {
  ncclComm_t comm;
  NcclOperation operation;
  const std::byte* input;
  std::byte* output;
  cudaStream_t stream;
  bool sends() const;
  bool receives() const;
};

/// The members of a communicator that belong to this process.
class EmulatedCommunicator {
 public:
  explicit EmulatedCommunicator(const ncclUniqueId& id) : name_(id.internal) {}
  virtual ~EmulatedCommunicator() = default;
  /// Returns a name that is equal on all members, and different for each communicator.
  const std::string& name() const { return name_; }
  /// Queues one collective: `calls` holds the call of each member of this process, made in one group.
  virtual ncclResult_t queue(std::span<const NcclCall> calls) = 0;
  /// Returns the number of members of this process.
  virtual std::size_t local_members() const = 0;
  /// Ends collectives in progress without a result.
  virtual void abort() = 0;

 private:
  std::string name_;
};

/// Connects this rank to those that call with the same id. Collective. On failure sets `result`: ranks are missing or
/// occur twice, disagree about their number, or share a GPU.
std::shared_ptr<EmulatedCommunicator> connect_ranks(ncclComm_t comm, const ncclUniqueId& id, ncclResult_t* result);

/// Computes `count` elements of a member's output from the inputs of all members that send, in rank order. Each partial
/// sum is rounded to the elements' type.
void reduce(const NcclOperation& operation, std::span<const std::byte* const> inputs, int n_ranks, std::size_t count,
            std::byte* output);

/// Stores a message for ncclGetLastError and returns `result`.
ncclResult_t nccl_error(ncclResult_t result, const std::string& message);

}  // namespace odori::emulator

struct ncclComm {
  int rank, size, gpu;
  std::shared_ptr<odori::emulator::EmulatedCommunicator> communicator{};
  std::atomic<ncclResult_t> async_error{ncclSuccess};
  int collectives = 0;  // logged
};

inline bool odori::emulator::NcclCall::sends() const { return operation.sends(comm->rank); }
inline bool odori::emulator::NcclCall::receives() const { return operation.receives(comm->rank); }
