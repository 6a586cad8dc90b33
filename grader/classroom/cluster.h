// SPDX-License-Identifier: Apache-2.0
// ./odori grade --submit: a class marked by an array job of PBS or Slurm, whose elements mark some students each.
//
//   RESULTS/array/students   a line for each student: NAME TAB TASK TAB TASK ...
//   RESULTS/array/job        the scheduler's name for the job that was submitted last
//   RESULTS/array/job.sh     its script; logs/ has what each element printed
//
// An answer that waits has a record already: ungraded, for the reason "array_waits". An element replaces it. So
// whatever an element did not get to is marked by the next call, on the cluster or here.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "classroom/marking/batch.h"
#include "classroom/marking/results.h"

namespace odori::grader {

/// A job that may write records now.
struct RunningArray {
  std::string job;
  std::size_t n_marked = 0, of = 0;  // answers that it was submitted for
};

class Cluster {
 public:
  /// `results`: RESULTS. `kit`, `build`: as the flags have them.
  Cluster(std::filesystem::path results, std::filesystem::path kit, std::filesystem::path build);

  /// The job that marks RESULTS now; nothing if none was submitted, or it has ended. Throws Refusal if the scheduler
  /// cannot be asked.
  std::optional<RunningArray> running() const;

  struct Submitted {
    std::size_t n = 0;  // answers that wait; 0: nothing was left, and no job was submitted
    std::string job;
    std::filesystem::path logs;
  };
  /// Writes records of absent answers, and of those that wait, and submits an array of at most `most_elements`.
  /// `submissions`: hidden from the answers. Throws Refusal with the scheduler's words.
  Submitted submit(const Batch& batch, const std::vector<Answer>& answers, const std::filesystem::path& submissions,
                   int most_elements, bool sandbox) const;
  /// The class without the answers that wait: they have no mark yet, which is no fault of this machine.
  static std::vector<StudentRecord> without_waiting(std::vector<StudentRecord> students);

  /// What an element marks, the first of `of` being 1.
  std::vector<Answer> answers_of_element(const Records& records, const std::string& salt, int element, int of) const;

 private:
  std::filesystem::path folder() const { return results_ / "array"; }
  std::vector<std::vector<std::string>> students() const;
  /// Runs jobscripts/class_job.sh. Returns what it printed; throws Refusal where it fails.
  std::string ask_scheduler(const std::vector<std::string>& arguments) const;

  std::filesystem::path results_, kit_, build_;
};

}  // namespace odori::grader
