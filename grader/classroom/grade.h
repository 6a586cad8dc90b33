// SPDX-License-Identifier: Apache-2.0
// ./odori grade: a class, marked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

struct GradeFlags {
  std::filesystem::path submissions, out;
  std::filesystem::path kit, build;   // the kit's folder; the one that it is built in
  int jobs = 0;                       // answers at once; 0: as many as cores
  bool sandbox = true;                // false: --unsafe
  std::vector<std::string> students;  // these alone; empty: all
  bool regrade = false, apply = false;
  bool anonymous = false;               // RESULTS/anonymous/ as well
  bool submit = false;                  // an array job marks
  int element = 0, elements = 1;        // of such a job: which one this is, from 1; 0: none
  bool nice = false;                    // what runs gives way to others
  int memory = 0;                       // GiB for all answers at once; 0: no limit
  bool self_test = false, all = false;  // instead of a class; with slow attacks and the whole corpus
};

/// Returns 0 if all are graded, 20 if some are ungraded or the class can't be marked, 2 for a folder that can't be the
/// right one. Throws Error with exit code 130 on Ctrl-C.
int grade_class(const GradeFlags& flags);

}  // namespace odori::grader
