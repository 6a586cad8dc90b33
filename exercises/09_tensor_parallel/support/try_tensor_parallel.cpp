// SPDX-License-Identifier: Apache-2.0
#include "try_tensor_parallel.h"

#include <exception>
#include <functional>

#include "bytes_sent.h"
#include "observe/hooks.h"
#include "tensor_parallel_cases.h"
#include "test_cases.h"

namespace odori {
namespace {

void show_group(const char* event, const ProcessGroup& group) {
  const std::vector<std::int64_t> ranks(group.ranks_of_job().begin(), group.ranks_of_job().end());
  observe::on_event(event, ranks);
}

void show(std::vector<float> values, const std::vector<float>& more) {
  values.insert(values.end(), more.begin(), more.end());
  observe::on_values(values);
}
void show_gradients(const Linear& layer) { show(layer.dweights, layer.dbias); }
void show_parameters(const Linear& layer) { show(layer.weights, layer.bias); }

/// Where a shard is refused, other ranks come as far: what all of them have is shown.
SplitNetwork made_together(const std::function<SplitNetwork()>& make, Communicator& comm) {
  SplitNetwork net;
  std::exception_ptr failure;
  try {
    net = make();
  } catch (...) {
    failure = std::current_exception();
  }
  comm.barrier();
  if (failure) std::rethrow_exception(failure);
  return net;
}

void try_case(const TensorParallel& program, const Groups& groups, const TensorParallelCase& test_case,
              std::uint64_t seed, Communicator& comm) {
  const std::vector<mlp::Layer> layers = mlp::make_layers(test_case.widths());
  SplitNetwork net =
      made_together([&] { return program.make_network(layers[0], layers[1], layers[2], groups.tensor, seed); }, comm);
  const auto counted = [&](const char* event, const auto& call) {
    observe::on_event(event, {bytes_sent_by(call, comm)});
  };
  const std::vector<float> images = case_batch(test_case, seed, 0).x, dy = case_dy(test_case, seed);
  Activations act;
  counted(forward_sent, [&] { act = program.forward(net, groups, images); });
  show(act.h, {});
  show(act.y, {});
  counted(backward_sent, [&] { program.backward(net, groups, images, act, dy); });
  for (const Linear* layer : {&net.first, &net.a, &net.b}) show_gradients(*layer);

  std::size_t i = 0;
  for (std::vector<float>* const gradients : {&net.a.dweights, &net.a.dbias})
    for (float& gradient : *gradients) gradient = case_gradient(comm.rank(), i++);
  counted(averages_sent, [&] {
    program.average_gradients(net.a, groups);
    program.average_gradients(net.b, groups);
  });
  show_gradients(net.a);

  for (int update = 0; update < test_case.updates; ++update)
    program.update(net, groups, case_batch(test_case, seed, update), case_learning_rate);
  for (const Linear* layer : {&net.first, &net.a, &net.b}) show_parameters(*layer);
}

}  // namespace

bool try_tensor_parallel(const TensorParallel& program, std::uint64_t seed, Communicator& comm) {
  if (test_cases().is_null()) return false;
  const auto cases = test_cases().get<std::vector<TensorParallelCase>>();
  const Groups groups = program.make_groups(comm);
  show_group(tensor_group_made, groups.tensor);
  show_group(data_group_made, groups.data);
  for (std::size_t i = 0; i < cases.size(); ++i) try_case(program, groups, cases[i], seed + i, comm);
  return true;
}

}  // namespace odori
