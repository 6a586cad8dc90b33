// Task 14: four more programs that run, look right, and have one fault each.
//
// Goal:    four programs that train as task 2 does; and for each fault a diagnosis: which ranks, which line, why.
// Time:    45 minutes, after task 13.
// Reading: more_debugging_support.h; exercises/common/diagnosis.h, for the diagnoses.
// Command: ./odori run more_debugging --program 1 --ranks 3 --model tiny --fraction 0.1 --epoch 3
// Output:  what the report above each program describes. A repaired program prints its table of epochs.
//
// Above each program is what users reported, and where. The whole program is yours to edit, and its fault may also be a
// line that is missing. A diagnosis names a line by the letter at its end.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
// A blank that holds a program has a fault: find it, and repair the program.
#include "more_debugging_support.h"
#include "odori.h"

using namespace odori;

/// Program 1. All processes start, and then they wait, before the first batch. The collectives are the same on every
/// rank. Reported for NCCL: github.com/NVIDIA/nccl/issues/899
void program_1(const Arguments& args, Communicator& comm) {
  // BLANK 1: This program has one fault. Find and repair it.
  //          ./odori run more_debugging --program 1 --ranks 3 --model tiny --fraction 0.1 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});  // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed});                     // B
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  // Rank 0's learning rate holds for all ranks. The others count their images while rank 0 is not ready yet.
  float rate = comm.rank() == 0 ? args.learnrate : 0;
  std::vector<double> n_images{static_cast<double>(train->size())};
  if (comm.rank() == 0) {
    comm.broadcast(std::as_writable_bytes(std::span(&rate, 1)));  // C
    comm.sum(n_images);                                           // D
  } else {
    comm.sum(n_images);                                           // E
    comm.broadcast(std::as_writable_bytes(std::span(&rate, 1)));  // F
  }
  if (comm.rank() == 0) fmt::print("{} images in all shards, learning rate {}\n", n_images[0], rate);

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(device, args.autotune);
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(rate), comm);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));
  print_epochs(trainer, comm);
  trainer.run();
  // END BLANK
}

Diagnosis diagnosis_1() {
  // BLANK 2: Which ranks, which line of program 1, and why? Return {Who::..., Line::..., Why::...}.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// Program 2. Images are shuffled for each epoch, but the batches that one prints are the same in every epoch. Reported
/// for PyTorch: github.com/pytorch/pytorch/issues/31771
void program_2(const Arguments& args, Communicator& comm) {
  // BLANK 3: This program has one fault. Find and repair it.
  //          ./odori run more_debugging --program 2 --ranks 3 --model tiny --fraction 0.1 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});  // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed});

  // Whole batches: the last images of the shard, too few for one, are left out.
  const std::size_t n = train->size() / args.batchsize * args.batchsize;
  const auto shuffled = std::make_shared<Reordered>(train, n);  // B
  int epoch = 0;
  const auto shuffle = [&] {
    std::mt19937 random(args.seed);  // C
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);  // D
    shuffled->set_order(order);
    if (comm.rank() == 0) fmt::print("Epoch {} begins with images {}, {}, {}\n", epoch, order[0], order[1], order[2]);
    ++epoch;
  };
  shuffle();
  SerialIterator train_iter(shuffled, args.batchsize, {.shuffle = false});  // E
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(device, args.autotune);
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), comm);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));
  trainer.extend(EpochEnd(shuffle));  // F
  print_epochs(trainer, comm);
  trainer.run();
  // END BLANK
}

Diagnosis diagnosis_2() {
  // BLANK 4: Which ranks, which line of program 2, and why? Return {Who::..., Line::..., Why::...}.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// Program 3. On one node it runs. On several it stops with "invalid device ordinal", on all nodes but the first.
/// Reported for a program with Horovod: github.com/NVIDIA/DeepLearningExamples/pull/990
void program_3(const Arguments& args, Communicator& comm) {
  // BLANK 5: This program has one fault. Find and repair it. Devices that are threads of a CPU can have any number, so
  //          that without GPUs the fault shows in what is printed alone.
  //          ./odori run more_debugging --program 3 --ranks 4 --nodes 2 --model tiny --fraction 0.1 --epoch 3
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});  // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed});
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});  // B
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.rank());  // C
  fmt::print("Rank {} is on node {}, with {} ranks, and uses {}.\n", comm.rank(), comm.inter_rank(), comm.intra_size(),
             device.description());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);  // D
  model.to_device(device, args.autotune);                             // E
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), comm);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));  // F
  print_epochs(trainer, comm);
  trainer.run();
  // END BLANK
}

Diagnosis diagnosis_3() {
  // BLANK 6: Which ranks, which line of program 3, and why? Return {Who::..., Line::..., Why::...}.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// Program 4. In some runs a process can't load the saved model after the training, although its file is there and
/// complete when one looks. Reported for a library on PyTorch: github.com/huggingface/transformers/pull/10685
void program_4(const Arguments& args, Communicator& comm) {
  // BLANK 7: This program has one fault. Find and repair it. Run it several times.
  //          ./odori run more_debugging --program 4 --ranks 3 --model mid --fraction 0.02 --epoch 1
  const auto rank = static_cast<std::uint32_t>(comm.rank());
  TrainTest whole;  // on rank 0
  if (comm.rank() == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const DatasetPtr train = scatter_dataset(whole.train, comm, {.shuffle = true, .seed = args.seed});  // A
  const DatasetPtr test = scatter_dataset(whole.test, comm, {.seed = args.seed, .force_equal_length = false});
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = rank});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  Device& device = pool.use(comm.intra_rank());
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + rank, rank);
  model.to_device(device, args.autotune);
  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), comm);
  optimizer->setup(model);  // B: and every rank gets rank 0's parameters
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));

  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, true);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device.id()), comm));
  print_epochs(trainer, comm);
  trainer.run();  // C

  const std::string file = args.out + "/parameters.bin";  // on a disk of all nodes
  if (comm.rank() == 0) write_parameters(file, model);    // D
  read_parameters(file, model);                     // E
  print_result(model, test, args.batchsize, comm);  // F
  // END BLANK
}

Diagnosis diagnosis_4() {
  // BLANK 8: Which ranks, which line of program 4, and why? Return {Who::..., Line::..., Why::...}.
  return PUT_YOUR_CODE;
  // END BLANK
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int program = 1;
  const Arguments args = parse_arguments(argc, argv,
                                         {.name = "more_debugging",
                                          .about = "Task 14: four more programs with one fault each.",
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
