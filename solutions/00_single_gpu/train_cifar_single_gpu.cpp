// The baseline: train a CIFAR classifier on one device. It has no blanks.
//
// Goal:    the throughput that tasks 1 and 2 are compared with.
// Time:    5 minutes.
// Reading: deck 1 of the slides.
// Command: ./odori run single_gpu --epoch 4 --batchsize 32
// Output:  the table of epochs, then "Throughput: ... [images/sec.]".
#include "odori.h"

using namespace odori;

int main(int argc, char** argv) try {
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "single_gpu", .about = "Train a CIFAR classifier on one device: the baseline.", .optimizer = true});
  const trace::File trace(args.trace, 0);

  fmt::print("Start a training script using single GPU.\n");
  fmt::print("# Minibatch-size: {}\n", args.batchsize);
  fmt::print("# epoch: {}\n\n", args.epoch);

  // Make a device current. It is a GPU where there is one, else a CPU device of a fixed number of threads.
  DevicePool pool(args.devices);
  pool.use(0);
  if (const auto warning = pool.warning(1)) fmt::print("{}\n", *warning);
  fmt::print("Using {}\n", pool.current().description());

  // Set up a data set and prepare train/test iterators.
  fmt::print("Using CIFAR dataset: {}\n", args.dataset);
  const auto [train, test] = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Make a model, and move it to the current device.
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed);
  model.to_device(pool.current(), args.autotune);

  // Make an optimizer.
  const std::unique_ptr<Optimizer> optimizer = create_optimizer(args.optimizer, args.learnrate);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  // Set up a trainer.
  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, args.keep_going);
  trainer.extend(Evaluator(test_iter, model, 0));
  trainer.extend(LogReport());
  trainer.extend(PrintReport(
      {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
  trainer.extend(ProgressBar());
  if (!args.no_snapshot) trainer.extend(Snapshot(args.keep));
  if (!args.resume.empty()) resume(args.resume, trainer);

  // Run the training.
  trainer.run();
  report_throughput(trainer, train->size() * args.epoch);
  return 0;
} catch (...) {
  return report_failure();
}
