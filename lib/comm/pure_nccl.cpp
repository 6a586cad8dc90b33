// SPDX-License-Identifier: Apache-2.0
// pure_nccl: NCCL's all-reduce of the flat vector, from GPU to GPU.
//
//   rank 0 creates NCCL's unique id, MPI broadcasts it; each rank joins with its GPU       (once, at the first use)
//   all-reduce the flat vector in place (mean; NCCL picks ring or tree, and the transport)
//
// In 16 bits (all_reduce_mean_in): pack the elements times 1/P, all-reduce them (sum), and unpack.
//
// The all-reduce is queued on a separate stream, after the device's earlier work and before its later work. No host
// waits, except in 16 bits for the number of infinite or NaN elements of the mean. Bytes that a rank sends: at least
// 2 E (P-1)/P, E the bytes of all gradients (the bound: see naive.cpp).
// Source: ChainerMN's PureNcclCommunicator, which packs gradients into a buffer first.
#include <fmt/ranges.h>

#include <cstdlib>

#include "backend/gpu_plugin.h"
#include "backend/nccl_group.h"
#include "comm/algorithm.h"
#include "comm/collective.h"
#include "comm/node.h"
#include "errors/error.h"
#include "files/lock.h"
#include "trace/trace.h"

namespace odori {
namespace {

void require_nccl() {
  if (gpu_plugin()) return;
  std::vector<std::string> others = communicator_names();
  std::erase(others, "pure_nccl");
  throw CannotBeUsed(
      {fmt::format("The communicator pure_nccl needs GPUs and NCCL, but {} Or use one of the others: {}.", why_no_gpu(),
                   fmt::join(others, ", ")),
       fmt::format("pure_nccl には GPU と NCCL が必要ですが、使えません: "
                   "{}または、ほかのコミュニケータ（{}）を使ってください。",
                   why_no_gpu(), fmt::join(others, "、"))});
}

/// NCCL refuses two ranks on one GPU of one host. To it, hosts are what NCCL_HOSTID says, which it reads once, before
/// its first call: ranks on one GPU become ranks of several hosts, and speak through sockets.
void play_several_hosts(int position) {
  constexpr int keep_the_users = 0;
  ::setenv("NCCL_HOSTID", fmt::format("{}-{}", this_host(), position).c_str(), keep_the_users);
}

std::span<float> all_of(Buffer& values) { return {values.data(), values.size()}; }

class PureNcclCommunicator : public MpiCommunicator {
 public:
  PureNcclCommunicator() {
    if (!link().empty())
      throw CannotBeUsed(
          {"The communicator pure_nccl can't send over a simulated link (ODORI_LINK): NCCL takes ways of its own. Use "
           "another one, such as hierarchical, or unset ODORI_LINK.",
           "pure_nccl はシミュレートした回線（ODORI_LINK）では使えません。NCCL が自分で通信するためです。"
           "hierarchical などを使うか、ODORI_LINK を外してください。"});
  }
  std::string name() const override { return "pure_nccl"; }

  void all_reduce_mean(Device& device, Buffer& gradients, std::span<const Range> pieces) override {
    const Range range = range_of(gradients, pieces);
    const trace::Span span("allreduce", range.size() * bytes_of(dtype()));
    const Collective call({"comm->all_reduce_mean()"});
    const std::span<float> values(gradients.data() + range.begin, range.size());
    if (dtype() == Dtype::fp32)
      nccl(device).all_reduce(device, values, NcclGroup::ReduceOp::mean);
    else
      count_not_finite(nccl(device).all_reduce_mean_in(dtype(), device, values));
  }

  void reduce_scatter_mean(Device& device, Buffer& gradients) override {
    const trace::Span span("reduce", gradients.bytes());
    const Collective call({"comm->reduce_scatter_mean()"});
    nccl(device).reduce_scatter(device, all_of(gradients), world().parts(gradients.size()), NcclGroup::ReduceOp::mean);
  }

  void all_gather_shards(Device& device, Buffer& values) override {
    const trace::Span span("allgather", values.bytes());
    const Collective call({"comm->all_gather_shards()"});
    nccl(device).all_gather(device, all_of(values), world().parts(values.size()));
  }

  using MpiCommunicator::broadcast;
  void broadcast(Device& device, Buffer& values, int root) override {
    const trace::Span span("broadcast", values.bytes());
    const Collective call({"comm->broadcast()"});
    nccl(device).broadcast(device, all_of(values), root);
  }

 private:
  /// It is made when it is first needed: programs make their communicator before they choose a device.
  NcclGroup& nccl(Device& device) {
    require(device.kind() == DeviceKind::cuda,
            "The communicator pure_nccl works on GPUs, but the model of rank {} is on {}. Use --communicator flat.",
            rank(), device.description());
    if (nccl_) return *nccl_;
    const DeviceSharing sharing = find_sharing(*this, device);
    if (sharing.any) {
      play_several_hosts(sharing.position);
      if (rank() == 0)
        fmt::print(
            "Ranks share a GPU: NCCL takes them for ranks of several hosts (NCCL_HOSTID), which speak through sockets. "
            "A "
            "speedup measured here is INCONCLUSIVE.\n");
    }
    nccl_ = gpu_plugin()->make_nccl_group(device, size(), rank(), [this](auto id) { broadcast(id, 0); });
    return *nccl_;
  }

  std::unique_ptr<NcclGroup> nccl_;
};

const Algorithm pure_nccl_algorithm{
    "pure_nccl", make<PureNcclCommunicator>,
    [](const cost::Cluster& cluster, const cost::Gradients& gradients) -> std::optional<double> {
      return cost::faster(cluster, gradients.bytes);
    },
    Algorithm::Takes::half_precision_too, require_nccl};

}  // namespace
}  // namespace odori
