// Of several files of one name in a student's folder, the one that is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/entries.h"
#include "exercise/finding.h"
#include "exercise/task.h"

namespace odori::grader {

/// A file that a task consists of.
struct Wanted {
  std::string task, name;  // multi_gpu, train_cifar_multi_gpu.cpp
  std::string kits_path;   // exercises/01_multi_gpu/train_cifar_multi_gpu.cpp
};

/// A name that stands for a wanted file, as handed in: browsers and desktops name copies, Moodle puts the student
/// before it.
struct Named {
  enum class How { nearly, as_a_copy, exactly };
  const Wanted* wanted = nullptr;  // null: for none
  How how = How::nearly;
  std::string prefix;  // "Tanaka_Taro_12345_assignsubmission_file_"
};

/// NAME.cpp, PREFIX_NAME.cpp, and copies: NAME (1).cpp, NAME-2.cpp, NAME_1.cpp, NAME - Copy.cpp. Hidden files are none.
Named wanted_named(const std::string& name);

/// Nearly the name, as a student may have changed it: NAME.cpp.txt, NAME_final.cpp, Name.CPP, NAME.cc, with dashes or
/// blanks for underscores.
Named nearly_named(const std::string& name);

/// "aoki" of "aoki (2)", "aoki(2)", "aoki_2" or "aoki - Copy"; nothing if the name isn't like a copy's.
std::optional<std::string> copied_name(const std::string& name);

/// Is it a folder of the kit that a learner's answers lie in (exercises), or one that holds none of theirs: the kit's
/// own, what was built, what is kept (solutions, build*, out)?
bool is_kits_folder_of_answers(const std::string& name);
bool is_kits_folder_without_answers(const std::string& name);

/// Whose file lies loose among the students' folders: Moodle's NAME_NUMBER_assignsubmission_file_FILE is NAME_NUMBER's,
/// PREFIX_FILE with a wanted FILE is PREFIX's. Nothing if it doesn't say.
std::optional<std::string> owner_of_loose(const std::string& name);

class Candidates {
 public:
  /// A file, link or whatever else of a wanted name, below the student's folder: `parts` begin there. Reads it. Returns
  /// false if it is no answer of a student's.
  bool consider(const Named& named, const std::vector<std::string>& parts, const Entry& entry);

  /// The text that is taken.
  std::optional<std::string> text() const;
  /// What somebody should know about the choice.
  std::vector<Finding> flags() const;

 private:
  struct Rank {
    Named::How named = Named::How::nearly;
    bool as_in_the_kit = false;
    std::size_t n_folders = 0;
    std::int64_t modified = 0;
    bool is_better_than(const Rank& other) const;
  };
  struct Taken {
    Rank rank;
    std::string path, text;
  };

  std::optional<Taken> taken_;
  std::string name_;
  std::set<std::string> texts_;  // SHA-256 of all that differ
  std::size_t n_files_ = 0;
  std::vector<Finding> left_out_;
};

}  // namespace odori::grader
