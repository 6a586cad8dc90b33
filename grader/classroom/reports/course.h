// What all reports of a class share: what it was asked, what that is worth, and how it is worded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "messages/messages.h"

namespace odori::grader {

struct Course {
  std::string title;                                       // the instructor's name for it: that of the submissions
  std::string date;                                        // of this report, as it is to be printed
  std::vector<Task> tasks;                                 // that are marked, in order
  std::map<std::string, std::map<int, double>> points_of;  // by task and blank; 0: the speedup
  Messages english, japanese;
  bool timings = false;  // whether speedups are measured, and count
};

}  // namespace odori::grader
