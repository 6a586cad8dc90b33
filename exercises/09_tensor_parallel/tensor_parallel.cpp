// Task 9: split the layers of a network over the ranks of a node (tensor parallel), and the images of a batch over the
// nodes (data parallel).
//
// Goal:    y = relu(x A + a) B + b with A split by columns and B by rows: one all-reduce in forward, one in backward,
//          and the result of one process. Each node has a copy of the network and its own images.
// Time:    35 minutes, after task 2.
// Reading: lib/comm/process_group.h (groups, split, shard, all_reduce); exercises/common/mlp.h (initial_slice).
// Command: ./odori run tensor_parallel --ranks 4 --nodes 2 --epoch 2
// Output:  how much your network's output differs from that of one process, the bytes that a rank sends in an update,
//          and the table of epochs.
//
// The network has three layers. All ranks have the first one as a whole: it is replicated. A [width, hidden] and
// B [hidden, classes] are split. The sum over all hidden values, h B, is a sum of sums over the ranks' own.
// Source: M. Shoeybi et al., 2019, "Megatron-LM: training multi-billion parameter language models".
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "odori.h"
#include "tensor_parallel_support.h"

using namespace odori;

/// The ranks of a node hold the shards of one copy of the network. Every node has the same number of ranks.
Groups make_groups(const Communicator& comm) {
  const ProcessGroup world = comm.group();
  // BLANK 1: {.tensor = ..., .data = ...}: which ranks hold the shards of one copy of the network, and which ranks of
  //          all copies hold the same shard? Don't rely on the order in which ranks are placed on the nodes.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// What this rank has of the layers `first`, A and B. All shards are slices of one initial network, that of the seed.
SplitNetwork make_network(const mlp::Layer& first, const mlp::Layer& A, const mlp::Layer& B, const ProcessGroup& tensor,
                          std::uint64_t seed) {
  // BLANK 2: This rank's columns of A, whose matrix is [A.in + 1, A.out]: the last row is the bias a. Together, the
  //          ranks of the group have each column once.
  const std::vector<float> a = PUT_YOUR_CODE;
  // END BLANK
  // BLANK 3: This rank's rows of B, whose matrix is [B.in + 1, B.out], without the last row: all ranks have the bias b.
  const std::vector<float> b = PUT_YOUR_CODE;
  // END BLANK
  return assemble(first, A, B, a, b, seed);
}

/// From images [n, first.in] to y [n, classes], the same on all ranks of the node.
Activations forward(const SplitNetwork& net, const Groups& groups, std::span<const float> images) {
  Activations act;
  act.x = net.first.forward(images, net.first.bias);  // [n, width], the same on all ranks of the node
  mlp::relu_forward(act.x);
  // BLANK 4: What does this rank add to its part of y, so that the sum over the node's ranks has the bias b,
  //          net.b.bias, once? An empty vector: nothing.
  const std::vector<float> bias = PUT_YOUR_CODE;
  // END BLANK
  // BLANK 5: act.h = relu(x A + a) for this rank's columns of A, and act.y = h B + b of the whole layers, with as
  //          little communication as possible. layer.forward(x, bias) returns x W + bias, with the rank's shard of W.
  PUT_YOUR_CODE;
  // END BLANK
  return act;
}

/// From dy, the gradient of the loss with respect to y, the same on all ranks of the node, to the gradients of this
/// rank's parameters. layer.backward(x, dy) adds those of the layer, and returns dx.
void backward(SplitNetwork& net, const Groups& groups, std::span<const float> images, const Activations& act,
              std::span<const float> dy) {
  std::vector<float> dh = net.b.backward(act.h, dy);
  mlp::relu_backward(act.h, dh);
  std::vector<float> dx = net.a.backward(act.x, dh);
  // BLANK 6: The first layer is replicated, so all ranks need the same dx. What is missing in this one?
  PUT_YOUR_CODE;
  // END BLANK
  mlp::relu_backward(act.x, dx);
  net.first.backward(images, dx);
}

/// Makes the gradients of a layer, layer.dweights and layer.dbias, their mean over all copies of the network.
void average_gradients(Linear& layer, const Groups& groups) {
  for (std::vector<float>* const gradients : {&layer.dweights, &layer.dbias}) {
    // BLANK 7: Make *gradients the mean over all copies of the network. Which ranks have the other copies' gradients of
    //          these parameters?
    PUT_YOUR_CODE;
    // END BLANK
  }
}

/// Trains on a batch, which all ranks have. Returns the mean loss over the images of this copy of the network.
double update(SplitNetwork& net, const Groups& groups, const mlp::Images& batch, float learning_rate) {
  const std::size_t size = batch.labels.size();  // the number of copies divides it
  // BLANK 8: Images [begin, end) of the batch's `size` images for this rank. The copies of the network share the batch.
  const Range range = PUT_YOUR_CODE;
  // END BLANK
  const mlp::Images images = part_of(batch, range);
  net.zero_gradients();
  const Activations act = forward(net, groups, images.x);
  std::vector<float> dy(act.y.size());
  const mlp::Loss loss = mlp::softmax_cross_entropy(act.y, images.labels, dy);
  backward(net, groups, images.x, act, dy);
  for (Linear* const layer : {&net.first, &net.a, &net.b}) {
    average_gradients(*layer, groups);
    layer->update(learning_rate);
  }
  return loss.mean;
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  TensorParallel program{make_groups, make_network, forward, backward, average_gradients, update};
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "tensor_parallel",
       .about = "Task 9: a perceptron whose layers are split over the ranks of a node, trained on CIFAR.",
       .network = false,
       .own = {{"--batchsize", "Images of an update, of all nodes together", &program.batch, 1, 1 << 16},
               {"--width", "Rows of A: values after the first layer", &program.width, 1, 1 << 14},
               {"--hidden", "Columns of A, rows of B", &program.hidden, 1, 1 << 14}}});
  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  train_tensor_parallel(program, args, *comm);
  return 0;
} catch (...) {
  return report_failure();
}
