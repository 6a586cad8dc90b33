// Task 11: cut a network into stages, one on each rank, and train it as a pipeline of micro-batches.
//
// Goal:    the gradients of one device, computed by p ranks that hold a stage each: with little idle time, and few
//          activations in memory.
// Time:    45 minutes.
// Reading: deck 3 of the slides, pipelines; exercises/11_pipeline/support/pipeline_support.h.
// Command: ./odori run pipeline --ranks 3 --batchsize 64 --fraction 0.2 --epoch 2
// Output:  your two schedules in virtual time, as a picture; whether the first gradients are those of one device; the
//          loss of each epoch.
//
// Activations pass from stage to stage, and their gradients pass back. A batch of images is split into m micro-batches,
// so that the stages compute at the same time. The network is a perceptron without batch normalisation: statistics of a
// micro-batch are not those of the batch, so that no pipeline would equal one device.
#include "odori.h"
#include "pipeline_support.h"

using namespace odori;

/// What a layer costs, in multiply-adds for one image. The layers are cut so that the most expensive stage costs as
/// little as possible.
double cost_of(const mlp::Layer& layer, bool is_first) {
  // BLANK 1: Forward is y = x W, where W has layer.in rows and layer.out columns. Backward is two more products: dW
  //          from x and dy, and dx from dy and W. The first layer needs no dx, since nobody trains images. How many
  //          multiply-adds is that for one image? (Leave out biases and ReLUs.)
  return static_cast<double>(mlp::multiply_adds(layer)) * (is_first ? 2 : 3);
  // END BLANK
}

/// What every rank does with m micro-batches, in order. GPipe (Y. Huang et al., 2019).
Order gpipe(int m) {
  Order order;
  // BLANK 2: The forward passes of all micro-batches, then all their backward passes.
  //          order.push_back({Phase::forward, i}) adds the forward of micro-batch i, of 0 to m - 1.
  for (int i = 0; i < m; ++i) order.push_back({Phase::forward, i});
  for (int i = m - 1; i >= 0; --i) order.push_back({Phase::backward, i});
  // END BLANK
  return order;
}

/// The same for 1F1B (D. Narayanan et al., 2019): one forward, one backward. Rank 0 has the first stage of p.
Order one_forward_one_backward(int rank, int p, int m) {
  Order order;
  // BLANK 3: How many forwards come first (warm-up)? Until the first micro-batch is at the last stage, each stage after
  //          this one can take another micro-batch. There are only m.
  const int warm_up = std::min(p - rank - 1, m);
  // END BLANK
  for (int i = 0; i < warm_up; ++i) order.emplace_back(Phase::forward, i);
  // BLANK 4: Then one forward and one backward in turn, until there are no more forwards; then the backwards that are
  //          left. Both take micro-batches in order: 0, 1, 2, ...
  for (int i = warm_up; i < m; ++i) {
    order.push_back({Phase::forward, i});
    order.push_back({Phase::backward, i - warm_up});
  }
  for (int i = m - warm_up; i < m; ++i) order.push_back({Phase::backward, i});
  // END BLANK
  return order;
}

/// The share of the time of an iteration in which a rank is idle, for p stages of equal cost and m micro-batches.
double idle_share(int p, int m) {
  // BLANK 5: Each rank computes m micro-batches. How long does it take from the first one's start at the first stage to
  //          the last one's end, and which share of that is a rank idle? It is the same for both schedules.
  return (p - 1.0) / (m + p - 1);
  // END BLANK
}

/// Between two steps: sends what the last one made for rank made.to, and returns n values from rank `from`. There may
/// be nothing to send (made.to is `nobody`), or nothing to receive (`from` is).
std::vector<float> pass_on(const Message& made, int from, std::size_t n, Peers& peers) {
  std::vector<float> received(n);
  // BLANK 6: Send and receive what there is. A send waits until the other rank receives. In 1F1B two ranks have
  //          something for each other at the same time: what if both send first?
  if (made.to != nobody && from != nobody)
    peers.exchange(made.values, made.to, received, from);
  else if (made.to != nobody)
    peers.send(made.values, made.to);
  else if (from != nobody)
    peers.receive(received, from);
  // END BLANK
  return received;
}

/// The gradients of this rank's stage: those of the mean loss over all images of the batch.
void compute_gradients(const Order& order, Stage& stage, Peers& peers) {
  const int rank = peers.rank(), p = peers.size(), m = stage.micro_batches();
  Message made;  // by the last step, for another rank
  for (const Step& step : order) {
    const int i = step.micro_batch;
    if (step.pass == Phase::forward) {
      // BLANK 7: pass_on() gives you the stage's input, stage.input_size() values, from the rank that has the stage
      //          before; at rank 0 it is stage.images(i). stage.forward(i, input) returns the output. Into `made` goes
      //          what the next step has to send, {values, rank}: which rank gets the output, and which on the last
      //          rank?
      const std::vector<float> input = pass_on(made, rank > 0 ? rank - 1 : nobody, stage.input_size(), peers);
      made.values = stage.forward(i, rank > 0 ? input : stage.images(i));
      made.to = rank < p - 1 ? rank + 1 : nobody;
      // END BLANK
    } else {
      // BLANK 8: The same in the other direction. stage.backward(i, dy) takes the gradient of the stage's output,
      //          stage.output_size() values; on the last rank it is stage.loss_gradient(i). It returns the gradient of
      //          the stage's input, and adds to stage.gradients. What does which rank get?
      const std::vector<float> dy = pass_on(made, rank < p - 1 ? rank + 1 : nobody, stage.output_size(), peers);
      made.values = stage.backward(i, rank < p - 1 ? dy : stage.loss_gradient(i));
      made.to = rank > 0 ? rank - 1 : nobody;
      // END BLANK
    }
  }
  pass_on(made, nobody, 0, peers);
  // BLANK 9: stage.gradients is a sum by now: each micro-batch has added the gradient of the mean loss over its own
  //          images. What makes it the gradient of the mean loss over all images of the batch?
  for (float& gradient : stage.gradients) gradient /= static_cast<float>(m);
  // END BLANK
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int batch = 32, m = 8, n_layers = 9, width = 512;
  std::string schedule = "1f1b";
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "pipeline",
       .about = "Task 11: train a perceptron that is cut into stages, one on each MPI rank, as a pipeline.",
       .network = false,
       .one_training = false,
       .least_epochs = 0,
       .own = {{"--batchsize", "Images of an iteration", &batch, 1, 1 << 20},
               {"--microbatches", "Micro-batches of an iteration; they divide --batchsize", &m, 1, 1 << 16},
               {"--schedule", "Train with this one: gpipe or 1f1b", OneOf{&schedule, {"gpipe", "1f1b"}}},
               {"--layers", "Layers of the perceptron, at least one for each rank", &n_layers, 1, 1000},
               {"--width", "Outputs of each layer but the last one", &width, 1, 1 << 16}}});
  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  const PipelineFunctions yours{cost_of, gpipe, one_forward_one_backward, idle_share, compute_gradients};
  if (run_test_cases(yours, *comm)) return 0;

  const DatasetPtr train = load_cifar(args.dataset, {.fraction = args.fraction}).train;
  SerialIterator iterator(train, batch, {.seed = args.seed});  // every rank reads the same images
  const std::vector<mlp::Layer> layers = make_perceptron(n_layers, width, train->n_classes());
  Stage stage(layers, cut(layers, cost_of, *comm), args.seed);
  show_schedules(yours, m, *comm);

  MpiPeers peers(*comm);
  const Order order = schedule == "gpipe" ? gpipe(m) : one_forward_one_backward(comm->rank(), comm->size(), m);
  PipelineReport report(stage, *comm);
  while (iterator.epoch() < args.epoch) {
    stage.begin(mlp::load(*iterator.next()), m);  // and sets the gradients to 0
    compute_gradients(order, stage, peers);
    report.iteration_over(layers, args.seed);
    mlp::sgd_update(stage.parameters, stage.gradients, args.learnrate);
    if (iterator.is_new_epoch()) report.epoch_over(iterator.epoch());
  }
  return 0;
} catch (...) {
  return report_failure();
}
