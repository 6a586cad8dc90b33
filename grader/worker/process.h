// Another program, with all that it starts, held to limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exercise/finding.h"

namespace odori::grader {

struct Command {
  std::vector<std::string> arguments;              // the program, found in PATH, and its arguments
  std::map<std::string, std::string> environment;  // added to this process's own; an empty value takes one away
  std::filesystem::path folder;                    // to run in; empty: this process's own
  void (*before)() = nullptr;                      // called in the new process first; may not allocate
  bool inherits_descriptors = false;               // it has what this process has open, besides its output
  bool lifeline = false;                           // its input is silent, and ends with this process; else it is empty
};

struct Limits {
  std::chrono::milliseconds time{100'000};
  /// That it may compute, with all that it starts: a busy machine makes it wait for the processor, and not take more.
  std::optional<std::chrono::milliseconds> processor_time = {};
  std::size_t output_bytes = 1 << 20;  // what is said beyond is dropped
  /// Asked every 50 ms; true ends the program as the time limit does.
  std::function<bool()> give_up;
  std::function<void(int)> started = {};  // told the process's id
};

struct Ended {
  int code = -1;         // as shells have it: 128 + n for signal n, 127 for a program that isn't there
  bool stopped = false;  // by a limit
  double seconds = 0;
  std::string output;                 // stdout and stderr together
  std::optional<Finding> broke = {};  // the limit of its policy (worker/sandbox.h) by which it was stopped
  int count(const std::string& text) const;
  /// By a signal that somebody sends: the kernel that lacks memory, a batch system, a person. No mistake ends so,
  /// unless it takes the memory. A rank's end is mpirun's.
  bool killed_from_outside() const;
};

/// The last lines of what a program said: its error, mostly.
std::string end_of(const std::string& output);

/// Runs it, without input, in a session of its own, until it ends. Whatever it started and left behind (mpirun's ranks,
/// say) is ended then too, also when a limit stops it; and on Ctrl-C (see catch_interrupts), after which Error with
/// exit code 130 is thrown. May be called by several threads at once.
Ended run_process(const Command& command, const Limits& limits = {});

}  // namespace odori::grader
