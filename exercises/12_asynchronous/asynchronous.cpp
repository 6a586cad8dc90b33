// Task 12: train asynchronously, with a parameter server, and see what stale gradients cost.
//
// Goal:    a parameter server that applies each gradient as soon as it arrives, measures its staleness, bounds it, and
//          lowers the learning rate for it; and the question which of several training runs is the fastest.
// Time:    30 minutes, after task 4.
// Reading: deck 3 of the slides, asynchronous training; Q. Ho et al., 2013 (bounded staleness); W. Zhang et al., 2016
//          (the rate); asynchronous_support.h.
// Command: ./odori run asynchronous --ranks 1 --epoch 6
//          With --ranks 3, MPI ranks run the same functions instead: rank 0 is the server, the others are workers.
// Output:  how a quadratic converges with staleness 0, 1 and 2; for several ways to train a perceptron, images/s, the
//          accuracy, and the images and seconds until an accuracy; pages with charts.
//
// The server has the parameters. A worker fetches a copy, computes a gradient at it, sends it, and fetches again. It
// waits for no other worker, so the parameters may have been updated since its fetch. The clock is virtual: computing
// takes the time that it is given, and each run gives the same result.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "asynchronous_support.h"
#include "odori.h"

using namespace odori;

/// What a worker receives. `server` has .parameters and .version: the number of updates applied to them. Parameters and
/// gradients are Arrays, which behave like NumPy's when they are assigned: see asynchronous_support.h.
State fetch(const Server& server) {
  // BLANK 1: Return a State {parameters, version}: the server's, as they are now. The worker computes with it for some
  //          time, while the server goes on.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// How stale is a gradient that has arrived? Called before it is applied.
int staleness(const Server& server, const Gradient& gradient) {
  // BLANK 2: How many updates has the server applied since the worker's fetch? gradient.version is that of the
  //          parameters that the worker had fetched.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// Called for each gradient when it arrives.
void apply(Server& server, const Gradient& gradient, double rate) {
  // BLANK 3: Update the server by this gradient, at this learning rate, with plain SGD. gradient.values and
  //          server.parameters have the same length. One of server.n_workers workers has sent it.
  PUT_YOUR_CODE;
  // END BLANK
}

/// Bounded staleness: a worker that is too far ahead waits before its next fetch (Q. Ho et al., 2013).
bool must_wait(int worker, const std::vector<int>& clocks, int bound) {
  // BLANK 4: clocks[w] counts the gradients of worker w that were applied. Does `worker` have to wait? It may be up to
  //          `bound` ahead of the slowest worker.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// The learning rate of a stale gradient (W. Zhang et al., 2016): divided by its staleness.
double rate_for(double rate, int staleness) {
  // BLANK 5: What is it? A fresh gradient, of staleness 0, has the whole rate.
  return PUT_YOUR_CODE;
  // END BLANK
}

/// A training run's log: .images, .seconds and .accuracy after every few updates, in order. Accuracies go up and down.
double seconds_to(double accuracy, const std::vector<LogEntry>& log) {
  // BLANK 6: After how many seconds did the run first have at least this accuracy? Infinity if it never had.
  PUT_YOUR_CODE;
  // END BLANK
}

/// The worker's loop. receive() waits for the server, and returns nothing if there is no more work.
void work(WorkerEnd& server) {
  while (const std::optional<State> copy = server.receive())
    server.send({server.gradient_at(copy->parameters), copy->version});
}

/// The server's loop. workers.remaining() counts the gradients that no worker has begun yet.
void serve(Server& server, ServerEnd& workers, const Settings& settings) {
  std::vector<int> clocks(server.n_workers);
  std::vector<bool> idle(server.n_workers, true);  // they compute nothing, and wait for the server
  while (true) {
    for (int worker = 0; worker < server.n_workers; ++worker)
      if (idle[worker] && workers.remaining() > 0 && !must_wait(worker, clocks, settings.bound)) {
        workers.send(worker, fetch(server));
        idle[worker] = false;
      }
    if (std::ranges::all_of(idle, std::identity())) break;
    const Gradient gradient = workers.receive();  // from the worker that sends first
    const int stale = staleness(server, gradient);
    const double rate = settings.rate_by_staleness ? rate_for(settings.rate, stale) : settings.rate;
    apply(server, gradient, rate);
    workers.applied(server, gradient, stale, rate);
    ++clocks[gradient.worker];
    idle[gradient.worker] = true;
  }
  workers.stop();
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  RunOptions options;
  const Arguments args = parse_arguments(
      argc, argv,
      {.name = "asynchronous",
       .about = "Task 12: asynchronous training with a parameter server, in virtual time and between MPI ranks.",
       .network = false,
       .own = {{"--batchsize", "Images of a gradient", &options.batchsize, 1},
               {"--workers", "Workers in virtual time", &options.workers, 2, 64},
               {"--bound", "Bounded staleness: how far a worker may be ahead of the slowest one", &options.bound},
               {"--out", "Folder for pages with charts", &options.out}}});
  const Functions functions{serve, work, must_wait, rate_for, seconds_to};
  if (run_test_cases(functions)) return 0;

  const std::unique_ptr<Communicator> comm = create_communicator("flat");
  if (comm->size() > 1) {
    train_on_ranks(functions, args, options, *comm);
  } else {
    show_quadratic(functions, options.out);
    compare_runs(functions, args, options);
  }
  return 0;
} catch (...) {
  return report_failure();
}
