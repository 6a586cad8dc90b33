// SPDX-License-Identifier: Apache-2.0
#include "learner/waiting_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace odori::grader {

constexpr int seconds_until_later = 20;

bool can_erase_lines() {
  const char* name = std::getenv("TERM");
  const std::string_view terminal = name ? name : "";
  return isatty(STDOUT_FILENO) && !terminal.empty() && terminal != "dumb" && terminal != "unknown";
}

WaitingLine::WaitingLine(std::string text, std::string later)
    : text_(std::move(text)), later_(std::move(later)), shown_(can_erase_lines()) {
  if (shown_) fmt::print("{}", text_);
  std::fflush(stdout);
  thread_ = std::thread([this] { show(); });
}

WaitingLine::~WaitingLine() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void WaitingLine::show() {
  std::unique_lock lock(mutex_);
  for (int seconds = 1; !ends_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; }); ++seconds) {
    if (seconds == seconds_until_later) {
      erase();
      fmt::print("{}\n", later_);
    }
    if (shown_) fmt::print("\r{} {} s", text_, seconds);
    std::fflush(stdout);
  }
  erase();
}

void WaitingLine::erase() const {
  if (!shown_) return;
  fmt::print("\r\033[K");
  std::fflush(stdout);
}

}  // namespace odori::grader
