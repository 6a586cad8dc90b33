// SPDX-License-Identifier: Apache-2.0
// What an instructor decides about a class: RESULTS/course.json.
//
//   {"title": "Parallel Computing 2026",             by default the name of the submissions
//    "language": "en",                               of the screen and of the upload files; by default that of LANG
//    "tasks": {"multi_gpu": 1, "ring": 2},           and their weights; by default all that are not optional, 1 each
//    "speedup": 20,                                  points of a task's 100; 0: speedups are not measured
//    "deadline": "2026-12-01T18:00",                 or null; in this machine's zone, unless it names one (Z, +09:00)
//    "late": "10%/day",                              points of 100 for each day begun, "refuse" (0 points), or null
//    "roster": ["classroom_roster.csv"]}             lists of students (roster.h), from RESULTS
//
// Every field may be left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

inline constexpr const char* course_file = "course.json";
inline constexpr double all_points = 100;  // of a task, and of the whole

/// What the marks of a class depend on. It changes for all students or for none.
struct Terms {
  std::map<std::string, double> weights;  // by task: those that are marked; all above 0
  double speedup = 20;                    // points of a task's 100, below 100
  std::string deadline, late;             // as course.json has them; empty: null
  bool operator==(const Terms&) const = default;

  bool timings() const { return speedup > 0; }
  bool has(const std::string& task) const { return weights.contains(task); }
  /// In the order of all_tasks().
  std::vector<std::string> tasks() const;
};

/// The tasks that are not optional, with the weight 1.
Terms usual_terms();

struct Settings {
  Terms terms = usual_terms();
  std::string title, language;      // empty: the default
  std::vector<std::string> roster;  // files, as course.json has them
};

/// Reads course.json; the defaults if there is no such file. Throws Refusal, naming the field, for a field or a value
/// that is not as above.
Settings read_settings(const std::filesystem::path& file);
/// Writes all fields. Throws WriteError.
void write_settings(const std::filesystem::path& file, const Settings& settings);

/// As in course.json. `file` is for messages.
nlohmann::ordered_json json_of(const Terms& terms);
Terms terms_of(const nlohmann::ordered_json& json, const std::filesystem::path& file);

/// The fields that differ, as "speedup: 20 -> 0; tasks: {...} -> {...}".
std::string differences(const Terms& before, const Terms& after);

/// What a submission after the deadline costs.
struct Late {
  double days = 0;       // begun
  double deducted = 0;   // points of the task's 100
  bool refused = false;  // then 100 of them
  bool operator==(const Late&) const = default;
};

/// Nothing if it was in time, or there is no deadline or no known time (0).
std::optional<Late> late_of(const Terms& terms, std::int64_t submitted);

}  // namespace odori::grader
