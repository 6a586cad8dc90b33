// SPDX-License-Identifier: Apache-2.0
// Parsers for the output of other programs about a machine. They run nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace odori::doctor {

struct Gpu {
  int index = 0;
  std::string name;
  double memory_gib = 0;
  std::string compute_capability;  // "9.0"
  bool operator==(const Gpu&) const = default;
};
/// Parses lines of `nvidia-smi --query-gpu=index,name,memory.total,compute_cap --format=csv,noheader,nounits` (memory
/// in MiB).
std::vector<Gpu> parse_gpus(const std::string& text);

struct Driver {
  std::string version;  // "580.159.03"
  std::string cuda;     // the latest CUDA that it can run: "13.0"
  bool operator==(const Driver&) const = default;
};
/// Parses the header that `nvidia-smi` prints. Returns nothing if there is none.
std::optional<Driver> parse_driver(const std::string& text);

/// Connection of two GPUs, as in `nvidia-smi topo -m`: NV18 (18 NVLinks), PIX, PXB, PHB, NODE, SYS (over PCIe, from
/// near to far).
struct Link {
  int from = 0, to = 0;  // from < to
  std::string kind;
  bool operator==(const Link&) const = default;
};
struct NearGpu {
  int gpu = 0;
  std::string cores;      // "0-55,112-167"
  std::string numa_node;  // "0"
  bool operator==(const NearGpu&) const = default;
};
struct Topology {
  std::vector<Link> links;
  std::vector<NearGpu> near;
};
/// Parses the output of `nvidia-smi topo -m`.
Topology parse_topology(const std::string& text);

struct Binding {
  int rank = 0;
  int cores = 0;  // 0: not bound
  bool operator==(const Binding&) const = default;
};
/// Parses the output of `mpirun --report-bindings` of Open MPI 4 ("MCW rank 0 bound to socket 0[core 0[hwt 0-1]]:
/// [BB/..]") or 5 ("Rank 0 bound to package[0][core:0-3]").
std::vector<Binding> parse_bindings(const std::string& text);

/// Returns "Open MPI 4.1.4" from the output of `mpirun --version`; empty for another MPI.
std::string parse_mpi_version(const std::string& text);
/// Returns whether `ompi_info --parsable --all` reports CUDA support; nothing if it does not say.
std::optional<bool> parse_cuda_aware(const std::string& text);

struct NcclRun {
  std::string version;                    // "2.28.9"
  std::map<std::string, int> transports;  // number of channels over P2P, SHM, NET/IB, NET/Socket
  std::vector<std::string> warnings;      // NCCL's warnings, verbatim
};
/// Parses NCCL's output with NCCL_DEBUG=INFO.
NcclRun parse_nccl(const std::string& text);

/// A copy from one GPU of this machine to another.
struct GpuCopy {
  int from = 0, to = 0;
  double gb_per_second = 0;  // copying 1 MB at a time; 10^9 bytes/s
  bool right = false;        // the data arrived unchanged
  bool operator==(const GpuCopy&) const = default;
};
/// Parses lines of copy_between_gpus(): "GPU 0 to GPU 1: 12.345 GB/s, right".
std::vector<GpuCopy> parse_gpu_copies(const std::string& text);

/// Parses integers, one per line, from `nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits`.
std::vector<int> parse_percents(const std::string& text);

/// Returns 13 for "13.0"; 0 for any other text.
int major_version(const std::string& version);

}  // namespace odori::doctor
