// SPDX-License-Identifier: Apache-2.0
// Times as instructors and platforms write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace odori::grader {

/// Seconds since 1970 of "2026-12-01T18:00", "2026-12-01 18:00:05.25 Z", "2026-12-01T18:00:00+09:00" (Gradescope,
/// GitHub Classroom) or "Tuesday, 1 December 2026, 6:00 PM" (Moodle in English). A time without a zone is in the zone
/// of this machine. Nothing for any other text, and for a day that does not exist.
std::optional<std::int64_t> seconds_of_time(std::string_view time);

/// The days of the month if the day of "2026-11-31..." lies beyond: 30. Nothing for any other text.
std::optional<int> days_of_month_exceeded(std::string_view time);

/// "2026-12-01 18:00", in the zone of this machine.
std::string time_text(std::int64_t seconds);

}  // namespace odori::grader
