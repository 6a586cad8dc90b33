// Task 8: shard Adam's state over the ranks (ZeRO-1), then the gradients and the parameters as well (gather on use).
//
// Goal:    the weights of one process, with 1/n of the optimizer's memory on each of n ranks (part A), then with two
//          layers' parameters in memory at most (part B).
// Time:    35 minutes for each part, after task 3.
// Reading: lib/comm/process_group.h; exercises/08_sharded/support/sharded_support.h.
// Command: ./odori run sharded --ranks 3 --batchsize 48 --fraction 0.2 --epoch 2
// Output:  whether both parts train as one process does; the bytes in memory and those that a rank sends; the memory of
//          stages 0 to 3 for 7 billion parameters; and the table of epochs.
//
// In fp32, a parameter takes 16 bytes: itself, its gradient, and two moments of Adam. Data parallelism keeps all of
// them n times. Sharding the moments saves 8 (n-1)/n of the 16 bytes, and an update sends no more than before.
// Source: S. Rajbhandari et al., 2020, "ZeRO: memory optimizations toward training trillion parameter models".
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "odori.h"
#include "sharded_support.h"

using namespace odori;

// ---- Part A. Every rank has all parameters and the gradients of its own images, and a shard of Adam's state.

/// This rank's state, for a model of n parameters.
AdamState make_state(std::size_t n, const ProcessGroup& world) {
  const Range own = world.shard(n);  // this rank updates the parameters [own.begin, own.end)
  // BLANK 1: AdamState(k) holds both moments of k parameters. How many does this rank need?
  return PUT_YOUR_CODE;
  // END BLANK
}

/// Scales this rank's shard of the mean gradient, so that the norm of the whole mean gradient is max_norm at most.
void clip(std::span<float> shard, float max_norm, const ProcessGroup& world) {
  float norm = 0;
  // BLANK 2: Make `norm` the norm of the whole: the square root of the sum of all squares. Each rank has a shard.
  PUT_YOUR_CODE;
  // END BLANK
  if (norm > max_norm)
    for (float& gradient : shard) gradient *= max_norm / norm;
}

/// An update of all parameters. The gradients are those of this rank's own images.
void update(std::span<float> parameters, std::span<float> gradients, AdamState& state, float max_norm,
            const ProcessGroup& world) {
  const Range own = world.shard(parameters.size());
  std::vector<float> mean(own.size());
  // BLANK 3: Fill `mean` with the mean over all ranks' gradients, for this rank's own parameters. Send as little as
  //          possible.
  PUT_YOUR_CODE;
  // END BLANK
  clip(mean, max_norm, world);
  // BLANK 4: Update this rank's own parameters. state.update(k, parameter, gradient) updates one of them, with element
  //          k of this rank's state.
  PUT_YOUR_CODE;
  // END BLANK
  // BLANK 5: Every rank has updated its own parameters. What is missing until all ranks have all new ones?
  PUT_YOUR_CODE;
  // END BLANK
}

/// Resumes on n ranks from the shards that were saved, saved[r] by rank r. Their number need not be n. Returns the new
/// shard of this rank. shard_of(size, rank, n) is the range of a rank's shard.
std::vector<float> reshard(const std::vector<std::vector<float>>& saved, int rank, int n) {
  std::vector<float> shard;
  // BLANK 6: Fill `shard`. No rank has to be asked: all saved shards are here.
  PUT_YOUR_CODE;
  // END BLANK
  return shard;
}

// ---- Part B. Every rank has a shard of each layer's parameters, mean gradients and state. It has all parameters of a
// layer only while they are used: that is stage 3 of ZeRO, or FSDP.

/// Computes the layers 0, 1, ..., model.layers() - 1.
void forward(ShardedModel& model) {
  const int last = model.layers() - 1;
  // BLANK 7: Of each layer: gather its parameters (start_gather, wait), compute (forward), free them (free_parameters).
  //          While a layer computes, the next one's gather is on its way, and no other. The last layer's parameters
  //          may be kept for backward.
  PUT_YOUR_CODE;
  // END BLANK
}

/// After model.backward(i): this rank needs its shard of the layer's mean gradients, and no other gradients.
void reduce_gradients(ShardedModel& model, int i, const ProcessGroup& world) {
  // BLANK 8: model.gradients(i) are those of this rank's own images. Fill model.mean_shard(i), and free the others
  //          (free_gradients).
  PUT_YOUR_CODE;
  // END BLANK
}

/// Computes the layers in reverse order, and their mean gradients.
void backward(ShardedModel& model, const ProcessGroup& world) {
  const int last = model.layers() - 1;
  // BLANK 9: As in forward, with model.backward(i) and, at once after it, reduce_gradients(model, i, world). All
  //          parameters are freed at the end. start_gather does nothing for a layer that is in memory already.
  PUT_YOUR_CODE;
  // END BLANK
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  ShardedProgram program{make_state, clip, update, reshard, forward, backward};
  std::string stage = "3";
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "sharded",
       .about = "Task 8: a perceptron trained by Adam, whose state, gradients and parameters are sharded over ranks.",
       .network = false,
       .learnrate = Adam::usual_rate,
       .own = {{"--batchsize", "Images of an update, of all ranks together", &program.batch, 1, 1 << 16},
               {"--layers", "Layers of the perceptron", &program.n_layers, 1, 100},
               {"--width", "Outputs of each layer but the last one", &program.width, 1, 1 << 14},
               {"--stage", "Train with part A (1) or part B (3)", OneOf{&stage, {"1", "3"}}}}});
  program.stage = std::stoi(stage);
  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  train_sharded(program, args, *comm);
  return 0;
} catch (...) {
  return report_failure();
}
