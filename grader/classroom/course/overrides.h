// SPDX-License-Identifier: Apache-2.0
// What an instructor decides about single students: RESULTS/overrides.csv.
//
//   student,task,blank,points,file,comment
//   aoki,multi_gpu,3,2,,an unusual answer that is right
//   Ito Hanako,multi_gpu,,55,,                                    the whole task, of 100
//   baba@example.org,multi_gpu,speedup,20,,measured by hand
//   aoki,,late,0,,was ill until Friday                            points that lateness costs; 0 forgives it
//   Kim Min,multi_gpu,,,old/train_cifar_multi_gpu.cpp,            marks this file of several
//
// A student is named by folder, name, e-mail address or number. Points of a blank are of those in the reports.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "classroom/course/roster.h"

namespace odori::grader {

inline constexpr const char* overrides_file = "overrides.csv";

struct Override {
  double points = 0;
  std::string comment;
  bool operator==(const Override&) const = default;
};

/// The overrides of one student.
struct StudentOverrides {
  std::map<std::pair<std::string, int>, Override> points;  // by task, and blank (0: the speedup) or whole_task
  std::map<std::string, Override> late;                    // by task
  std::vector<std::string> files;                          // to be marked
};
inline constexpr int whole_task = -1;

using Overrides = std::map<std::string, StudentOverrides>;  // by the student's folder

/// A student of the class: the name of the folder below RESULTS/students, and who that is.
struct KnownStudent {
  std::string folder;
  std::vector<Person> people;
};

/// The student that a text means: a folder, or a person's name, e-mail address or number, whatever the case of letters.
/// Throws Refusal `key` if there is none, and "student_ambiguous" if there are several; `values` are added to both.
const KnownStudent& student_meant(const std::string& text, const std::vector<KnownStudent>& students,
                                  const std::string& key, const std::map<std::string, std::string>& values);

/// `points_of`: what each blank (0: the speedup) of each task of the class is worth. Nothing if there is no such file.
/// Throws Refusal, naming the row, for a student, task, blank or points that do not exist.
Overrides read_overrides(const std::filesystem::path& file, const std::vector<KnownStudent>& students,
                         const std::map<std::string, std::map<int, double>>& points_of);

}  // namespace odori::grader
