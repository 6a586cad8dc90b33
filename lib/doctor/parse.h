// SPDX-License-Identifier: Apache-2.0
// What other programs say about a machine, read from their text. Nothing is run here.
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
/// Lines of `nvidia-smi --query-gpu=index,name,memory.total,compute_cap --format=csv,noheader,nounits` (memory in MiB).
std::vector<Gpu> parse_gpus(const std::string& text);

struct Driver {
  std::string version;  // "580.159.03"
  std::string cuda;     // the latest CUDA that it can run: "13.0"
  bool operator==(const Driver&) const = default;
};
/// The head of what `nvidia-smi` prints. Nothing if there is none.
std::optional<Driver> parse_driver(const std::string& text);

/// How two GPUs are joined, as `nvidia-smi topo -m` has it: NV18 (18 NVLinks), PIX, PXB, PHB, NODE, SYS (ever further
/// over PCIe).
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
/// What `nvidia-smi topo -m` prints.
Topology parse_topology(const std::string& text);

struct Binding {
  int rank = 0;
  int cores = 0;  // 0: not bound
  bool operator==(const Binding&) const = default;
};
/// What `mpirun --report-bindings` prints, by Open MPI 4 ("MCW rank 0 bound to socket 0[core 0[hwt 0-1]]: [BB/..]") or
/// 5 ("Rank 0 bound to package[0][core:0-3]").
std::vector<Binding> parse_bindings(const std::string& text);

/// "Open MPI 4.1.4" of `mpirun --version`; empty if it says something else.
std::string parse_mpi_version(const std::string& text);
/// What `ompi_info --parsable --all` says of CUDA; nothing if it doesn't.
std::optional<bool> parse_cuda_aware(const std::string& text);

struct NcclRun {
  std::string version;                    // "2.28.9"
  std::map<std::string, int> transports;  // P2P, SHM, NET/IB, NET/Socket: how many channels go over it
  std::vector<std::string> warnings;      // NCCL's own sentences
};
/// What NCCL says with NCCL_DEBUG=INFO.
NcclRun parse_nccl(const std::string& text);

/// From one GPU of this machine to another.
struct GpuCopy {
  int from = 0, to = 0;
  double gb_per_second = 0;  // of 1 MB at a time; 10^9 bytes
  bool right = false;        // what arrived is what was sent
  bool operator==(const GpuCopy&) const = default;
};
/// Lines of gpu_copies.h: "GPU 0 to GPU 1: 12.345 GB/s, right".
std::vector<GpuCopy> parse_gpu_copies(const std::string& text);

/// Integers, one a line, as `nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits` prints them.
std::vector<int> parse_percents(const std::string& text);

/// 13 of "13.0"; 0 of anything else.
int major_version(const std::string& version);

}  // namespace odori::doctor
