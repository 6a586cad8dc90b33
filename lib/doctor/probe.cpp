// SPDX-License-Identifier: Apache-2.0
#include "doctor/probe.h"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "backend/gpus.h"
#include "program/process.h"
#include "report/machine.h"

namespace odori::doctor {
namespace {

namespace fs = std::filesystem;

/// What a shell command prints to both streams, within so many seconds.
std::string output_of(const std::string& command, int seconds = 20) {
  return run_process({.arguments = {"sh", "-c", command}},
                     {.time = std::chrono::seconds(seconds), .output_bytes = 16 << 20})
      .output;
}

/// Where a program of this name or path is; empty if nowhere.
std::string path_of(const std::string& program) {
  std::string path = output_of(fmt::format("command -v \"{}\"", program));
  while (path.ends_with('\n')) path.pop_back();
  return path;
}

std::string mpirun(int ranks) {
  return fmt::format("\"{}/lib/comm/mpirun.sh\" \"{}\"{} --oversubscribe -np {} ", ODORI_FOLDER, ODORI_MPIEXEC,
                     geteuid() == 0 ? " --allow-run-as-root" : "", ranks);
}

void ask_nvidia_smi(Facts& facts) {
  facts.has_nvidia_smi = !path_of("nvidia-smi").empty();
  if (!facts.has_nvidia_smi) return;
  facts.gpus =
      parse_gpus(output_of("nvidia-smi --query-gpu=index,name,memory.total,compute_cap --format=csv,noheader,nounits"));
  facts.driver = parse_driver(output_of("nvidia-smi"));
  facts.topology = parse_topology(output_of("nvidia-smi topo -m"));
}

void ask_mpi(Facts& facts) {
  facts.mpirun = ODORI_MPIEXEC;
  facts.has_mpirun = !path_of(facts.mpirun).empty();
  if (!facts.has_mpirun) return;
  const auto says_version = [](const std::string& program) {
    const std::string text = output_of(fmt::format("\"{}\" --version", program));
    return text.substr(0, text.find('\n'));
  };
  const std::string of_build = says_version(facts.mpirun), first = path_of("mpirun");
  facts.mpi_version = parse_mpi_version(of_build);
  if (!first.empty() && parse_mpi_version(says_version(first)) != facts.mpi_version)
    facts.other_mpirun = fmt::format("{} ({})", first, says_version(first));
  facts.cuda_aware = parse_cuda_aware(output_of("ompi_info --parsable --all"));
  constexpr int limit = 60;  // in seconds; a busy machine takes ten
  const Ended ranks = run_process({.arguments = {"sh", "-c",
                                                 mpirun(2) + fmt::format("--report-bindings \"{}/bin/odori_doctor\" {}",
                                                                         ODORI_BUILD_FOLDER, exchange_command)},
                                   .environment = {{"ODORI_TIMEOUT", fmt::format("{}", limit / 2)}}},
                                  {.time = std::chrono::seconds(limit)});
  facts.bindings = parse_bindings(ranks.output);
  if (ranks.code != 0 || ranks.count(exchanged) != 1)
    facts.exchange_failed =
        ranks.stopped ? fmt::format("no end within {} s. {}", limit, end_of(ranks.output)) : end_of(ranks.output);
}

/// In a process of its own, which can be ended.
void copy_between_gpus(Facts& facts) {
  constexpr int limit = 60;  // in seconds; making contexts on eight GPUs takes ten
  const Ended copies =
      run_process({.arguments = {fmt::format("{}/bin/odori_doctor", ODORI_BUILD_FOLDER), copies_command}},
                  {.time = std::chrono::seconds(limit)});
  facts.gpu_copies = parse_gpu_copies(copies.output);
  if (copies.stopped)
    facts.gpu_copies_failed = fmt::format("no end within {} s. {}", limit, end_of(copies.output));
  else if (copies.code != 0)
    facts.gpu_copies_failed = end_of(copies.output);
}

/// A folder with a small image set, removed at the end.
class Images {
 public:
  explicit Images(const std::string& out) : folder_(fs::path(out) / "doctor") {
    output_of(fmt::format("\"{}/bin/odori_make_synthetic\" --train 10000 --test 500 --out \"{}\"", ODORI_BUILD_FOLDER,
                          (folder_ / "images").string()),
              60);
  }
  ~Images() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  /// A training program's command on these images.
  std::string training(const char* program, const char* flags) const {
    return fmt::format("\"{}/bin/solutions/{}\" --dataset \"{}\" --device cuda --no-snapshot --out \"{}\" {}",
                       ODORI_BUILD_FOLDER, program, (folder_ / "images").string(), (folder_ / "out").string(), flags);
  }

 private:
  fs::path folder_;
};

void train(Facts& facts, const std::string& out) {
  const Images images(out);
  const std::string ranks = images.training(
      "train_cifar_multi_node", facts.usable_gpus < 2
                                    ? "--model tiny --epoch 1 --fraction 0.1 --communicator pure_nccl --share-devices"
                                    : "--model tiny --epoch 1 --fraction 0.1 --communicator pure_nccl");
  facts.nccl = parse_nccl(output_of("NCCL_DEBUG=INFO " + mpirun(2) + "--bind-to none " + ranks, 60));
  // The first seconds set up; nvidia-smi's own number is the share of the last moments in which a kernel ran.
  const std::string busy = images.training("train_cifar_single_gpu", "--model vgg --batchsize 128 --epoch 100000");
  facts.gpu_use =
      parse_percents(output_of("timeout 14 " + busy +
                                   " >/dev/null 2>&1 & sleep 6; for i in 1 2 3 4 5 6 7; do nvidia-smi -i 0 "
                                   "--query-gpu=utilization.gpu --format=csv,noheader,nounits; sleep 1; done; wait",
                               30));
}

}  // namespace

Facts probe(const ProbeOptions& options) {
  Facts facts;
  facts.build_cuda = ODORI_BUILD_CUDA;
  facts.usable_gpus = gpu_count();
  facts.why_no_gpu = why_no_gpu();
  ask_nvidia_smi(facts);
  ask_mpi(facts);
  if (facts.usable_gpus > 1) copy_between_gpus(facts);
  facts.cores = this_machine().cores;
  facts.online_cores = get_nprocs();
  std::error_code error;
  fs::create_directories(options.out, error);
  facts.out = fs::absolute(options.out).string();
  const fs::space_info space = fs::space(options.out, error);
  facts.free_gb = error ? 0 : static_cast<double>(space.available) / 1e9;
  struct statvfs shared {};
  if (::statvfs("/dev/shm", &shared) == 0)
    facts.shared_mb = static_cast<double>(shared.f_blocks) * static_cast<double>(shared.f_frsize) / 1e6;
  if (options.trainings && facts.usable_gpus > 0) train(facts, options.out);
  return facts;
}

}  // namespace odori::doctor
