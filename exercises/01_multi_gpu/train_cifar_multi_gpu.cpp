// Task 1: train a CIFAR classifier on several devices of one node, from one process.
//
// Goal:    less time an epoch. Each device computes the gradients of its own batch; the main device gathers them,
//          updates, and sends the parameters back.
// Time:    40 minutes.
// Reading: deck 1 of the slides; lib/train/parallel_updater.h, lib/data/sub_dataset.h.
// Command: ./odori run multi_gpu --n-gpus 2 --epoch 4 --batchsize 32
// Output:  the table of epochs, then "Throughput: ... [images/sec.]": more than the baseline's, single_gpu.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "odori.h"

using namespace odori;

int main(int argc, char** argv) try {
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "multi_gpu",
       .about = "Task 1: train a CIFAR classifier on several devices of one node, from one process.",
       .several_devices = true});
  const trace::File trace(args.trace, 0);

  fmt::print("Start a training script using multiple GPUs.\n");
  fmt::print("# GPUs: {}\n", args.n_gpus);
  fmt::print("# Minibatch-size: {}\n", args.batchsize);
  fmt::print("# epoch: {}\n\n", args.epoch);

  DevicePool pool(args.devices);
  if (const auto warning = pool.warning(args.n_gpus)) fmt::print("{}\n", *warning);

  // Set up a data set and prepare train/test iterators.
  fmt::print("Using CIFAR dataset: {}\n", args.dataset);
  const auto [train, test] = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});

  // BLANK 1: One iterator a device, with batches of args.batchsize. How does each device get its own random shard
  //          of the training data, so that one epoch is still the whole set once, and not n_gpus times? All shards
  //          have the same size; images that are left over are left out. Use any seed.
  std::vector<SerialIterator> train_iters = PUT_YOUR_CODE;
  // END BLANK
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Make a model.
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed);

  // BLANK 2: The number of the main device, which updates the model. It has to exist for any n_gpus, also for 1.
  const int main_device_id = PUT_YOUR_CODE;
  // END BLANK

  // BLANK 3: On which device is the model set up? That one becomes the current device.
  const int current_device_id = PUT_YOUR_CODE;
  // END BLANK
  pool.use(current_device_id);
  model.to_device(pool.current(), args.autotune);

  // Make an optimizer.
  MomentumSGD optimizer(args.learnrate);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));

  // BLANK 4: The devices by name. Under which name does the updater look for the main device?
  std::map<std::string, int> devices = PUT_YOUR_CODE;
  // END BLANK

  // BLANK 5: All the other devices, for any n_gpus: names of your choice ("gpu1", ...), and their numbers.
  std::map<std::string, int> other_devices = PUT_YOUR_CODE;
  // END BLANK
  devices.insert(other_devices.begin(), other_devices.end());
  print_devices(devices);

  // BLANK 6: Which updater drives all these devices at once? It takes the iterators, the optimizer, the devices by
  //          name, their pool, and args.gradient_rule (mean or sum of the gradients, as --compat asks for).
  std::unique_ptr<Updater> updater = PUT_YOUR_CODE;
  // END BLANK
  Trainer trainer(*updater, args.epoch, args.out, args.keep_going);

  // BLANK 7: The number of the device on which the model is evaluated.
  const int evaluation_device_id = PUT_YOUR_CODE;
  // END BLANK
  trainer.extend(Evaluator(test_iter, model, evaluation_device_id));
  trainer.extend(LogReport());
  trainer.extend(PrintReport({"epoch", "main/loss", "validation/main/loss", "main/accuracy",
                              "validation/main/accuracy", "elapsed_time"}));
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
