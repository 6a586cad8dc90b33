// SPDX-License-Identifier: Apache-2.0
// What the checks of programs with a fault (exercises 13 and 14) have in common.
#pragma once

#include <set>
#include <vector>

#include "checks/findings.h"
#include "diagnosis.h"

namespace odori::grader::faults {

/// A test case of one of the programs, by number.
RunPlan run_of(int program, RunPlan plan);
/// Is this a test case of that program?
bool is_of(const Situation& situation, int program);
/// The check's find, for the test cases of one program alone.
std::function<Found(const Situation&)> in_program(int program, Found (*find)(const Situation&));

/// The test case in which an answer shows its diagnoses.
extern const RunPlan diagnoses_asked;
/// What a diagnosis may say.
struct Accepted {
  std::set<Who> ranks;
  std::set<Line> lines;
  Why why;
};
/// The check of a program's diagnosis.
std::function<Found(const Situation&)> in_diagnosis(int program, const Accepted& accepted);

// ---- What task 2 asks of a training run. Keys of both exercises, unless they are the grader's own.

/// On each node the ranks use devices of their own, 0, 1, ..., in any order. Key: faults_devices.
Found find_in_devices(const Situation& situation);
/// Training shards have one size, and together hold all images but ranks - 1 at most. Keys: faults_shards_unequal,
/// faults_images_left_out.
Found find_in_shards(const Situation& situation);
/// All ranks have the same parameters after each update: those that the mean gradient makes. Keys: faults_ranks_apart,
/// faults_gradients_summed, faults_rate_divided.
Found find_in_weights(const Situation& situation);
/// The result that rank 0 has is that of the whole test set. Keys: faults_own_result.
Found find_in_result(const Situation& situation);
/// Trains and evaluates all epochs on each rank; and a run that ends by different calls. `situation` is of any program,
/// or asks for diagnoses.
Found find_in_ending(const Situation& situation);

/// The collective calls of each of 3 ranks in the repaired programs.
ShownFigure rank_table(Runs& whole, const std::vector<RunPlan>& of_programs);

}  // namespace odori::grader::faults
