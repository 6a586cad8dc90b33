// Task 2: train a CIFAR classifier on several nodes, one process (a rank of MPI) a device.
//
// Goal:    less time an epoch, on devices of several nodes. Each rank computes gradients on its own shard; they are
//          averaged over all ranks before each update.
// Time:    30 minutes.
// Reading: deck 1 of the slides; lib/comm/communicator.h, lib/distributed/scatter.h, multi_node_optimizer.h.
// Command: ./odori run multi_node --ranks 2 --nodes 2 --epoch 4 --batchsize 32
// Output:  the table of epochs, then "Throughput: ... [images/sec.]": more than the baseline's, single_gpu.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
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

  // BLANK 1: Which device of its node does this rank use? The ranks of a node use its devices 0, 1, ..., one each,
  //          in any order. `comm` knows the rank's place, however mpirun distributes the ranks.
  const int device = PUT_YOUR_CODE;
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

  // BLANK 2: Which ranks read the data set from the disk? As few as possible: blanks 3 and 4 send it to the others.
  //          Rank 0 needs whole.train at the end.
  const bool this_rank_loads = PUT_YOUR_CODE;
  // END BLANK
  TrainTest whole;  // stays empty where it isn't loaded
  if (this_rank_loads) {
    fmt::print("Using CIFAR dataset: {}\n", args.dataset);
    whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  }

  // BLANK 3: How does each rank get its own shuffled shard of the training data? All shards have the same size, and
  //          together they hold every image. Use any seed.
  const DatasetPtr train = PUT_YOUR_CODE;
  // END BLANK

  // BLANK 4: And its own shuffled shard of the test data? Without shards, every rank would evaluate all images.
  const DatasetPtr test = PUT_YOUR_CODE;
  // END BLANK
  const auto rank = static_cast<std::uint32_t>(comm->rank());
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Make a model, and move it to this rank's device. Each rank starts with its own random parameters. Who makes
  // them equal, and when? optimizer->setup() below, once: the optimizer of blank 5 broadcasts rank 0's parameters.
  // In Horovod that is a call of its own, broadcast_parameters; PyTorch's DDP does it in its constructor.
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  pool.use(device);
  model.to_device(pool.current(), args.autotune);

  // BLANK 5: An optimizer, MomentumSGD with args.learnrate, that averages the gradients over all ranks before each
  //          update. The lines below add the weight decay and what the flags ask for.
  std::unique_ptr<Optimizer> optimizer = PUT_YOUR_CODE;
  // END BLANK
  optimizer->set_exchange(args.exchange);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer, args.accumulate);
  Trainer trainer(updater, args.epoch, args.out, args.keep_going);
  auto evaluator = std::make_unique<Evaluator>(test_iter, model, device);

  // BLANK 6: `evaluator` evaluates this rank's shard only. What makes every rank report the result of the whole test
  //          set, while each one still evaluates its own shard?
  std::unique_ptr<Evaluator> multi_node_evaluator = PUT_YOUR_CODE;
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
