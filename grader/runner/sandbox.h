// SPDX-License-Identifier: Apache-2.0
// A sandbox for somebody else's code: bubblewrap's namespaces, limits, and a watch from outside.
//
// Inside there is this machine's system (read only; of /sys, what says how many cores there are), an empty /tmp,
// /dev/shm and network, and of all other files only those that a SandboxPolicy names. One sandbox holds a whole mpirun.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "blanks/finding.h"
#include "program/process.h"

namespace odori::grader {

/// What one command may see and use. Everything keeps the path that it has outside.
struct SandboxPolicy {
  std::vector<std::filesystem::path> readable;  // files, and folders with all that is in them
  std::vector<std::filesystem::path> writable;  // files that are there already: nothing else that is written remains
  std::vector<std::filesystem::path> folders;   // new and empty, gone with the command
  std::size_t memory = std::size_t{4} << 30;    // bytes, of all processes together
  int processes = 256;                          // threads included
  std::size_t file = 64 << 20;                  // bytes a file
  std::size_t temporary = 512 << 20;            // bytes of all files in /tmp, in /dev/shm, and in each of `folders`
};

/// How a command inside ended.
struct EndedInside : Ended {
  std::optional<Finding> broke = {};  // the limit of its policy by which it was stopped
};

class Sandbox {
 public:
  /// `hidden`: folders that are empty inside, but for what the policy names, also where they lie among the system's own
  /// files. Tries it. Throws EnvironmentFault if this machine has no bubblewrap, or doesn't let it make its namespaces.
  explicit Sandbox(const std::vector<std::filesystem::path>& hidden = {});
  virtual ~Sandbox() = default;

  /// Runs the command inside. Its folder is empty unless the policy shows it. A limit of the policy that ends it is in
  /// `broke`: "over_memory", "over_processes". Thread-safe. Throws as run_process does.
  virtual EndedInside run(const Command& command, const SandboxPolicy& policy, const Limits& limits = {}) const;

 protected:
  /// bubblewrap and its arguments, followed by the command.
  virtual Command enclosed(const Command& command, const SandboxPolicy& policy) const;

 private:
  bool is_there_already(const std::filesystem::path& path) const;

  std::vector<std::filesystem::path> hidden_;  // those below the system's folders
};

/// Adds a note if this machine could not run the kit's answer, or start a sandbox, and its load is far above its cores.
Finding with_load(Finding finding, std::optional<double> load = {},
                  unsigned cores = std::thread::hardware_concurrency());

/// Inside of `sandbox` if there is one; without, on the learner's own machine, as any other command.
EndedInside run_inside(const Sandbox* sandbox, const Command& command, const SandboxPolicy& policy,
                       const Limits& limits = {});

}  // namespace odori::grader
