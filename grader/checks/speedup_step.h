// What follows when all blanks are right: counts that need no clock, the timeline, and the measured speedup.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "checks/judge_answer.h"
#include "report/timeline.h"

namespace odori::grader {

struct SpeedupStep {
  BlankVerdict verdict;            // blank 0
  std::optional<Finding> line;     // "1 device 104 images/s, 2 devices ..."; none if nothing was measured
  std::optional<Finding> counts;   // none if the learner's program failed, or took too long
  std::filesystem::path timeline;  // the page that was written; empty if none could be
};

/// Returns the path; empty if it can't be written: no reason to hold back a verdict.
std::filesystem::path write_page(const std::filesystem::path& path, const std::string& page);

/// What one update moves, by the learner's own event stream.
Finding counts_of(const timeline::Timeline& timeline, bool under_mpi, int images_a_device);

/// Why CPU devices can't be measured: there are too few cores.
std::optional<Finding> why_not_measured(int devices, int cores, bool under_mpi);

/// Takes up to a minute. `whole`: the learner's program, all of which is right. The page is
/// timeline.html in the question's `out`. Throws Error on Ctrl-C.
SpeedupStep take_speedup(const Question& question, const std::filesystem::path& whole, double points,
                         const std::string& language);

}  // namespace odori::grader
