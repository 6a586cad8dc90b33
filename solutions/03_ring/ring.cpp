// Task 3: write the all-reduce that averages gradients over all ranks, and train with it.
//
// Goal:    the mean of all ranks' buffers on every rank, while each of n ranks sends 2 (n - 1) / n times its buffer:
//          always less than two times.
// Time:    60 minutes.
// Reading: deck 3 of the slides, the ring in eight pictures; lib/comm/communicator.h.
// Command: ./odori run ring --ranks 3
// Output:  whether your ring's mean is right on --length elements, what each rank sent, and the table of epochs of
//          a training run with it (--epoch 0: no training).
//
// The ranks form a ring, and each divides its buffer into as many chunks as there are ranks. First every chunk goes
// once around the ring, and each rank adds its own elements to the chunk that it receives (reduce-scatter): after
// that, each rank holds the sum of one chunk. Then the sums go around once more (all-gather).
//
// A send waits here until the other rank receives (MPI_Issend). MPI_Send can return before, since MPI buffers short
// messages: a program that relies on that hangs with longer ones.
#include "odori.h"
#include "ring_support.h"

using namespace odori;

/// The position of the first element of chunk c, of n chunks of a vector of `length` elements. A chunk ends where the
/// next one begins, and the last one where chunk n would begin.
std::size_t begin_of_chunk(std::size_t c, std::size_t n, std::size_t length) {
  // BLANK 1: Where does chunk c begin? Together the chunks hold all elements, for any length, and their lengths differ
  //          by at most one.
  return c * length / n;
  // END BLANK
}

/// Replaces `numbers` on every rank by their mean over all ranks, using only messages between neighbours.
void ring_all_reduce(std::span<float> numbers, Communicator& comm) {
  const int rank = comm.rank(), n = comm.size();
  const auto chunk = [&](int c) { return chunk_of(numbers, c, n, begin_of_chunk); };

  // Every rank sends to the next one, and receives from the previous one.
  const int next = (rank + 1) % n;
  // BLANK 2: Which rank is the previous one? (for each rank, and any number of them)
  const int previous = (rank + n - 1) % n;
  // END BLANK

  // Reduce-scatter.
  for (int step = 0; step < n - 1; ++step) {
    // BLANK 3: Which chunk, of 0, 1, ... n - 1, does this rank send in this step? In the first one chunk `rank`; in
    //          every other one the chunk that it has just received.
    const int sent = (rank + n - step) % n;
    // END BLANK
    const int received = (sent + n - 1) % n;  // what the previous rank sends in this step
    std::vector<float> arrived(chunk(received).size());
    // BLANK 4: Send chunk `sent` to the next rank, and receive `arrived` from the previous one. All ranks do this at
    //          the same time, and a send waits until the other rank receives. Send nothing else.
    comm.exchange(chunk(sent), next, arrived, previous);
    // END BLANK
    // BLANK 5: `arrived` holds what the ranks before this one know of chunk `received`. What does the chunk become?
    for (std::size_t i = 0; i < arrived.size(); ++i) chunk(received)[i] += arrived[i];
    // END BLANK
  }

  // All-gather.
  for (int step = 0; step < n - 1; ++step) {
    // BLANK 6: Which chunk does this rank send in this step? In the first one the chunk that it holds the whole sum
    //          of; in every other one the chunk that it has just received.
    const int sent = (rank + 1 + n - step) % n;
    // END BLANK
    const int received = (sent + n - 1) % n;
    // BLANK 7: Send chunk `sent` to the next rank, and receive the sum that chunk `received` becomes.
    comm.exchange(chunk(sent), next, chunk(received), previous);
    // END BLANK
  }

  // BLANK 8: Every number is the sum over all ranks by now. What is left to do?
  for (float& number : numbers) number /= static_cast<float>(n);
  // END BLANK
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int length = 1000;
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "ring",
       .about = "Task 3: a ring all-reduce between MPI ranks, tried, and then used to train a CIFAR classifier.",
       .least_epochs = 0,
       .own = {{"--length", "Elements in the test of the all-reduce", &length, 0, 100'000'000}}});
  const std::unique_ptr<Communicator> comm = create_communicator(ring_all_reduce, "your ring");
  const trace::File trace(args.trace, comm->rank(), comm->size());
  try_all_reduce(*comm, static_cast<std::size_t>(length));
  if (args.epoch == 0) return 0;

  // Train as in task 2.
  const int rank = comm->rank();
  TrainTest whole;
  if (rank == 0) whole = load_cifar(args.dataset, {args.image_size, args.fraction, args.augment});
  const ScatterOptions options{.shuffle = true, .seed = args.seed};
  const DatasetPtr train = scatter_dataset(whole.train, *comm, options);
  const DatasetPtr test = scatter_dataset(whole.test, *comm, options);
  const auto stream = static_cast<std::uint32_t>(rank);
  SerialIterator train_iter(train, args.batchsize, {.seed = args.seed, .stream = stream});
  SerialIterator test_iter(test, args.batchsize, {.repeat = false, .shuffle = false});

  DevicePool pool(args.devices);
  const int device = comm->intra_rank();
  const NetworkSpec network = create_network(args.model, train->n_classes(), args.image_size);
  Classifier model(network, args.batchsize, args.seed + stream, stream);
  pool.use(device);
  model.to_device(pool.current(), args.autotune);

  const auto optimizer = create_multi_node_optimizer(std::make_unique<MomentumSGD>(args.learnrate), *comm);
  optimizer->setup(model);
  optimizer->add_hook(std::make_unique<WeightDecay>(5e-4f));
  StandardUpdater updater(train_iter, *optimizer);
  Trainer trainer(updater, args.epoch, args.out, args.keep_going);
  trainer.extend(create_multi_node_evaluator(std::make_unique<Evaluator>(test_iter, model, device), *comm));
  if (!args.no_snapshot) trainer.extend(Snapshot(*comm, args.keep));
  if (rank == 0) {
    trainer.extend(LogReport());
    trainer.extend(PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"}));
    trainer.extend(ProgressBar());
  }
  if (!args.resume.empty()) resume(args.resume, trainer, comm.get());
  trainer.run();
  if (rank == 0) report_throughput(trainer, whole.train->size() * args.epoch);
  return 0;
} catch (...) {
  return report_failure();
}
