#include "threads/watch.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "errors/error.h"
#include "errors/text.h"
#include "program/program.h"
#include "program/rank_table.h"

namespace odori {
namespace {

/// A failure often is but what another rank's end looks like from here; that rank tells the cause within 3.7 s
/// (program.cpp).
constexpr std::chrono::seconds cause_first(4);

/// A rank that another one ends, or whose MPI_Abort hangs, ends itself after this time.
constexpr std::chrono::seconds end_of_all(15);

std::atomic<std::int64_t> given_limit = -1;  // in seconds; negative: nobody gave one

[[noreturn]] void end_program(const std::string& sentence) {
  try {
    std::thread([] {
      std::this_thread::sleep_for(end_of_all);
      std::_Exit(exit_code::failure);
    }).detach();
  } catch (const std::system_error&) {  // no more threads
  }
  try {
    throw Error(sentence);
  } catch (...) {
    std::_Exit(report_failure());  // no destructors: they would wait for the work that doesn't end
  }
}

}  // namespace

Watch::Watch(Words words, std::chrono::seconds limit, std::function<std::string()> failure)
    : words_(std::move(words)), limit_(limit), failure_(std::move(failure)) {
  if (limit_.count() > 0 || failure_) thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void Watch::begin() noexcept {
  if (under_way_.fetch_add(1) == 0) ++moves_;
}

void Watch::end() noexcept {
  ++moves_;
  --under_way_;
}

void Watch::watch(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration most_a_look = std::chrono::seconds(1);  // more: this process was stopped, or not served
  Clock::time_point looked = Clock::now();
  Clock::duration silent{};
  std::uint64_t seen = 0;
  while (!stop.stop_requested()) {
    if (const std::string sentence = failure_ ? failure_() : ""; !sentence.empty()) {
      std::this_thread::sleep_for(cause_first);
      end_program(sentence);
    }
    const Clock::time_point now = Clock::now();
    const std::uint64_t moves = moves_ + rank_table::moves();
    silent = under_way_ == 0 || moves != seen ? Clock::duration() : silent + std::min(now - looked, most_a_look);
    looked = now;
    seen = moves;
    if (const std::string sentence = standstill(silent); !sentence.empty()) {
      if (!rank_table::may_speak()) std::this_thread::sleep_for(end_of_all);
      end_program(sentence);
    }
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
  }
}

std::string Watch::standstill(std::chrono::steady_clock::duration silent) const {
  if (limit_.count() == 0 || silent <= limit_) return {};
  std::string cause = rank_table::who_is_missing();
  auto waited = limit_;
  if (cause.empty() && !rank_table::who_is_elsewhere().empty()) {
    waited = 10 * limit_;
    if (silent <= waited) return {};
    cause = rank_table::who_is_elsewhere();
  }
  if (cause.empty()) cause = words_.advice;
  return fmt::format(
      "{} has made no progress for {} seconds. {} ODORI_TIMEOUT={} waits longer, ODORI_TIMEOUT=0 for ever.",
      words_.work, waited.count(), cause, 10 * limit_.count());
}

std::chrono::seconds watch_limit() {
  if (given_limit >= 0) return std::chrono::seconds(given_limit);
  const char* text = std::getenv("ODORI_TIMEOUT");
  if (!text || !*text) return std::chrono::seconds(60);
  const int seconds = number_of<int>(text).value_or(-1);
  require(seconds >= 0,
          "ODORI_TIMEOUT is the number of seconds after which work without progress is an error, a whole number, or 0 "
          "for none, not \"{}\".",
          text);
  return std::chrono::seconds(seconds);
}

void set_watch_limit(std::chrono::seconds limit) noexcept { given_limit = limit.count(); }

}  // namespace odori
