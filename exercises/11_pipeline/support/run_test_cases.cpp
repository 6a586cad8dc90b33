// SPDX-License-Identifier: Apache-2.0
// The functions of the program, called with the grader's test cases.
#include <algorithm>

#include "observe/hooks.h"
#include "pipeline_cases.h"
#include "pipeline_support.h"
#include "test_cases.h"
#include "virtual_pipeline.h"

namespace odori {
namespace {

/// Reports an order, and no more of it than tells that it is too long.
void report(const char* what, std::vector<std::int64_t> about, const Order& order, int m) {
  const std::size_t most = 2 * static_cast<std::size_t>(m) + 4;
  for (const Step& step : std::span(order).first(std::min(order.size(), most)))
    about.push_back(code_of(step.pass == Phase::backward, step.micro_batch));
  observe::on_event(what, about);
}

void call_functions(const PipelineFunctions& functions) {
  std::vector<float> costs, shares;
  for (const mlp::Layer& layer : mlp::make_layers(tried_widths))
    costs.push_back(static_cast<float>(functions.cost_of(layer, layer.range.begin == 0)));
  observe::on_values(costs);
  for (const int m : tried_micro_batches) report(gpipe_order, {m}, functions.gpipe(m), m);
  for (const int p : tried_ranks)
    for (const int m : tried_micro_batches) {
      shares.push_back(static_cast<float>(functions.idle_share(p, m)));
      for (int rank = 0; rank < p; ++rank)
        report(one_forward_one_backward_order, {rank, p, m}, functions.one_forward_one_backward(rank, p, m), m);
    }
  observe::on_values(shares);
}

mlp::Images known_images(const PipelineRun& run, int iteration) {
  mlp::Images images;
  for (std::size_t n = 0; n < run.images * static_cast<std::size_t>(run.micro_batches); ++n) {
    for (std::size_t pixel = 0; pixel < run.widths.front(); ++pixel)
      images.x.push_back(known_pixel(iteration, n, pixel));
    images.labels.push_back(known_label(iteration, n, run.widths.back()));
  }
  return images;
}

void take_known_parameters(Stage& stage, std::span<const mlp::Layer> layers) {
  const Range own = stage.range();
  for (const mlp::Layer& layer : layers)
    for (std::size_t i = std::max(layer.range.begin, own.begin); i < std::min(layer.range.end, own.end); ++i)
      stage.parameters[i - own.begin] = known_parameter(i, layer.in, i - layer.range.begin >= layer.in * layer.out);
}

/// Reports the gradients of each iteration.
void train(const PipelineFunctions& functions, const PipelineRun& run, Communicator& comm) {
  const std::vector<mlp::Layer> layers = mlp::make_layers(run.widths);
  const auto rank = static_cast<std::size_t>(comm.rank());
  const std::size_t end = rank + 1 < run.begins.size() ? run.begins[rank + 1] : layers.size();
  Stage stage(layers, {run.begins.at(rank), end}, 0);
  take_known_parameters(stage, layers);
  MpiPeers peers(comm);
  const Order order = functions.order(run.gpipe, comm.rank(), comm.size(), run.micro_batches);
  for (int iteration = 0; iteration < run.iterations; ++iteration) {
    stage.begin(known_images(run, iteration), run.micro_batches);
    functions.compute_gradients(order, stage, peers);
    observe::on_values(stage.gradients);
    mlp::sgd_update(stage.parameters, stage.gradients, known_rate);
  }
}

}  // namespace

bool run_test_cases(const PipelineFunctions& functions, Communicator& comm) {
  if (test_cases().is_null()) return false;
  if (simulate_if_asked(functions)) return true;
  const auto cases = test_cases().get<PipelineCases>();
  if (cases.functions) call_functions(functions);
  for (const PipelineRun& run : cases.runs) train(functions, run, comm);
  return true;
}

}  // namespace odori
