// SPDX-License-Identifier: Apache-2.0
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

namespace odori {

struct Command {
  std::vector<std::string> arguments;              // the program, found in PATH, and its arguments
  std::map<std::string, std::string> environment;  // added to this process's own; an empty value takes one away
  std::filesystem::path folder;                    // to run in; empty: this process's own
  void (*before)() = nullptr;                      // called in the new process first; may not allocate
  bool inherits_descriptors = false;               // it has what this process has open, in addition to its output
  bool lifeline = false;                           // its input is silent, and ends with this process; else it is empty
  bool shown = false;                              // its output goes where this process's own does; else it is kept
  bool foreground = false;  // it has this process's input and session: a terminal's Ctrl-C and Ctrl-Z reach both
  std::chrono::milliseconds grace{300};  // how long it may take to end when it is asked to
};

struct Limits {
  std::optional<std::chrono::milliseconds> time{100'000};  // nullopt: no limit
  /// CPU time of the program and all that it starts. Unlike `time`, it is the same on a busy machine.
  std::optional<std::chrono::milliseconds> processor_time = {};
  std::size_t output_bytes = 1 << 20;  // further output is dropped
  /// Asked every 50 ms; true ends the program as the time limit does.
  std::function<bool()> give_up;
  std::function<void(int)> started = {};  // told the process's id
};

struct Ended {
  int code = -1;         // as shells have it: 128 + n for signal n, 127 for a program that isn't there
  bool stopped = false;  // by a limit
  double seconds = 0;
  std::string output;  // stdout and stderr together
  int count(const std::string& text) const;
  /// By a signal that somebody sends: the kernel that lacks memory, a batch system, a person. No mistake ends so,
  /// unless it takes the memory. A rank's end is mpirun's.
  bool killed_from_outside() const;
};

/// The last lines of what a program said: its error, mostly.
std::string end_of(const std::string& output);

/// A running program, in a session of its own unless it is in the foreground. Ended with this object: whatever it
/// started and left running in its session (mpirun's ranks, say) is then ended too, also when it has ended itself.
class Child {
 public:
  /// Throws Error if it can't be started.
  explicit Child(const Command& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int id() const { return pid_; }
  /// What it has said since, unless that is shown; waits so long for it. `text` grows to `most` bytes.
  void read_into(std::string& text, std::size_t most, std::chrono::milliseconds wait);
  /// Its exit code, once it has ended.
  std::optional<int> code();
  void end();

 private:
  bool ends_within(std::chrono::milliseconds time);
  int kill_session() const;

  int pid_ = -1, output_ = -1, lifeline_ = -1;
  bool foreground_;
  std::chrono::milliseconds grace_;
  std::optional<int> code_;
};

/// Runs it until it ends; a limit ends it, and Ctrl-C (see catch_interrupts), after which Error with exit code 130 is
/// thrown. May be called by several threads at once.
Ended run_process(const Command& command, const Limits& limits = {});
/// For people to see, on this process's own terminal, for as long as it likes. Returns the exit code.
int run_in_foreground(const std::vector<std::string>& arguments);

}  // namespace odori
