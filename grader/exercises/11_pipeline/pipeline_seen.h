// SPDX-License-Identifier: Apache-2.0
// What a run of task 11 showed: schedules, costs and idle shares, and the gradients of each rank; and the right ones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "checks/findings.h"
#include "pipeline_cases.h"

namespace odori::grader {

/// A step of an order: forward or backward of a micro-batch.
struct StepSeen {
  bool is_backward = false;
  std::int64_t micro_batch = 0;
  bool operator==(const StepSeen&) const = default;
};
using OrderSeen = std::vector<StepSeen>;

/// "F0 F1 B0 B1"
std::string in_words(const OrderSeen& order);

/// An order that the program's function returned.
struct Scheduled {
  int rank = 0, p = 1, m = 1;
  OrderSeen order;
};
/// All of rank 0's, by the name of the event, in the order of the calls.
std::vector<Scheduled> schedules_seen(const Evidence& evidence, const char* event);

/// 1F1B as it has to be.
OrderSeen expected_one_forward_one_backward(int rank, int p, int m);
inline int expected_warm_up(int rank, int p, int m) { return std::min(p - rank - 1, m); }

/// How many micro-batches' activations a rank holds at most that keeps to this order.
int most_held(const OrderSeen& order);

PipelineCases pipeline_cases_of(const RunPlan& plan);

/// The gradients of the whole network and the whole batch, as one device computes them, before each update of a run.
/// Computed in double, by plain loops.
std::vector<std::vector<double>> gradients_of_one_device(const PipelineRun& run);

/// Where the parameters of each layer begin, and where the last ones end.
std::vector<std::size_t> offsets_of_layers(const std::vector<std::size_t>& widths);

/// One iteration of a run, in which some rank's gradients are not those of one device.
struct WrongGradients {
  PipelineRun run;
  int iteration = 0;       // counted from 0
  int ranks = 1;           // p
  std::vector<int> wrong;  // ranks
  double factor = 0;       // by which all gradients of all ranks are larger than they should be; 0: there is none
};
/// The first one. Nothing if there is none, or if the run did not come that far.
std::optional<WrongGradients> find_wrong_gradients(const Situation& situation);

}  // namespace odori::grader
