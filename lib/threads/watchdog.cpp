// SPDX-License-Identifier: Apache-2.0
#include "threads/watchdog.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "errors/error.h"
#include "errors/language.h"
#include "errors/text.h"
#include "program/program.h"
#include "program/rank_table.h"

namespace odori {
namespace {

/// A failure often is but what another rank's end looks like from here; that rank tells the cause within 3.7 s
/// (program.cpp).
constexpr std::chrono::seconds cause_first(4);

/// After this time without progress the ranks' calls are printed, and the job ends if none of them can go on.
constexpr std::chrono::seconds first_look(5);

/// A rank that another one ends, or whose MPI_Abort hangs, ends itself after this time.
constexpr std::chrono::seconds end_of_all(15);

std::atomic<std::int64_t> given_limit = -1;  // in seconds; negative: nobody gave one

[[noreturn]] void end_program(const std::string& sentence, int code) {
  try {
    std::thread([code] {
      std::this_thread::sleep_for(end_of_all);
      std::_Exit(code);
    }).detach();
  } catch (const std::system_error&) {  // no more threads
  }
  try {
    throw Error(sentence, code);
  } catch (...) {
    std::_Exit(report_failure());  // no destructors: they would wait for the work that doesn't end
  }
}

/// Once a node, and only if one of its ranks lets the others wait: a long call of all ranks is none.
void show_ranks(std::chrono::seconds limit) {
  if (rank_table::who_is_missing().empty() || !rank_table::claim_table()) return;
  const Text heading{
      fmt::format(
          "The ranks have made no progress for {} s. The job goes on, and ends after {} s (ODORI_TIMEOUT) unless "
          "they do.",
          first_look.count(), limit.count()),
      fmt::format("{} 秒間、どのランクも進んでいません。ジョブは続きますが、このまま {} 秒（ODORI_TIMEOUT）経つと終了し"
                  "ます。",
                  first_look.count(), limit.count())};
  std::fprintf(stderr, "\n%s\n%s", in_language(heading).c_str(), rank_table::table(language()).c_str());
}

}  // namespace

Watchdog::Watchdog(Words words, std::chrono::seconds limit, std::function<std::string()> failure)
    : words_(std::move(words)), limit_(limit), failure_(std::move(failure)) {
  if (limit_.count() > 0 || failure_) thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void Watchdog::begin() noexcept {
  if (under_way_.fetch_add(1) == 0) ++moves_;
}

void Watchdog::end() noexcept {
  ++moves_;
  --under_way_;
}

void Watchdog::watch(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration most_a_look = std::chrono::seconds(1);  // more: this process was stopped, or not served
  Clock::time_point looked = Clock::now();
  Clock::duration silent{};
  std::uint64_t seen = 0;
  bool shown = false;
  while (!stop.stop_requested()) {
    if (const std::string sentence = failure_ ? failure_() : ""; !sentence.empty()) {
      std::this_thread::sleep_for(cause_first);
      end_program(sentence, exit_code::failure);
    }
    const Clock::time_point now = Clock::now();
    const std::uint64_t moves = moves_ + rank_table::progress();
    silent = under_way_ == 0 || moves != seen ? Clock::duration() : silent + std::min(now - looked, most_a_look);
    looked = now;
    seen = moves;
    if (const std::string sentence = standstill(silent); !sentence.empty()) {
      if (!rank_table::claim_report()) std::this_thread::sleep_for(end_of_all);
      end_program(sentence, exit_code::hang);
    }
    if (limit_.count() > 0 && silent > first_look && !shown) show_ranks(limit_);
    shown = silent > first_look;
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
  }
}

std::string Watchdog::standstill(std::chrono::steady_clock::duration silent) const {
  if (limit_.count() == 0 || silent <= std::min<std::chrono::steady_clock::duration>(limit_, first_look)) return {};
  if (rank_table::is_deadlocked())
    return in_language({"{} has made no progress for {} seconds, and cannot go on. {}",
                        "{}が {} 秒間進んでおらず、この先も進めません。{}"},
                       in_language(words_.work), std::min(limit_, first_look).count(), rank_table::who_is_missing());
  if (silent <= limit_) return {};
  std::string cause = rank_table::who_is_missing();
  auto waited = limit_;
  if (cause.empty() && !rank_table::who_is_elsewhere().empty()) {
    waited = 10 * limit_;
    if (silent <= waited) return {};
    cause = rank_table::who_is_elsewhere();
  }
  if (cause.empty()) cause = in_language(words_.advice);
  return in_language(
      {"{} has made no progress for {} seconds. {} ODORI_TIMEOUT={} waits longer, ODORI_TIMEOUT=0 for ever.",
       "{}が {} 秒間進んでいません。{}ODORI_TIMEOUT={} で待つ時間を延ばせます（0 なら無制限）。"},
      in_language(words_.work), waited.count(), cause, 10 * limit_.count());
}

std::chrono::seconds watchdog_limit() {
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

void set_watchdog_limit(std::chrono::seconds limit) noexcept { given_limit = limit.count(); }

}  // namespace odori
