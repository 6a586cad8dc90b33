// SPDX-License-Identifier: Apache-2.0
// ./odori grade --submit: a class marked by an array job of PBS or Slurm, whose elements mark some students each.
//
//   RESULTS/array/answers   what the job was submitted for: a record in JSON on each line, not marked yet
//   RESULTS/array/job       the scheduler's name for the job that was submitted last
//   RESULTS/array/job.sh    its script; logs/ has what each element printed
//
// An element writes records where every batch writes them. Whatever it did not get to has none, and is marked by the
// next call, on the cluster or here.
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
  /// Writes the records of absent answers, and submits an array of at most `most_elements` for all others that are not
  /// marked yet. `submissions`: hidden from the answers. Throws Refusal with the scheduler's words.
  Submitted submit(const Batch& batch, const std::vector<Answer>& answers, const std::filesystem::path& submissions,
                   int most_elements, bool sandbox) const;
  /// What an element marks, the first of `of` being 1.
  std::vector<Answer> answers_of_element(const std::string& salt, int element, int of) const;

 private:
  std::filesystem::path folder() const { return results_ / "array"; }
  /// Of each student.
  std::vector<std::vector<TaskRecord>> waiting() const;
  /// Runs jobscripts/class_job.sh. Returns what it printed; throws Refusal where it fails.
  std::string ask_scheduler(const std::vector<std::string>& arguments) const;

  std::filesystem::path results_, kit_, build_;
};

}  // namespace odori::grader
