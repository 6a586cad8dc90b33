// SPDX-License-Identifier: Apache-2.0
// Names of answers: as the kit has them, and as browsers, Moodle and GitHub Classroom change them.
#pragma once

#include <optional>
#include <string>

namespace odori::grader {

/// A file of an exercise.
struct Wanted {
  std::string name;    // train_cifar_multi_gpu.cpp
  std::string folder;  // below the kit: exercises/01_multi_gpu/
};

struct Named {
  const Wanted* wanted = nullptr;  // null: none
  bool exact = false;
  std::string prefix;  // "Tanaka_Taro_12345_assignsubmission_file_"
};

/// The file that a name means: NAME.cpp, PREFIX_NAME.cpp, NAME (1).cpp, NAME - Copy.cpp, NAME - コピー.cpp. Hidden
/// files have no meaning.
Named wanted_named(const std::string& name);

/// "aoki" for "aoki (2)" and "aoki - Copy"; nothing if the name does not end as a copy's.
std::optional<std::string> copied_name(const std::string& name);

/// The student of a folder or file of Moodle's: NAME_NUMBER of NAME_NUMBER_assignsubmission_file_, also with FILE after
/// it, and of ..._onlinetext_. Nothing for other names.
struct MoodleOwner {
  std::string folder, name, number;  // "Kim Min_4009", "Kim Min", "4009"
};
std::optional<MoodleOwner> moodle_owner(const std::string& name);

/// The student that a loose file belongs to: Moodle's, or PREFIX for PREFIX_FILE if FILE is wanted. Nothing if the name
/// does not contain one.
std::optional<std::string> owner_of_loose(const std::string& name);

/// exercises, jobscripts, and the exercises' own folders.
bool is_folder_of_answers(const std::string& name);
/// solutions and out: the kit's answers, and what the kit wrote.
bool is_folder_without_answers(const std::string& name);

}  // namespace odori::grader
