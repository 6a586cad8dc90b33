// SPDX-License-Identifier: Apache-2.0
// The last line of the terminal while something takes its time: "Checking ... 12 s".
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace odori::grader {

/// Whether standard output is a terminal that can erase a line, by TERM.
bool can_erase_lines();

/// Shows a text and, after the first, the seconds since its construction, and erases them at the end. After 20 s it
/// prints `later` above, once: what may be awaited. Where lines cannot be erased it shows nothing else.
class WaitingLine {
 public:
  WaitingLine(std::string text, std::string later);
  ~WaitingLine();

  /// Runs `print` with the line erased.
  template <typename Print>
  void print_above(Print print) {
    const std::lock_guard lock(mutex_);
    erase();
    print();
  }

 private:
  void show();
  void erase() const;

  std::string text_, later_;
  bool shown_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace odori::grader
