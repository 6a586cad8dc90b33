// SPDX-License-Identifier: Apache-2.0
// Diagnoses a machine from facts about it, with remedies, in English and Japanese.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "doctor/parse.h"
#include "errors/language.h"

namespace odori::doctor {

/// Facts about this machine and this build. Empty: missing, or not probed.
struct Facts {
  // This build
  std::string build_cuda;  // the CUDA toolkit's version; empty: the CPU backend alone
  int usable_gpus = 0;     // by the library
  std::string why_no_gpu;  // the library's reason
  // GPUs
  bool has_nvidia_smi = false;
  std::vector<Gpu> gpus;
  std::optional<Driver> driver;
  Topology topology;
  std::vector<GpuCopy> gpu_copies;
  std::string gpu_copies_failed;  // output of the program if it failed
  std::optional<NcclRun> nccl;
  std::vector<int> gpu_use;  // percent, sampled during a training
  // MPI
  bool has_mpirun = false;
  std::string mpirun;        // of the build: "/usr/bin/mpiexec"
  std::string mpi_version;   // of that one
  std::string other_mpirun;  // the first in PATH, if it belongs to another MPI: "/opt/conda/bin/mpirun (HYDRA ...)"
  std::optional<bool> cuda_aware;
  std::string exchange_failed;    // output of two ranks under mpirun that could not exchange 1 MB
  std::vector<Binding> bindings;  // mpirun's default
  // The machine
  int cores = 0;         // that this process may use
  int online_cores = 0;  // of the machine
  double free_gb = 0;    // in the folder of results, in 10^9 bytes
  double shared_mb = 0;  // size of /dev/shm in 10^6 bytes; 0: there is none
  std::string out;       // that folder
};

/// good: no problem. note: information. slow: works, but not at full speed. broken: the kit or the machine's GPUs do
/// not work.
enum class Level { good, note, slow, broken };

struct Diagnosis {
  std::string check;  // "gpus", "driver", "links", "sockets", "gpu_copies", "nccl", "gpu_use", "mpi", "mpirun",
                      // "binding", "cores", "shared_memory", "disk"
  Level level;
  Text what;
  Text remedy;  // empty where there is nothing to do
};

/// Which tasks the machine is ready for.
struct Readiness {
  bool task_1 = true, task_2 = true;
  Text sentence;  // for which tasks it is ready, or what is missing
};

/// Returns the diagnoses in reading order. Checks that do not apply, such as links between fewer than two GPUs, give
/// none.
std::vector<Diagnosis> diagnose(const Facts& facts);

Readiness readiness_of(const std::vector<Diagnosis>& findings);

/// A text with one diagnosis per line; the last line names the tasks that the machine is ready for.
std::string to_text(const std::vector<Diagnosis>& findings, const std::string& language);
/// {"works":, "ready": {"task_1":, "task_2":, "text":}, "findings": [{"check":, "level":, "text":, "remedy":}]}
nlohmann::json to_json(const std::vector<Diagnosis>& findings, const std::string& language);
/// True if no diagnosis is broken.
bool works(const std::vector<Diagnosis>& findings);

}  // namespace odori::doctor
