// SPDX-License-Identifier: Apache-2.0
// Shards of layers, parts of a batch, and the training run around functions that are right or wrong.
#include "tensor_parallel_support.h"

#include <gtest/gtest.h>

#include <array>

#include "files/file.h"
#include "on_nodes.h"
#include "sentence_of.h"
#include "synthetic.h"

namespace odori {
namespace {

using Floats = std::vector<float>;

const std::vector<mlp::Layer> layers = mlp::make_layers(std::array<std::size_t, 4>{5, 4, 7, 3});

/// Without a sum over ranks: right on one rank for each copy of the network.
TensorParallel unsplit() {
  return {.make_groups =
              [](const Communicator& comm) {
                return Groups{comm.group().split(comm.rank()), comm.group()};
              },
          .make_network =
              [](const mlp::Layer& first, const mlp::Layer& A, const mlp::Layer& B, const ProcessGroup&,
                 std::uint64_t seed) {
                return assemble(first, A, B, mlp::initial_parameters({&A, 1}, A.range, seed),
                                mlp::initial_slice(B, {0, B.in}, {0, B.out}, seed), seed);
              },
          .forward =
              [](const SplitNetwork& net, const Groups&, std::span<const float> images) {
                Floats x = net.first.forward(images, net.first.bias);
                mlp::relu_forward(x);
                Floats h = net.a.forward(x, net.a.bias);
                mlp::relu_forward(h);
                return Activations{x, h, net.b.forward(h, net.b.bias)};
              },
          .backward =
              [](SplitNetwork& net, const Groups&, std::span<const float> images, const Activations& act,
                 std::span<const float> dy) {
                Floats dh = net.b.backward(act.h, dy);
                mlp::relu_backward(act.h, dh);
                Floats dx = net.a.backward(act.x, dh);
                mlp::relu_backward(act.x, dx);
                net.first.backward(images, dx);
              },
          .average_gradients =
              [](Linear& layer, const Groups& groups) {
                const auto n = static_cast<float>(groups.data.size());
                for (Floats* list : {&layer.dweights, &layer.dbias}) {
                  for (float& value : *list) value /= n;
                  groups.data.all_reduce(*list);
                }
              },
          .update =
              [](SplitNetwork& net, const Groups& groups, const mlp::Images& batch, float learning_rate) {
                const TensorParallel self = unsplit();
                const mlp::Images images = part_of(batch, groups.data.shard(batch.labels.size()));
                net.zero_gradients();
                const Activations act = self.forward(net, groups, images.x);
                Floats dy(act.y.size());
                const double loss = mlp::softmax_cross_entropy(act.y, images.labels, dy).mean;
                self.backward(net, groups, images.x, act, dy);
                for (Linear* const layer : {&net.first, &net.a, &net.b}) {
                  self.average_gradients(*layer, groups);
                  layer->update(learning_rate);
                }
                return loss;
              },
          .batch = 8,
          .width = 6,
          .hidden = 9};
}

/// What rank 0 prints.
std::string trained(const TensorParallel& program, Communicator& comm, const Arguments& args) {
  if (comm.rank() == 0) testing::internal::CaptureStdout();
  train_tensor_parallel(program, args, comm);
  return comm.rank() == 0 ? testing::internal::GetCapturedStdout() : "";
}

class Training : public testing::Test {
 protected:
  Training() {
    synthetic::write_files(folder_.path(), {.train = 40, .test = 12});
    args_.dataset = folder_.path().string();
    args_.epoch = 2;
  }
  static int size() { return create_communicator("flat")->size(); }

  const TemporaryFolder folder_{testing::TempDir() + "odori_tensor_parallel_"};
  Arguments args_;
};

TEST_F(Training, OfCopiesIsThatOfOneProcess) {
  const auto comm = create_on(nodes_of("0123", size()), "flat");
  const std::string text = trained(unsplit(), *comm, args_);
  if (comm->rank() != 0) return;
  EXPECT_NE(text.find("compared with one process: right"), std::string::npos) << text;
  EXPECT_NE(text.find("data parallel"), std::string::npos) << text;
  EXPECT_NE(text.find("\n2      "), std::string::npos) << text;
}

TEST_F(Training, ShowsAWrongOutput) {
  TensorParallel wrong = unsplit();
  wrong.forward = [](const SplitNetwork& net, const Groups& groups, std::span<const float> images) {
    Activations act = unsplit().forward(net, groups, images);
    act.y[0] += 1;
    return act;
  };
  const auto comm = create_on(nodes_of("0123", size()), "flat");
  const std::string text = trained(wrong, *comm, args_);
  if (comm->rank() == 0) EXPECT_NE(text.find("compared with one process: WRONG"), std::string::npos) << text;
}

TEST_F(Training, RefusesNodesAndBatchesThatDoNotFit) {
  const int n = size();
  if (n == 4) {
    const auto uneven = create_on(nodes_of("0001", n), "flat");
    EXPECT_SENTENCE(train_tensor_parallel(unsplit(), args_, *uneven), "The nodes have 3, 1 ranks.");
    const auto mixed = create_on(nodes_of("0110", n), "flat");
    EXPECT_SENTENCE(train_tensor_parallel(unsplit(), args_, *mixed), "in changing order");
  }
  if (n == 1) return;
  TensorParallel odd = unsplit();
  odd.batch = 7;
  const auto comm = create_on(nodes_of("0123", n), "flat");
  EXPECT_SENTENCE(train_tensor_parallel(odd, args_, *comm), "cannot be shared equally");
}

TEST(Linear, IsALayerOfThePerceptron) {
  const mlp::Layer& layer = layers[1];
  const Floats parameters = mlp::initial_parameters(layers, layer.range, 3), x{1, -2, 3, 0.5, 2, 1, 0, -1};
  SplitNetwork net =
      assemble(layers[0], layer, layers[2], parameters, mlp::initial_slice(layers[2], {0, 7}, {0, 3}, 3), 3);
  Floats y(2 * layer.out);
  mlp::layer_forward(layer, parameters, x, y);
  Floats own = net.a.forward(x, net.a.bias);
  mlp::relu_forward(own);
  EXPECT_EQ(own, y);

  Floats dy(y.size(), 0.5f), dx(x.size()), gradients(parameters.size());
  mlp::relu_backward(y, dy);
  mlp::layer_backward(layer, parameters, x, y, dy, dx, gradients);
  EXPECT_EQ(net.a.backward(x, dy), dx);
  Floats seen = net.a.dweights;
  seen.insert(seen.end(), net.a.dbias.begin(), net.a.dbias.end());
  EXPECT_EQ(seen, gradients);
  net.a.update(0.25f);
  EXPECT_FLOAT_EQ(net.a.weights[0], parameters[0] - 0.25f * gradients[0]);
  net.zero_gradients();
  EXPECT_EQ(net.a.dbias, Floats(layer.out));
  EXPECT_SENTENCE(net.a.forward(Floats(6), {}), "no whole number of rows of 4");
}

TEST(Assemble, RefusesShardsThatDoNotFit) {
  const auto with = [](std::size_t a, std::size_t b) {
    return assemble(layers[0], layers[1], layers[2], Floats(a), Floats(b), 3);
  };
  EXPECT_EQ(with(15, 9).a.out, 3u);
  EXPECT_EQ(with(15, 9).b.bias.size(), 3u);
  EXPECT_SENTENCE(with(16, 9), "The shard of A has 16 elements. A column of A has 5");
  EXPECT_SENTENCE(with(0, 0), "c is at least 1");
  EXPECT_SENTENCE(with(15, 12), "The shard of B has 12 elements. The 3 columns of A");
}

TEST(PartOf, IsARangeOfABatch) {
  const mlp::Images batch{{1, 2, 3, 4, 5, 6}, {7, 8, 9}};
  const mlp::Images part = part_of(batch, {1, 3});
  EXPECT_EQ(part.x, (Floats{3, 4, 5, 6}));
  EXPECT_EQ(part.labels, (std::vector<int>{8, 9}));
  EXPECT_SENTENCE(part_of(batch, {1, 4}), "of a batch of 3");
  EXPECT_SENTENCE(part_of(batch, {2, 2}), "at least one image");
}

}  // namespace
}  // namespace odori
