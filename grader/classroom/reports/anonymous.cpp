// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/anonymous.h"

#include <set>

namespace odori::grader {

StudentRecord anonymous(const StudentRecord& student, const std::string& code) {
  static const std::set<std::string> nameless{"flag_absent",   "flag_forbidden", "flag_hidden", "flag_outside",
                                              "flag_too_good", "flag_unsteady",  "flag_unusual"};
  StudentRecord result{.name = code, .tasks = {}, .people = {}};
  for (const auto& [name, record] : student.tasks) {
    TaskRecord& task = result.tasks[name];
    task = {.student = code,
            .task = record.task,
            .content = record.content,
            .state = record.state,
            .reason = record.reason,
            .attempts = record.attempts,
            .seconds = record.seconds,
            .timed = record.timed,
            .check = record.check,
            .submitted = record.submitted,
            .files = {}};
    for (const Finding& flag : record.flags)
      if (nameless.contains(flag.key)) task.flags.push_back(flag);
    if (!task.check) continue;
    task.check->timeline.clear();
    task.check->left_out.clear();
  }
  return result;
}

}  // namespace odori::grader
