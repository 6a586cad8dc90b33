// SPDX-License-Identifier: Apache-2.0
// An iteration of a learner's pipeline on simulated ranks. No program includes it.
#pragma once

#include <functional>
#include <vector>

#include "pipeline_support.h"
#include "simulate/simulate.h"

namespace odori {

struct VirtualPipeline {
  simulate::Result result;
  std::vector<int> most_held;    // micro-batches whose activations a rank held at the same time, at most
  std::vector<float> gradients;  // of all stages, one after another
};

/// What a rank has computed: the step, and the virtual time at which it began.
using OnStep = std::function<void(simulate::Rank& rank, const Step& step, double began)>;

/// The orders of all ranks, one each: GPipe's, or 1F1B's.
std::vector<Order> orders_of(const PipelineFunctions& functions, bool is_gpipe, int p, int m);

/// Runs an iteration of m micro-batches in these orders, one for each rank of the cluster, on stages of one layer
/// of one value, and one image for each micro-batch. A forward takes `forward` seconds, a backward two times as long:
/// two of the three products. Throws Error if ranks wait for each other.
VirtualPipeline run_in_virtual_time(const PipelineFunctions& functions, const std::vector<Order>& orders, int m,
                                    const cost::Cluster& cluster, double forward, const simulate::Options& options,
                                    const OnStep& on_step);

/// What one device computes as VirtualPipeline::gradients, from the same images as one batch.
std::vector<float> gradients_of_one_device(int p, int m);
/// Throws Error if the run's gradients are not these.
void check_gradients(const VirtualPipeline& run, const std::vector<float>& expected);

/// The curves of the report, in this order.
enum class PipelineCurve : std::size_t { gpipe, one_forward_one_backward, without_messages };

/// Runs both schedules on the clusters that ./odori simulate asks for, and writes a report. Returns false if no
/// simulation is asked for.
bool simulate_if_asked(const PipelineFunctions& functions);

}  // namespace odori
