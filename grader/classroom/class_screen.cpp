// SPDX-License-Identifier: Apache-2.0
#include "classroom/class_screen.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "classroom/reports/sanitized.h"
#include "train/terminal.h"

namespace odori::grader {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_on_screen = 4000;  // letters at once

int terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string minutes_and_seconds(double seconds) {
  const auto s = static_cast<std::int64_t>(std::ceil(seconds));
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

Finding line_of(const TaskRecord& record, const TaskMarks& marks) {
  std::map<std::string, std::string> values{{"student", record.student}, {"task", record.task}};
  if (ungraded_speedup(record)) return {"batch_speedup_ungraded", values};
  if (record.state != RecordState::marked)
    return {record.state == RecordState::absent ? "batch_absent" : "batch_ungraded", values};
  values.insert({{"points", number(marks.points.value_or(0))}, {"total", number(marks.of)}});
  return {record.flags.empty() ? "batch_marked" : "batch_flagged", values};
}

}  // namespace

ClassScreen::ClassScreen(const Messages& messages) : messages_(messages), terminal_(on_terminal()) {}

void ClassScreen::say(const Finding& finding) { print(messages_.text(finding)); }

void ClassScreen::record(const TaskRecord& record, const TaskMarks& marks, const std::string& before,
                         const Progress& progress) {
  std::string line = messages_.text(line_of(record, marks));
  // What was there instead comes first among an absent one's flags.
  if (record.state == RecordState::absent && record.flags.size() > 1)
    line += ' ' + messages_.text(record.flags.front());
  if (!before.empty()) line += ' ' + messages_.text("batch_instead_of", {{"before", before}});
  print(fmt::format("[{:>{}}/{}] {}", progress.done, std::to_string(progress.of).size(), progress.of, line));
}

void ClassScreen::tell_of_waiting(const std::string& who) {
  if (who.empty()) {
    waiting_since_ = Clock::now();
    told_of_waiting_ = false;
  } else if (Clock::now() - waiting_since_ > 2s && !std::exchange(told_of_waiting_, true)) {
    say("batch_waits", {{"who", who}});
  }
}

void ClassScreen::progress(const Progress& progress) {
  tell_of_waiting(progress.waits_for);
  if (!terminal_ || Clock::now() - last_ < 200ms) return;
  last_ = Clock::now();
  std::string under_way;
  for (const std::string& one : progress.under_way) under_way += (under_way.empty() ? "" : ", ") + one;
  const std::string left = progress.seconds_left < 0 ? "-" : minutes_and_seconds(progress.seconds_left);
  const std::string line =
      messages_.text(progress.timing ? "batch_timing" : "batch_marking", {{"done", std::to_string(progress.done)},
                                                                          {"of", std::to_string(progress.of)},
                                                                          {"left", left},
                                                                          {"names", under_way}});
  fmt::print("\r\033[K{}", cut_to(sanitized_line(line, most_on_screen), terminal_width() - 1));
  std::fflush(stdout);
  drawn_ = true;
}

void ClassScreen::clear() {
  if (drawn_) fmt::print("\r\033[K");
  drawn_ = false;
  std::fflush(stdout);
}

void ClassScreen::line(const std::string& line) {
  clear();
  fmt::print("{}\n", sanitized_line(line, most_on_screen));
}

void ClassScreen::print(const std::string& lines) {
  clear();
  const std::string shown = sanitized(lines, most_on_screen);
  for (const std::string& part : terminal_ ? wrap(shown, terminal_width(), 0) : std::vector{shown})
    fmt::print("{}\n", part);
  std::fflush(stdout);
}

}  // namespace odori::grader
