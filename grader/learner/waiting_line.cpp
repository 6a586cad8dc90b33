#include "learner/waiting_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace odori::grader {

WaitingLine::WaitingLine(std::string text) : text_(std::move(text)), shown_(isatty(STDOUT_FILENO)) {
  if (!shown_) return;
  fmt::print("{}", text_);
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
    fmt::print("\r{} {} s", text_, seconds);
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
