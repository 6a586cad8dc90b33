// Task 10: make the baseline, train_cifar_single_gpu, distributed with the calls of Horovod.
//
// Goal:    one training run of all ranks. Each rank has a device, its own images and the mean gradient of all; the run
//          reports the result on all test images, and continues after a checkpoint.
// Time:    30 minutes, after task 2.
// Reading: 00_single_gpu, which is this program without Horovod's lines; lib/horovod/horovod.h, which has the calls
//          that you need, named as in Python's `import horovod.torch as hvd`; for blank 2 lib/data/sub_dataset.h.
// Command: ./odori run horovod --ranks 2 --model mid --batchsize 64 --epoch 2
//          Then the same with --epoch 3 --resume out/horovod continues after the last checkpoint.
// Output:  "Horovod's size: 2", the table of epochs, then "Throughput: ... [images/sec.]".
//
// Each rank is a process, and runs all of train_model().
#include "horovod_support.h"
#include "odori.h"

using namespace odori;

void train_model(const Arguments& args) {
  DevicePool pool(args.devices);
  // BLANK 1: Initialize Horovod, with args.communicator. Then make this rank's device current: pool.use(number). The
  //          ranks of a node use its devices 0, 1, ..., however the ranks are placed on the nodes.
  const horovod::Horovod hvd = horovod::init(args.communicator);
  pool.use(hvd.local_rank());
  // END BLANK
  const trace::File trace(args.trace, hvd.rank(), hvd.size());
  if (hvd.rank() == 0) {
    fmt::print("Horovod's size: {}\n", hvd.size());
    fmt::print("Using {}\n", pool.current().description());
    if (const auto warning = pool.warning(hvd.local_size())) fmt::print("{}\n", *warning);
    fmt::print("Using CIFAR dataset: {}\n", args.dataset);
  }

  // Horovod distributes no data: every rank reads all images.
  const TrainTest whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  DatasetPtr train;  // what this rank trains on
  int epochs = 0;    // how often it trains on that
  // BLANK 2: All ranks together train args.epoch times on each image. Either each rank trains on a shard of
  //          whole.train, or on all of it, in an order of its own. Which do you take, and how many epochs is that?
  //          (All shards have the same size; up to hvd.size() - 1 images may be left out. Round epochs up.)
  train = split_dataset_n_random(whole.train, hvd.size(), args.seed)[static_cast<std::size_t>(hvd.rank())];
  epochs = args.epoch;
  // END BLANK
  const DatasetPtr test = shard_of(whole.test, hvd.rank(), hvd.size());  // sizes may differ by one image

  int batchsize = args.batchsize;  // images of a rank in each update
  float rate = args.learnrate;
  // BLANK 3: --batchsize and --learnrate suit one device. By the linear scaling rule, what has to change here for
  //          hvd.size() of them? An update uses the mean gradient over all ranks. (No warm-up is needed.)
  rate *= static_cast<float>(hvd.size());
  // END BLANK

  const auto rank = static_cast<std::uint32_t>(hvd.rank());
  SerialIterator train_iter(train, batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, batchsize, {.repeat = false, .shuffle = false});
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, batchsize, args.seed + rank, rank);
  model.to_device(pool.current(), args.autotune);

  // BLANK 4: create_optimizer(args.optimizer, rate) is what one device needs. What makes each update use the mean
  //          gradient over all ranks?
  std::unique_ptr<Optimizer> optimizer = hvd.DistributedOptimizer(create_optimizer(args.optimizer, rate));
  // END BLANK
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  int start_epoch = 0;  // epochs that were trained before
  // BLANK 5: Continue after a checkpoint: load_weights(args, model, *optimizer) reads that of --resume into this rank's
  //          model and optimizer, and returns how many epochs were trained before it (0 without --resume). Only rank 0
  //          may call it, since other nodes don't have the file. What do the other ranks need then, and how do they get
  //          it?
  if (hvd.rank() == 0) start_epoch = load_weights(args, model, *optimizer);
  hvd.broadcast_parameters(model, 0);
  hvd.broadcast_optimizer_state(*optimizer, 0);
  start_epoch = hvd.broadcast_object(start_epoch, 0);
  // END BLANK

  StandardUpdater updater(train_iter, *optimizer);
  skip_epochs(updater, start_epoch, hvd);
  Trainer trainer(updater, epochs, args.out, args.keep_going);
  trainer.extend(Evaluator(test_iter, model, pool.current().id()));

  // `mean` is over the n test images of this rank, and n differs from rank to rank.
  const auto mean_over_all_images = [&](double mean, double n) -> double {
    // BLANK 6: What is the mean over all test images of all ranks? Every rank calls this, and needs the result.
    return hvd.allreduce(mean * n, horovod::Sum) / hvd.allreduce(n, horovod::Sum);
    // END BLANK
  };
  const auto average_results = [&] {
    for (const char* name : {"validation/main/loss", "validation/main/accuracy"})
      trainer.observation()[name] =
          mean_over_all_images(trainer.observation()[name], static_cast<double>(test->size()));
  };
  trainer.extend(EpochEnd([&] {
    // BLANK 7: At the end of each epoch, average_results() replaces this rank's results by those of blank 6, and
    //          save_weights(args, trainer) writes a checkpoint, without any message to other ranks. Which ranks call
    //          which of them?
    average_results();
    if (hvd.rank() == 0) save_weights(args, trainer);
    // END BLANK
  }));
  if (hvd.rank() == 0) {
    trainer.extend(LogReport());
    trainer.extend(PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(ProgressBar());
  }

  trainer.run();
  const int trained = std::max(epochs - start_epoch, 0);
  if (hvd.rank() == 0) report_throughput(trainer, train->size() * static_cast<std::size_t>(hvd.size() * trained));
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  const Arguments args =
      parse_arguments(argc, argv,
                      {.name = "horovod",
                       .about = "Train a CIFAR classifier on several nodes in Horovod's terms, one MPI rank a device.",
                       .communicator = true,
                       .exchange = false,
                       .optimizer = true});
  train_model(args);
  return 0;
} catch (...) {
  return report_failure();
}
