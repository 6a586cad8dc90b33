// How much memory a grader takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include "exercise/blanks.h"

namespace odori::grader {

/// Watches the process that has `mark` among its arguments, and the grader as its program, or attack_run, which plays the
/// grader without a defence, from here on.
class MostMemory {
 public:
  explicit MostMemory(std::string mark)
      : mark_(std::move(mark)), watch_([this](const std::stop_token& end) {
          for (; !end.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(200))) look();
        }) {}

  double megabytes() {
    watch_.request_stop();
    watch_.join();
    return kilobytes_ / 1024.0;
  }

 private:
  void look() {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
      const std::string arguments = read_file(entry.path() / "cmdline");
      const std::string program = arguments.substr(0, arguments.find('\0'));
      const bool grades = program.ends_with("odori_grader") || program.ends_with("attack_run");
      if (!grades || arguments.find(mark_) == std::string::npos) continue;
      std::istringstream status(read_file(entry.path() / "status"));
      for (std::string name; status >> name;)
        if (long peak = 0; name == "VmHWM:" && status >> peak) kilobytes_ = std::max(kilobytes_, peak);
    }
  }

  std::string mark_;
  long kilobytes_ = 0;
  std::jthread watch_;
};

}  // namespace odori::grader
