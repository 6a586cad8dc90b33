// Task 13: four programs run, look right, and have one fault each. Find it, repair it, and say what it was.
//
// Goal:    four programs that train as task 2 does; and for each fault a diagnosis: which ranks, which line, why.
// Time:    45 minutes, after task 2.
// Reading: exercises/common/diagnosis.h, which has the lists that a diagnosis is chosen from; debugging_support.h;
//          lib/comm/README.md, "What all ranks must have in common" and "When a rank fails".
// Command: ./odori run debugging --program 1 --ranks 3 --model tiny --fraction 0.01 --batchsize 33 --epoch 3
// Output:  what the report above each program describes. Where ranks wait for each other, the run ends and names the
//          ranks, their calls, and the lines of these. A repaired program prints its table of epochs.
//
// Above each program is what a user of Horovod, PyTorch or TensorFlow reported, and where. The whole program is yours
// to edit, and its fault may also be a line that is missing. A diagnosis names a line by the letter at its end.
#include "debugging_support.h"
#include "odori.h"

using namespace odori;

/// Program 1. Without validation metrics it trains. With them, the first epoch ends, one process computes the metrics,
/// and then all of them wait. Reported for Horovod: github.com/horovod/horovod/issues/600
void program_1(const Arguments& args, Communicator& comm) {
  // BLANK 1: This program has one fault. Find and repair it.
  //          ./odori run debugging --program 1 --ranks 3 --model tiny --fraction 0.01 --batchsize 33 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});            // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed, .force_equal_length = false});  // B
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(device, args.autotune);
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), comm);
  optimizer->setup(model);  // C: and every rank gets rank 0's parameters
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(Evaluator(test_iter, model, device.id()));  // of this rank's test images
  trainer.extend(EpochEnd([&] {
    double& loss = trainer.observation()["validation/main/loss"];
    double& accuracy = trainer.observation()["validation/main/accuracy"];
    const auto n = static_cast<double>(test->size());
    std::vector<double> sums{loss * n, accuracy * n, n};
    // FAULT: if (comm.rank() == 0) comm.sum(sums);  // D: over all ranks; rank 0 prints the table
    comm.sum(sums);  // D: over all ranks; rank 0 prints the table
    // END FAULT
    loss = sums[0] / sums[2];      // E
    accuracy = sums[1] / sums[2];  // F
  }));
  print_epochs(trainer, comm);
  trainer.run();
  // END BLANK
}

Diagnosis diagnosis_1() {
  // BLANK 2: Which ranks, which line of program 1, and why? Return {Who::..., Line::..., Why::...}.
  return {Who::rank_0, Line::D, Why::not_all_ranks_call};
  // END BLANK
}

/// Program 2. Gradients are averaged after every batch, and nothing fails. Yet the models that the processes save have
/// different parameters. Reported for Horovod: github.com/horovod/horovod/issues/672
void program_2(const Arguments& args, Communicator& comm) {
  // BLANK 3: This program has one fault. Find and repair it.
  //          ./odori run debugging --program 2 --ranks 3 --model tiny --batchsize 32 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});  // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed});
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});  // B
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);  // C
  model.to_device(device, args.autotune);
  // FAULT:
  comm.broadcast(device, model.memory().parameters);  // rank 0's
  // END FAULT
  MomentumSGD optimizer(args.learnrate);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));

  const ProcessGroup all = comm.group();
  ExchangingUpdater updater(train_iter, optimizer, [&](std::span<float> gradients) {
    all.all_reduce(gradients);                                                      // D
    for (float& gradient : gradients) gradient /= static_cast<float>(comm.size());  // E
  });
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));  // F
  print_epochs(trainer, comm);
  trainer.run();
  // END BLANK
}

Diagnosis diagnosis_2() {
  // BLANK 4: Which ranks, which line of program 2, and why? Return {Who::..., Line::..., Why::...}.
  return {Who::all_but_rank_0, Line::C, Why::parameters_differ};
  // END BLANK
}

/// Program 3. With one GPU it trains well. With several it does so only if the learning rate is divided by their
/// number. Reported for TensorFlow: github.com/tensorflow/benchmarks/issues/199
void program_3(const Arguments& args, Communicator& comm) {
  // BLANK 5: This program has one fault. Find and repair it.
  //          ./odori run debugging --program 3 --ranks 4 --model tiny --batchsize 32 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});  // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed});
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});  // B
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Gradients are averaged by this function, all of them at once.
  const AllReduce average = [](std::span<float> gradients, Communicator& ranks) {
    ranks.group().all_reduce(gradients);  // C
    // FAULT:
    for (float& gradient : gradients) gradient /= static_cast<float>(ranks.size());
    // END FAULT
  };
  const std::unique_ptr<Communicator> averaging = create_communicator(average, "average");  // D

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(device, args.autotune);
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), *averaging);  // E
  optimizer->setup(model);  // F: and every rank gets rank 0's parameters
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));
  print_epochs(trainer, comm);
  trainer.run();
  // END BLANK
}

Diagnosis diagnosis_3() {
  // BLANK 6: Which ranks, which line of program 3, and why? Return {Who::..., Line::..., Why::...}.
  return {Who::all, Line::C, Why::sum_is_no_mean};
  // END BLANK
}

/// Program 4. With some numbers of GPUs and some batch sizes it trains. With others, the processes that have more
/// batches wait at the end of an epoch. Reported for PyTorch: github.com/pytorch/pytorch/issues/33148
void program_4(const Arguments& args, Communicator& comm) {
  // BLANK 7: This program has one fault. Find and repair it.
  //          ./odori run debugging --program 4 --ranks 3 --model tiny --fraction 0.01 --batchsize 33 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  ScatterOptions options{.shuffle = true, .seed = args.seed};
  // FAULT: options.force_equal_length = false;  // A: no image is trained on twice in an epoch
  options.force_equal_length = true;  // A
  // END FAULT
  const DatasetPtr train = scatter_dataset(whole.train, comm, options);            // B
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed});  // C
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(device, args.autotune);
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), comm);
  optimizer->setup(model);  // D: and every rank gets rank 0's parameters
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));  // E
  print_epochs(trainer, comm);
  trainer.run();  // F
  // END BLANK
}

Diagnosis diagnosis_4() {
  // BLANK 8: Which ranks, which line of program 4, and why? Return {Who::..., Line::..., Why::...}.
  return {Who::with_larger_shards, Line::A, Why::other_number_of_updates};
  // END BLANK
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int program = 1;
  const Arguments args = parse_arguments(argc, argv,
                                         {.name = "debugging",
                                          .about = "Task 13: four programs with one fault each.",
                                          .one_training = false,
                                          .communicator = true,
                                          .exchange = false,
                                          .own = {{"--program", "Which of the programs to run", &program, 1, 4}}});
  if (report_diagnoses({diagnosis_1, diagnosis_2, diagnosis_3, diagnosis_4})) return 0;
  const std::array programs{program_1, program_2, program_3, program_4};
  const std::unique_ptr<Communicator> comm = create_communicator(args.communicator);
  programs.at(program - 1)(args, *comm);
  return 0;
} catch (...) {
  return report_failure();
}
