// SPDX-License-Identifier: Apache-2.0
#include "classroom/course/times.h"

#include <array>
#include <chrono>
#include <ctime>
#include <regex>

#include "errors/text.h"

namespace odori::grader {
namespace {

int whole(const std::string& digits) { return number_of<int>(digits).value_or(0); }

std::tm calendar(int year, int month, int day, int hour, int minute, int second) {
  std::tm time{};
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = day;
  time.tm_hour = hour;
  time.tm_min = minute;
  time.tm_sec = second;
  time.tm_isdst = -1;
  return time;
}

/// `zone`: seconds east of Greenwich; none: this machine's.
std::optional<std::int64_t> seconds_of(const std::tm& written, std::optional<int> zone) {
  std::tm time = written;
  const std::time_t seconds = zone ? timegm(&time) : std::mktime(&time);
  // 31 April becomes 1 May. An hour that summer time leaves out moves by one hour, and is accepted.
  if (time.tm_mday != written.tm_mday || time.tm_mon != written.tm_mon || time.tm_min != written.tm_min) return {};
  if (written.tm_hour > 23 || written.tm_sec > 59) return {};
  return seconds - zone.value_or(0);
}

std::optional<int> zone_of(const std::string& text) {
  if (text.empty()) return {};
  if (text == "Z" || text == "UTC") return 0;
  const std::string digits = replaced(text.substr(1), ":", "");
  const int seconds = whole(digits.substr(0, 2)) * 3600 + whole(digits.substr(2)) * 60;
  return text[0] == '-' ? -seconds : seconds;
}

int month_named(const std::string& name) {
  constexpr std::array months{"january", "february", "march",     "april",   "may",      "june",
                              "july",    "august",   "september", "october", "november", "december"};
  for (std::size_t i = 0; i < months.size(); ++i)
    if (lower(name) == months[i]) return static_cast<int>(i) + 1;
  return 0;
}

}  // namespace

std::optional<std::int64_t> seconds_of_time(std::string_view time) {
  static const std::regex iso(
      R"((\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)? ?(Z|UTC|[+-]\d\d:?\d\d)?)");
  static const std::regex moodle(R"((?:[A-Za-z]+, )?(\d{1,2}) ([A-Za-z]+) (\d{4}), (\d{1,2}):(\d\d)\s*([AaPp][Mm])?)");
  const std::string text(trim(time));
  std::smatch part;
  if (std::regex_match(text, part, iso))
    return seconds_of(
        calendar(whole(part[1]), whole(part[2]), whole(part[3]), whole(part[4]), whole(part[5]), whole(part[6])),
        zone_of(part[7]));
  if (!std::regex_match(text, part, moodle) || month_named(part[2]) == 0) return {};
  const std::string half = lower(part[6].str());
  const int hour = whole(part[4]);
  if (!half.empty() && (hour < 1 || hour > 12)) return {};
  const int hours = half.empty() ? hour : hour % 12 + (half == "pm" ? 12 : 0);
  return seconds_of(calendar(whole(part[3]), month_named(part[2]), whole(part[1]), hours, whole(part[5]), 0), {});
}

std::optional<int> days_of_month_exceeded(std::string_view time) {
  static const std::regex date(R"((\d{4})-(0[1-9]|1[0-2])-(\d\d).*)");
  const std::string text(trim(time));
  std::smatch part;
  if (!std::regex_match(text, part, date)) return {};
  const std::chrono::year_month_day_last last(std::chrono::year(whole(part[1])),
                                              std::chrono::month_day_last(std::chrono::month(whole(part[2]))));
  const auto days = static_cast<int>(static_cast<unsigned>(last.day()));
  return whole(part[3]) > days ? std::optional(days) : std::nullopt;
}

std::string time_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm local{};
  std::array<char, 32> text{};
  localtime_r(&time, &local);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local);
  return text.data();
}

}  // namespace odori::grader
