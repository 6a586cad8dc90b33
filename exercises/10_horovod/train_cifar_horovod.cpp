// Horovod's way: task 2's training, written as Horovod's examples are. It has no blanks.
//
//   ./odori run horovod --ranks 2 --epoch 4 --batchsize 32
//
// prints the epoch table and, last, how many images a second were trained on. It leaves the very weights that task 2
// does, where the number of ranks divides that of the images.
#include "odori.h"

using namespace odori;

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "horovod",
       .about = "Train a CIFAR classifier on several nodes as Horovod's examples do, one MPI rank a device.",
       .communicator = true,
       .optimizer = true});

  // Horovod: initialize it.
  const horovod::Horovod hvd = horovod::init(args.communicator);
  const trace::File trace(args.trace, hvd.rank(), hvd.size());

  // Horovod: pin the device of this process by its local rank.
  DevicePool pool(args.devices);
  pool.use(hvd.local_rank());
  if (hvd.rank() == 0) {
    fmt::print("Horovod's size: {}\n", hvd.size());
    fmt::print("Using {}\n", pool.current().description());
    if (const auto warning = pool.warning(hvd.local_size())) fmt::print("{}\n", *warning);
    fmt::print("Using CIFAR dataset: {}\n", args.dataset);
  }

  // Horovod has no data sets: every process reads all images, and takes a share of its own.
  const TrainTest whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const auto rank = static_cast<std::uint32_t>(hvd.rank());
  const DatasetPtr train = split_dataset_n_random(whole.train, hvd.size(), args.seed)[rank];
  const DatasetPtr test = split_dataset_n_random(whole.test, hvd.size(), args.seed)[rank];
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(pool.current(), args.autotune);

  // Horovod: wrap the optimizer, so that each update is by the mean gradient over all ranks.
  std::unique_ptr<Optimizer> optimizer = hvd.DistributedOptimizer(
      create_optimizer(args.optimizer, args.learnrate),
      {.compression = args.exchange.dtype, .backward_passes_per_step = args.accumulate.value_or(1)}, args.exchange);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  // Horovod: all ranks begin with rank 0's weights and optimizer state.
  hvd.broadcast_parameters(model, 0);
  hvd.broadcast_optimizer_state(*optimizer, 0);

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, args.keep_going);
  trainer.extend(Evaluator(test_iter, model, hvd.local_rank()));
  trainer.extend(horovod::MetricAverage(hvd));
  // Horovod: scale the learning rate by the number of ranks, and warm up.
  if (args.scale_learnrate || args.warmup_epochs > 0)
    trainer.extend(
        LearningRate(args.scale_learnrate ? linear_scaling(hvd.size()) : 1, warm_up(hvd.size(), args.warmup_epochs)));
  if (args.check_every > 0) trainer.extend(ParameterCheck(hvd.communicator(), args.check_every));
  if (!args.no_snapshot) trainer.extend(Snapshot(hvd.communicator(), args.keep));
  // Horovod: rank 0 alone prints and writes.
  if (hvd.rank() == 0) {
    trainer.extend(LogReport());
    trainer.extend(PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(ProgressBar());
  }
  if (!args.resume.empty()) resume(args.resume, trainer, &hvd.communicator());

  trainer.run();
  if (hvd.rank() == 0) report_throughput(trainer, whole.train->size() * args.epoch);
  return 0;
} catch (...) {
  return report_failure();
}
