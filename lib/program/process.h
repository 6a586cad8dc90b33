// SPDX-License-Identifier: Apache-2.0
// Runs other programs, with all processes that they start, under limits.
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
  std::vector<std::string> arguments;  // the program, found in PATH, and its arguments
  std::map<std::string, std::string>
      environment;                       // added to this process's environment; an empty value removes a variable
  std::filesystem::path folder;          // working folder; empty: this process's
  void (*before)() = nullptr;            // called in the new process before exec; must not allocate
  bool inherits_descriptors = false;     // inherits all open file descriptors
  bool lifeline = false;                 // its stdin is open until this process ends; otherwise it is empty
  bool shown = false;                    // its output goes to this process's output; otherwise it is captured
  bool foreground = false;               // shares stdin and session with this process: Ctrl-C and Ctrl-Z reach both
  std::chrono::milliseconds grace{300};  // time to end after SIGTERM, before SIGKILL
};

struct Limits {
  std::optional<std::chrono::milliseconds> time{100'000};  // nullopt: no limit
  /// CPU time of the program and its descendants. Unlike `time`, it does not depend on other load.
  std::optional<std::chrono::milliseconds> processor_time = {};
  std::size_t output_bytes = 1 << 20;  // further output is dropped
  /// Called every 50 ms; if it returns true, the program is ended as by the time limit.
  std::function<bool()> give_up;
  std::function<void(int)> started = {};  // called with the process id
};

struct Ended {
  int code = -1;         // as in shells: 128 + n for signal n, 127 if the program does not exist
  bool stopped = false;  // by a limit
  double seconds = 0;
  std::string output;  // stdout and stderr together
  int count(const std::string& text) const;
  /// True if SIGKILL, SIGTERM, SIGINT or SIGHUP ended it, and no limit: sent by a batch system, a person, or the kernel
  /// when memory runs out. For MPI jobs this is the end of mpirun, not of a rank.
  bool killed_from_outside() const;
};

/// Returns the last 6 lines of a program's output, which usually contain its error.
std::string end_of(const std::string& output);

/// A running program, in a new session unless it is in the foreground. The destructor ends it, and all processes left
/// in its session, such as mpirun's ranks.
class Child {
 public:
  /// Throws Error if the program cannot be started.
  explicit Child(const Command& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int id() const { return pid_; }
  /// Appends new captured output to `text`, up to `most` bytes in all. Waits for output at most `wait`.
  void read_into(std::string& text, std::size_t most, std::chrono::milliseconds wait);
  /// Its exit code, if it has ended.
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

/// Runs a program until it ends or reaches a limit. After Ctrl-C (catch_interrupts()) ends it and throws Error with
/// exit code 130. Thread-safe.
Ended run_process(const Command& command, const Limits& limits = {});
/// Runs a program on this process's terminal, without limits. Returns its exit code.
int run_in_foreground(const std::vector<std::string>& arguments);

}  // namespace odori
