// What a batch shows while it runs: a line an answer and, on a terminal, how far it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "batch/batch.h"
#include "batch/record.h"
#include "class_report/marks.h"
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
  /// A line of `record`, with its points as the reports have them.
  void record(const TaskRecord& record, const TaskMarks& marks, const Progress& progress);
  void progress(const Progress& progress);

 private:
  void clear();
  void print(const std::string& line);

  const Messages& messages_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace odori::grader
