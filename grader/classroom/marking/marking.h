// SPDX-License-Identifier: Apache-2.0
// One answer, marked by a child process: whatever happens to that, the batch goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "classroom/marking/lock.h"
#include "classroom/marking/record.h"

namespace odori::grader {

/// An answer that is to be marked.
struct Answer {
  TaskRecord record;             // as it is before: absent, or ungraded since it waits
  std::filesystem::path folder;  // of the task's files, of which one may be missing
  std::uint64_t seed = 0;
  const Task& task() const { return task_named(record.task); }
};

class Marker {
 public:
  struct Place {
    std::filesystem::path program;     // odori_grader
    std::filesystem::path kit, build;  // as its flags have them
    std::filesystem::path scratch;     // for the children
    std::filesystem::path locks;       // see folder_of_locks()
    bool sandbox = true;
    std::vector<std::filesystem::path> hidden = {};  // all submissions, and the marks: no answer's to see
  };
  explicit Marker(Place place);

  /// Judges every blank, without the speedup. A fault of this machine is tried again, twice; then the record says that
  /// the answer is ungraded, and why. Throws Error on Ctrl-C, or after stop(). May be called by several threads at
  /// once.
  TaskRecord mark(const Answer& answer);

  /// Judges once more, with the machine to itself, and measures the speedup. `marked`: what mark() returned. If both
  /// verdicts on a blank differ, it keeps the first, and is flagged. `pages`: where the page with the timeline is put,
  /// as TASK.timeline.html.
  TaskRecord time(const Answer& answer, const TaskRecord& marked, const std::filesystem::path& pages);

  /// Ends the children.
  void stop() { stopped_ = true; }

  /// The process that has this machine, while an answer waits for it (see this_process()), or "?"; else empty.
  std::string waits_for() const;

 private:
  struct Attempt;
  Lock machine_for(Lock::Kind kind);
  Attempt attempt(const Answer& answer, bool timed, const std::filesystem::path& pages);
  Attempt attempts(const Answer& answer, bool timed, const std::filesystem::path& pages, TaskRecord& record);

  Place place_;
  std::map<std::string, std::map<int, double>> points_of_;  // by task
  mutable std::mutex mutex_;
  std::string waits_for_;
  std::atomic<bool> stopped_ = false;
};

/// True if the speedup counts: only if every blank is right.
bool all_blanks_right(const CheckRecord& check);

}  // namespace odori::grader
