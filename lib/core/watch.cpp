#include "core/watch.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/program.h"

namespace odori {
namespace {

/// A failure often is but what another rank's end looks like from here; that rank then tells the cause, within 3 s.
constexpr std::chrono::seconds cause_first(4);

[[noreturn]] void end_program(const std::string& sentence) {
  try {
    throw Error(sentence);
  } catch (...) {
    std::_Exit(report_failure());  // no destructors: they would wait for the work that doesn't end
  }
}

}  // namespace

Watch::Watch(Words words, std::chrono::seconds limit, std::function<std::string()> failure)
    : words_(std::move(words)),
      limit_(limit),
      failure_(std::move(failure)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void Watch::begin() {
  const std::lock_guard lock(mutex_);
  if (under_way_++ == 0) progress_ = std::chrono::steady_clock::now();
}

void Watch::end() {
  const std::lock_guard lock(mutex_);
  --under_way_;
  progress_ = std::chrono::steady_clock::now();
}

void Watch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (const std::string sentence = failure_(); !sentence.empty()) {
      std::this_thread::sleep_for(cause_first);
      end_program(sentence);
    }
    if (const std::string sentence = standstill(); !sentence.empty()) end_program(sentence);
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
  }
}

std::string Watch::standstill() {
  const std::lock_guard lock(mutex_);
  if (under_way_ == 0 || std::chrono::steady_clock::now() - progress_ <= limit_) return {};
  return fmt::format("{} has made no progress for {} seconds. {} ODORI_TIMEOUT={} waits longer.", words_.work,
                     limit_.count(), words_.advice, 10 * limit_.count());
}

std::chrono::seconds watch_limit() {
  const char* text = std::getenv("ODORI_TIMEOUT");
  if (!text || !*text) return std::chrono::seconds(60);
  int seconds = 0;
  const char* end = text + std::strlen(text);
  const auto [parsed, error] = std::from_chars(text, end, seconds);
  require(
      error == std::errc() && parsed == end && seconds > 0,
      "ODORI_TIMEOUT is the number of seconds after which work without progress is an error, a whole number from 1, "
      "not \"{}\".",
      text);
  return std::chrono::seconds(seconds);
}

}  // namespace odori
