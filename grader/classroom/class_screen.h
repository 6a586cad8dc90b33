// SPDX-License-Identifier: Apache-2.0
// What a batch shows while it runs: a line an answer and, on a terminal, how far it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "classroom/marking/batch.h"
#include "classroom/marking/record.h"
#include "classroom/marking/regrade.h"
#include "classroom/reports/marks.h"
#include "messages/messages.h"

namespace odori::grader {

class ClassScreen {
 public:
  explicit ClassScreen(const Messages& messages);
  ~ClassScreen() { clear(); }
  ClassScreen(const ClassScreen&) = delete;
  ClassScreen& operator=(const ClassScreen&) = delete;

  /// A sentence on a line of its own.
  void say(const Finding& finding);
  void say(const std::string& key, std::map<std::string, std::string> values = {}) { say({key, std::move(values)}); }
  /// A line of `record`, with its points as the reports have them, and those that it had before.
  void record(const TaskRecord& record, const TaskMarks& marks, const std::string& before, const Progress& progress);
  void progress(const Progress& progress);

  /// A line of a table, never broken.
  void line(const std::string& line);

 private:
  /// Whatever comes from a submission is printed as text: no terminal obeys it.
  void print(const std::string& lines);
  void clear();
  void tell_of_waiting(const std::string& who);

  const Messages& messages_;
  std::chrono::steady_clock::time_point waiting_since_ = std::chrono::steady_clock::now();
  bool told_of_waiting_ = false;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// The table: student, task, blank, verdict and points before and after, and each student's total, as the reports have
/// it; and how many marks go up or down. Returns false, and prints nothing, if nothing would change.
bool print_changes(const Regrade& regrade, const Course& before_course, const Course& after_course,
                   const Messages& messages, ClassScreen& screen);

}  // namespace odori::grader
