// A class, marked: many answers at once, then the speedups one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "classroom/marking/marking.h"
#include "classroom/marking/results.h"

namespace odori::grader {

/// How far it is.
struct Progress {
  bool timing = false;                   // the speedups
  std::size_t done = 0, of = 0;          // answers of this phase
  std::vector<std::string> under_way;    // "aoki multi_gpu"
  double seconds_left = -1;              // by the pace so far; below 0: not known yet
  std::optional<std::string> waits_for;  // who has this machine, while an answer waits for it
};

/// Who hears of it, on the thread that called run_batch.
class Audience {
 public:
  virtual ~Audience() = default;
  /// It is on the disk. `before`: the record of what had been handed in before, which it replaces.
  virtual void record(const TaskRecord& record, const std::optional<TaskRecord>& before, const Progress& progress) = 0;
  /// Several times a second.
  virtual void progress(const Progress& progress) = 0;
};

struct Batch {
  Records records;
  Marker& marker;
  int jobs = 1;         // answers at once
  bool timings = true;  // measure the speedups
};

/// Marks those answers that have no record of the same content yet, or an ungraded one; then measures the speedups that
/// are missing. Each record is on the disk before the next is begun in its place. Throws Refusal if a record can't be
/// written, and Error with exit code 130 on Ctrl-C: all that runs has been ended then, and the next call goes on.
void run_batch(const Batch& batch, const std::vector<Answer>& answers, Audience& audience);

/// The work of several threads: `work(i)` for each i below `n`, at most `jobs` at once, its result handed to `take` on
/// this thread. In between `wait` is called, several times a second. The first exception, of any of them, ends the
/// children by `stop` and is thrown again.
void work_through(std::size_t n, int jobs, const std::function<TaskRecord(std::size_t)>& work,
                  const std::function<void(TaskRecord)>& take, const std::function<void()>& wait,
                  const std::function<void()>& stop);

}  // namespace odori::grader
