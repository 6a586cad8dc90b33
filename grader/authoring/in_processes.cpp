// SPDX-License-Identifier: Apache-2.0
#include "authoring/in_processes.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>

#include "errors/error.h"
#include "program/program.h"
#include "runner/run.h"

namespace odori::grader {
namespace {

using Clock = std::chrono::steady_clock;

std::filesystem::path result_file(const ScratchFolder& folder, std::size_t i) {
  return folder.path() / std::to_string(i);
}

}  // namespace

std::size_t in_processes(std::size_t n, int n_processes, const std::function<std::string(std::size_t)>& work,
                         const std::function<void(std::size_t, const std::string&)>& done, Clock::time_point until) {
  const ScratchFolder results;
  void* const shared =
      mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> finished{};  // a pipe of indices: a child writes each at once
  require(shared != MAP_FAILED && pipe(finished.data()) == 0,
          "No memory or pipe could be shared with child processes.");
  auto& next = *new (shared) std::atomic<std::size_t>(0);
  std::fflush(nullptr);
  for (int process = 0; process < n_processes; ++process)
    if (fork() == 0) {
      int code = 0;
      try {
        for (std::size_t i; Clock::now() < until && (i = next++) < n;) {
          std::ofstream(result_file(results, i), std::ios::binary) << work(i);
          require(write(finished[1], &i, sizeof i) == sizeof i, "A result could not be handed over.");
        }
      } catch (...) {
        code = report_failure();
      }
      std::fflush(nullptr);
      _exit(code);
    }
  close(finished[1]);
  std::size_t n_results = 0;
  for (std::size_t i; read(finished[0], &i, sizeof i) == sizeof i; ++n_results)
    done(i, read_file(result_file(results, i)));
  close(finished[0]);
  munmap(shared, sizeof(std::atomic<std::size_t>));
  bool all_ended = true;
  for (int process = 0; process < n_processes; ++process) {
    int status = 1;
    wait(&status);
    all_ended &= status == 0;
  }
  require(all_ended, "A child process that judges answers failed or was killed; {} of {} results are there.", n_results,
          n);
  return n_results;
}

}  // namespace odori::grader
