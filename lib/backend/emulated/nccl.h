// An emulated NCCL: communicators of GPUs of one process (nccl.cpp), and of ranks (nccl_ranks.cpp).
//
// It is unkind as the emulated GPU is. A collective orders no more than it has to: whoever only gives may go on before
// the others have come. Calls that would wait for ever in NCCL (no group, a missing or different call) are errors.
//
// ODORI_EMULATED_NCCL_FAULT=async:1:3 lets the third collective of rank 1 fail behind its call; hang:1:3 lets it never
// end; differ:1:3 gives it another count.
#pragma once

#include <nccl.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace odori::emulator {

enum class Collective : int { reduce, broadcast, all_reduce };

/// One member's call.
struct NcclCall {
  ncclComm_t comm;
  Collective what;
  const std::byte* from;
  std::byte* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int root;
  cudaStream_t stream;
  bool same_as(const NcclCall& other) const {
    return what == other.what && count == other.count && type == other.type && op == other.op && root == other.root;
  }
  std::size_t bytes_of_one() const { return type == ncclFloat ? 4 : 2; }
  std::size_t bytes() const { return count * bytes_of_one(); }
  bool gives(int rank) const { return what != Collective::broadcast || rank == root; }
  bool takes(int rank) const { return what != Collective::reduce || rank == root; }
};

/// All members that one process holds.
class EmulatedCommunicator {
 public:
  virtual ~EmulatedCommunicator() = default;
  /// The k-th calls of one group, one a member of this process.
  virtual ncclResult_t queue(std::span<const NcclCall> calls) = 0;
  /// How many members have to call in one group.
  virtual std::size_t members_here() const = 0;
  /// Collectives that are under way come to nothing.
  virtual void abort(ncclComm_t comm) = 0;
};

/// What a member takes, of what all who give have given: in the order of their ranks, each sum rounded to the numbers'
/// type.
void combine(const NcclCall& call, std::span<const std::byte* const> given, int n_ranks, std::size_t count,
             std::byte* to);

/// For ncclGetLastError.
ncclResult_t nccl_failed(ncclResult_t result, const std::string& words);

std::shared_ptr<EmulatedCommunicator> join_ranks(ncclComm_t comm, const ncclUniqueId& id, ncclResult_t* result);

}  // namespace odori::emulator

struct ncclComm {
  int rank, size, gpu;
  std::shared_ptr<odori::emulator::EmulatedCommunicator> communicator{};
  std::atomic<ncclResult_t> async{ncclSuccess};
};
