// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/nccl_communicators.h"

#include <exception>

#include "errors/error.h"

namespace odori::cuda {
namespace {

/// NCCL's own words, with those of its last warning where it gave one.
std::string words_of(ncclResult_t result) {
  const char* last = ncclGetLastError(nullptr);
  return last && *last ? fmt::format("{} ({})", ncclGetErrorString(result), last) : ncclGetErrorString(result);
}

const Text advice{
    "Either a device or rank doesn't take part in it (all have to make the same calls), or a link between them doesn't "
    "work. NCCL_DEBUG=INFO shows what NCCL does; NCCL_P2P_DISABLE=1 does without the direct links between GPUs, which "
    "hang on some machines.",
    "参加していないデバイスやランクがあるか（すべてが同じ呼び出しを行う必要があります）、その間の接続に問題があります。"
    "NCCL_DEBUG=INFO で NCCL の動きを表示できます。GPU 間の直接接続で止まるマシンでは NCCL_P2P_DISABLE=1 "
    "を試してください。"};

}  // namespace

void check(ncclResult_t result, const char* doing) {
  if (result == ncclSuccess) return;
  fail("NCCL failed while {}: {}. NCCL_DEBUG=INFO shows what it did.", doing, words_of(result));
}

NcclCommunicators::NcclCommunicators(std::size_t n, const Text& work)
    : comms_(n),
      watch_(
          std::make_unique<Watchdog>(Watchdog::Words{work, advice}, watchdog_limit(), [this] { return failure(); })) {}

NcclCommunicators::NcclCommunicators(std::span<const int> ordinals)
    : NcclCommunicators(ordinals.size(), Text{"NCCL's exchange between the GPUs", "NCCL による GPU 間の通信"}) {
  const Watchdog::During connecting(*watch_);
  check(ncclCommInitAll(comms_.data(), static_cast<int>(ordinals.size()), ordinals.data()), "connecting the GPUs");
  const std::lock_guard lock(mutex_);
  connected_ = true;
}

NcclCommunicators::NcclCommunicators(int n_ranks, const ncclUniqueId& id, int rank)
    : NcclCommunicators(1, Text{"NCCL's exchange between the ranks", "NCCL によるランク間の通信"}) {
  const Watchdog::During connecting(*watch_);
  check(ncclCommInitRank(comms_.data(), n_ranks, id, rank), "connecting the ranks");
  const std::lock_guard lock(mutex_);
  connected_ = true;
}

NcclCommunicators::~NcclCommunicators() {
  const bool failed = std::uncaught_exceptions() > 0;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(connected_, false)) return;
  }
  const Watchdog::During ending(*watch_);
  for (const ncclComm_t comm : comms_) static_cast<void>(failed ? ncclCommAbort(comm) : ncclCommDestroy(comm));
  static_cast<void>(cudaStreamSynchronize(progress_.get()));  // its host functions use the watchdog
}

void NcclCommunicators::queue(const char* doing, cudaStream_t followed,
                              const std::function<ncclResult_t(ncclComm_t, std::size_t)>& call) {
  const Watchdog::During queueing(*watch_);  // the first exchange connects GPUs, and waits for the others
  check(ncclGroupStart(), doing);
  ncclResult_t result = ncclSuccess;
  for (std::size_t i = 0; i < comms_.size() && result == ncclSuccess; ++i) result = call(comms_[i], i);
  const ncclResult_t ended = ncclGroupEnd();  // also after an error: all that follows would belong to the group
  check(result == ncclSuccess ? ended : result, doing);

  check(cudaEventRecord(queued_.get(), followed), doing);
  check(cudaStreamWaitEvent(progress_.get(), queued_.get()), doing);
  watch_->begin();
  check(cudaLaunchHostFunc(
            progress_.get(), [](void* watch) { static_cast<Watchdog*>(watch)->end(); }, watch_.get()),
        doing);
}

std::string NcclCommunicators::failure() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; connected_ && i < comms_.size(); ++i) {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(comms_[i], &state);
    const ncclResult_t result = asked != ncclSuccess ? asked : state;
    if (result != ncclSuccess && result != ncclInProgress)
      return fmt::format(
          "NCCL failed: {}. Another rank may have ended, or a link between GPUs or nodes is broken. "
          "NCCL_DEBUG=INFO shows what it did.",
          words_of(result));
  }
  return {};
}

}  // namespace odori::cuda
