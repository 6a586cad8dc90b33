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
  bool is_script = false;
};

/// The one of this name; null if none is wanted so.
const Wanted* wanted_named(const std::string& name);

class Candidates {
 public:
  /// A file, link or whatever else of a wanted name, below the student's folder: `parts` begin there. Reads it.
  void consider(const Wanted& wanted, const std::vector<std::string>& parts, const Entry& entry);

  /// The text that is taken.
  std::optional<std::string> text() const;
  /// What somebody should know about the choice.
  std::vector<Finding> flags() const;

 private:
  struct Rank {
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
