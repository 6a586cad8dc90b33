// SPDX-License-Identifier: Apache-2.0
// What a right answer to task 9 shows.
#include "network_case.h"

namespace odori::grader {

ShownFigure bytes_over_batch(Runs& runs) {
  constexpr std::size_t hidden = 64;
  std::vector<TensorParallelCase> cases;
  for (const std::size_t batch : {8, 16, 32, 64, 128, 256, 512})
    cases.push_back({.in = 1, .width = 32, .hidden = hidden, .classes = 10, .images = batch, .updates = 0});
  const RunPlan in_node = trying({0, 0}, cases), across = trying({0, 1}, cases);
  runs.prepare({in_node, across});
  Curve tensor{.name = "tp_picture_tensor", .measured = true}, data{.name = "tp_picture_data", .measured = true};
  Curve tensor_line{.name = "tp_picture_tensor_line"}, data_line{.name = "tp_picture_data_line"};
  std::vector<double> batches;
  const auto counted = [](const NetworkCase& network, std::initializer_list<const char*> events) {
    double bytes = 0;
    for (const char* event : events) bytes += static_cast<double>(network.bytes(0, event));
    return bytes;
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const TensorParallelCase& sizes = cases[i];
    const auto values = static_cast<double>(sizes.width + sizes.classes);
    batches.push_back(static_cast<double>(sizes.images));
    tensor.values.emplace_back(counted(NetworkCase({runs, in_node}, i), {forward_sent, backward_sent}));
    data.values.emplace_back(counted(NetworkCase({runs, across}, i), {averages_sent}));
    // On two ranks, an all-reduce sends 2 (n - 1) / n = 1 time its bytes.
    tensor_line.values.emplace_back(batches.back() * values * sizeof(float));
    data_line.values.emplace_back((hidden * values + hidden + static_cast<double>(sizes.classes)) * sizeof(float));
  }
  return {{"tp_picture",
           "tp_picture_is",
           "tp_picture_batch",
           "tp_picture_bytes",
           batches,
           {tensor_line, data_line, tensor, data}},
          {{"hidden", std::to_string(hidden)}}};
}

}  // namespace odori::grader
