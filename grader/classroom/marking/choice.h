// SPDX-License-Identifier: Apache-2.0
// Which of a student's files is marked.
//
// A file that still equals the exercise, with each blank empty, loses to any other. Of the others the newest is taken,
// whatever its name; of those from the same minute, the one with the exact name, then the one in the kit's place, then
// the one in the fewest folders. A line of overrides.csv names another one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blanks/finding.h"
#include "classroom/marking/record.h"
#include "classroom/marking/scan.h"

namespace odori::grader {

/// What an instructor wants.
struct Preference {
  std::string student;             // the name, for messages
  std::vector<std::string> files;  // paths below the student's folder, or ends of them
  std::int64_t not_after = 0;      // later files are taken only if there is no other; 0: no limit
};

struct Choice {
  std::optional<std::string> text;
  std::optional<ChosenFile> file;
  std::int64_t arrived = 0;  // when the platform got it; 0: unknown
  std::vector<Finding> flags;
};

/// Chooses one of the student's files with this name. `exercise`: the text that students were given; "" if it is not
/// known.
Choice choose(const ScannedStudent& student, const std::string& file, const std::string& exercise,
              const Preference& preference);

/// Throws Refusal, with the files that there are, if a preferred one does not exist.
void require_preferred(const ScannedStudent& student, const Preference& preference,
                       const std::filesystem::path& overrides);

}  // namespace odori::grader
