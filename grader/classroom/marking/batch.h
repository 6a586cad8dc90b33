// SPDX-License-Identifier: Apache-2.0
// A class, marked: many answers at once, then the speedups one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "classroom/marking/marking.h"
#include "classroom/marking/results.h"

namespace odori::grader {

struct Progress {
  bool timing = false;              // the speedups
  std::size_t done = 0, of = 0;     // answers of this phase
  std::set<std::string> under_way;  // "aoki multi_gpu"
  double seconds_left = -1;         // by the pace so far; below 0: not known yet
  std::string waits_for;            // see Marker::waits_for()
};

/// What is called as marks come, by any thread, but by one at a time.
struct Audience {
  /// The record is on the disk. `before`: that of another content, which it replaces.
  std::function<void(const TaskRecord& record, const std::optional<TaskRecord>& before, const Progress& progress)>
      record;
  std::function<void(const Progress& progress)> progress;  // several times a second
};

struct Batch {
  Records records;
  Marker& marker;
  int jobs = 1;         // answers at once
  bool timings = true;  // measure the speedups
};

/// Marks those answers that have no record of the same content yet, or an ungraded one; then measures the speedups that
/// are missing. Throws WriteError if a record can't be written, and Error with exit code 130 on Ctrl-C: all that runs
/// has been ended then, and the next call goes on.
void run_batch(const Batch& batch, const std::vector<Answer>& answers, const Audience& audience);

/// Calls `work(i)` for each i below `n`, at most `jobs` at once, on other threads, and `wait` several times a second on
/// this one. The first exception ends the children by `stop`, and is thrown again.
void work_through(std::size_t n, int jobs, const std::function<void(std::size_t)>& work,
                  const std::function<void()>& wait, const std::function<void()>& stop);

}  // namespace odori::grader
