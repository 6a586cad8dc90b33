// One answer, marked by a child process: whatever happens to that, the batch goes on.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "classroom/marking/intake.h"
#include "classroom/marking/lock.h"
#include "classroom/marking/record.h"

namespace odori::grader {

/// An answer that is to be marked.
struct Answer {
  std::string student;
  const Task* task = nullptr;
  HandedIn handed_in;
  std::string content;  // see content_of()
  std::uint64_t seed = 0;
  std::string kit;  // the version that marks it
};

/// The record of an answer that nothing is known of yet.
TaskRecord record_of(const Answer& answer);

class Marker {
 public:
  struct Place {
    std::filesystem::path program;     // odori_grader
    std::filesystem::path kit, build;  // as its flags have them
    std::filesystem::path scratch;     // for the children; whoever starts next empties it
    std::filesystem::path locks;       // see folder_of_locks()
    bool sandbox = true;
    std::vector<std::filesystem::path> hidden = {};  // all that was handed in, and the marks: no answer's to see
  };
  explicit Marker(Place place);

  /// Judges every blank, without the speedup. A fault of this machine is tried again, twice; then the record says that
  /// the answer is ungraded, and why. Throws Error on Ctrl-C, or after stop(). May be called by several threads at
  /// once.
  TaskRecord mark(const Answer& answer);

  /// Judges once more, with the machine to itself, and measures the speedup. `marked`: what mark() said. Both verdicts
  /// on a blank differ: it keeps the first, and is flagged. `pages`: where the page with the timeline is put, as
  /// TASK.timeline.html.
  TaskRecord time(const Answer& answer, const TaskRecord& marked, const std::filesystem::path& pages);

  /// Ends the children.
  void stop() { stopped_ = true; }

  /// Who has this machine, while an answer waits for it: "PID 4711, since 14:30:00", or "?".
  std::optional<std::string> waits_for() const;

 private:
  struct Attempt;
  Lock machine_for(Lock::Kind kind);
  Attempt attempt(const Answer& answer, bool timed, const std::filesystem::path& pages);
  Attempt attempts(const Answer& answer, bool timed, const std::filesystem::path& pages, TaskRecord& record);

  Place place_;
  std::map<std::string, std::map<int, double>> points_of_;  // by task
  std::atomic<int> n_waiting_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// Does the speedup count? Only if every blank is right.
bool all_blanks_right(const CheckRecord& check);

}  // namespace odori::grader
