// SPDX-License-Identifier: Apache-2.0
// What the machine's facts mean for the kit, each with what to do about it, in English and Japanese.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "doctor/parse.h"
#include "errors/language.h"

namespace odori::doctor {

/// What was found out about this machine and this build. What is empty was not there, or was not asked.
struct Facts {
  // This build
  std::string build_cuda;  // the CUDA toolkit's version; empty: the CPU backend alone
  int usable_gpus = 0;     // by the library
  std::string why_no_gpu;  // the library's sentence
  // GPUs
  bool has_nvidia_smi = false;
  std::vector<Gpu> gpus;
  std::optional<Driver> driver;
  Topology topology;
  std::vector<GpuCopy> gpu_copies;
  std::string gpu_copies_failed;  // what that program said when it failed
  std::optional<NcclRun> nccl;
  std::vector<int> gpu_use;  // percent, sampled during a training
  // MPI
  bool has_mpirun = false;
  std::string mpirun;        // of the build: "/usr/bin/mpiexec"
  std::string mpi_version;   // of that one
  std::string other_mpirun;  // the first in PATH, where that is another MPI's: "/opt/conda/bin/mpirun (HYDRA ...)"
  std::optional<bool> cuda_aware;
  std::string exchange_failed;    // what two ranks that mpirun started said when they could not exchange 1 MB
  std::vector<Binding> bindings;  // as mpirun binds when it is asked for nothing
  // The machine
  int cores = 0;         // that this process may use
  int online_cores = 0;  // of the machine
  double free_gb = 0;    // where results go, in 10^9 bytes
  double shared_mb = 0;  // size of /dev/shm in 10^6 bytes; 0: there is none
  std::string out;       // that folder
};

/// good: as it should be. note: worth knowing. slow: works, but not as fast as it could. broken: keeps the kit, or the
/// GPUs of this machine, from working.
enum class Level { good, note, slow, broken };

struct Diagnosis {
  std::string check;  // "gpus", "driver", "links", "sockets", "gpu_copies", "nccl", "gpu_use", "mpi", "mpirun",
                      // "binding", "cores", "shared_memory", "disk"
  Level level;
  Text what;
  Text remedy;  // empty where there is nothing to do
};

/// What a machine is good for as it is.
struct Readiness {
  bool task_1 = true, task_2 = true;
  Text sentence;  // for which tasks it is ready, or what is missing
};

/// In the order in which people read them. A check that doesn't apply, such as links between fewer than two GPUs, gives
/// none.
std::vector<Diagnosis> diagnose(const Facts& facts);

Readiness readiness_of(const std::vector<Diagnosis>& findings);

/// Lines for people; the last one says for which tasks the machine is ready.
std::string to_text(const std::vector<Diagnosis>& findings, const std::string& language);
/// {"works":, "ready": {"task_1":, "task_2":, "text":}, "findings": [{"check":, "level":, "text":, "remedy":}]}
nlohmann::json to_json(const std::vector<Diagnosis>& findings, const std::string& language);
/// No finding is broken.
bool works(const std::vector<Diagnosis>& findings);

}  // namespace odori::doctor
