// Task 2: train a CIFAR classifier on several nodes, one process (a rank of MPI) a device.
//
//   ./odori run multi_node --ranks 2 --epoch 4 --batchsize 32
//
// prints the epoch table and, last, how many images a second were trained on; compare that with the
// baseline, train_cifar_single_gpu. Every rank computes on its own shard; the gradients are averaged over
// all ranks before each update.
#include "odori.h"

using namespace odori;

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "multi_node",
       .about = "Task 2: train a CIFAR classifier on several nodes, one MPI rank a device. Start it with mpirun.",
       .communicator = true});

  // Set up a communicator of all ranks.
  const std::unique_ptr<Communicator> comm = create_communicator(args.communicator);
  const trace::File trace(args.trace, comm->rank(), comm->size());

  // BLANK 1: Which device of its node does this rank use? The ranks of a node take its devices 0, 1, ... in
  //          any order, however ranks are placed. (ask the communicator)
  const int device = comm->intra_rank();
  // END BLANK

  DevicePool pool(args.devices);
  if (comm->rank() == 0) {
    fmt::print("==========================================\n");
    fmt::print("Num process (COMM_WORLD): {}\n", comm->size());
    fmt::print("Num nodes: {}\n", comm->inter_size());
    if (!comm->link().empty()) fmt::print("Simulated link between nodes: {}\n", comm->link());
    fmt::print("Using {}\n", pool.kind() == DeviceKind::cuda ? "GPUs" : "CPU devices");
    fmt::print("Using {} communicator\n", comm->name());
    fmt::print("Num Minibatch-size: {}\n", args.batchsize);
    fmt::print("Num epoch: {}\n", args.epoch);
    fmt::print("==========================================\n");
    if (const auto warning = pool.warning(comm->intra_size())) fmt::print("{}\n", *warning);
  }

  // BLANK 2: Which ranks read the data set from the disk? As few as possible, and no blank below reads it again.
  //          (Rank 0 needs whole.train at the end: it counts the images.)
  const bool this_rank_loads = comm->rank() == 0;
  // END BLANK
  TrainTest whole;  // stays empty where it isn't loaded
  if (this_rank_loads) {
    fmt::print("Using CIFAR dataset: {}\n", args.dataset);
    whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  }

  // BLANK 3: How does every rank get its own shuffled shard of the training data, all of the same size?
  //          (Any seed will do. No image may be missing.)
  const DatasetPtr train = scatter_dataset(whole.train, *comm, {.shuffle = true, .seed = args.seed});
  // END BLANK

  // BLANK 4: And its own shuffled shard of the test data? (Any seed will do; no image may be missing, and the
  //          sizes may differ.)
  const DatasetPtr test = scatter_dataset(whole.test, *comm, {.shuffle = true, .seed = args.seed});
  // END BLANK
  const auto rank = static_cast<std::uint32_t>(comm->rank());
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Make a model, and move it to this rank's device. Each rank starts with weights of its own.
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  pool.use(device);
  model.to_device(pool.current(), args.autotune);

  // BLANK 5: An optimizer, MomentumSGD with args.learnrate, that averages the gradients over all ranks. Its
  //          weight decay is added below, and so is what --scale_learnrate, --warmup_epochs and --accumulate do.
  //          (The verdict looks at the weights after each update, not at how you get there.)
  std::unique_ptr<Optimizer> optimizer =
      create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), *comm);
  // END BLANK
  optimizer->set_exchange(args.exchange);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer, args.accumulate);
  Trainer trainer(updater, args.epoch, args.out, args.keep_going);
  auto evaluator = std::make_unique<Evaluator>(test_iter, model, device);

  // BLANK 6: `evaluator` knows this rank's shard only. What makes it report the whole test set's result, on
  //          every rank, while each one goes through its own shard as before? (The verdict looks at the
  //          result, not at how you get there.)
  std::unique_ptr<Evaluator> multi_node_evaluator = create_multi_node_evaluator(std::move(evaluator), *comm);
  // END BLANK
  trainer.extend(std::move(multi_node_evaluator));
  if (args.scale_learnrate || args.warmup_epochs > 0)
    trainer.extend(LearningRate(args.scale_learnrate ? linear_scaling(comm->size()) : 1,
                                warm_up(comm->size(), args.warmup_epochs)));
  if (args.check_every > 0) trainer.extend(ParameterCheck(*comm, args.check_every));
  if (!args.no_snapshot) trainer.extend(Snapshot(*comm, args.keep));
  if (comm->rank() == 0) {
    trainer.extend(LogReport());
    trainer.extend(PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(ProgressBar());
  }
  if (!args.resume.empty()) resume(args.resume, trainer, comm.get());

  // Run the training.
  trainer.run();
  if (comm->rank() == 0) report_throughput(trainer, whole.train->size() * args.epoch);
  return 0;
} catch (...) {
  return report_failure();
}
