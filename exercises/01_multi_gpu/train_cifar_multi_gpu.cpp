// Task 1: train a CIFAR classifier on several devices of one node, from one process.
//
//   ./odori run multi_gpu --n_gpus 2 --epoch 4 --batchsize 32
//
// prints the epoch table and, last, how many images a second were trained on; compare that with the
// baseline, train_cifar_single_gpu. The main device gathers the gradients of all devices, updates, and
// sends the parameters back.
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

  // BLANK 1: One iterator a device, with batches of args.batchsize. How does each device get a random share
  //          of its own of the training data, all of the same size, so that one epoch still is the whole set
  //          once, and not n_gpus times? (Any seed will do for the shares, and any order within them. Images
  //          that are left over when all shares are equal are left out.)
  std::vector<SerialIterator> train_iters = PUT_YOUR_CODE;
  // END BLANK
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Make a model.
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed);

  // BLANK 2: Which device is the main one, the one that updates the model? (its number; there has to be
  //          such a device for any n_gpus, and the blanks below follow it)
  const int main_device_id = PUT_YOUR_CODE;
  // END BLANK

  // BLANK 3: Which device has to be current, so that the model is set up there?
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

  // BLANK 5: All the other devices: names of your choice ("gpu1", ...), and their numbers, for any n_gpus.
  std::map<std::string, int> other_devices = PUT_YOUR_CODE;
  // END BLANK
  devices.insert(other_devices.begin(), other_devices.end());
  print_devices(devices);

  // BLANK 6: Which updater drives all these devices at once? It takes the iterators, the optimizer, the
  //          devices by name, the pool that they come from, and the rule that the flags ask for,
  //          args.gradient_rule. It changes nothing about the optimizer.
  std::unique_ptr<Updater> updater = PUT_YOUR_CODE;
  // END BLANK
  Trainer trainer(*updater, args.epoch, args.out, args.keep_going);

  // BLANK 7: On which device is the model evaluated? (its number)
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
