// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <chrono>
#include <map>

#include "perceptron.h"
#include "virtual_run.h"

namespace odori {
namespace {

// A message has the version first, then the parameters or the gradient. Floats hold whole numbers up to 2^24.
constexpr float no_more = -1;  // in place of a version
using Message = std::vector<float>;

Message message_of(int version, const Array& values) {
  Message message{static_cast<float>(version)};
  message.insert(message.end(), values.begin(), values.end());
  return message;
}
Array values_of(const Message& message) { return Array({message.begin() + 1, message.end()}); }

using Clock = std::chrono::steady_clock;

/// What rank 0 prints.
struct Measured {
  std::map<int, int> updates_by_staleness;
  double seconds = 0;
};

class RankServerEnd : public ServerEnd {
 public:
  RankServerEnd(Communicator& comm, int gradients, std::size_t length, Measured& measured)
      : comm_(comm), remaining_(gradients), length_(length), measured_(measured), start_(Clock::now()) {}

  int remaining() const override { return remaining_; }
  void send(int worker, const State& state) override {
    --remaining_;
    comm_.send(message_of(state.version, state.parameters), worker + 1);
  }
  Gradient receive() override {
    Message message(1 + length_);
    const int from = comm_.receive_any(message);
    return {values_of(message), static_cast<int>(message.front()), from - 1};
  }
  void applied(const Server&, const Gradient&, int staleness, double) override {
    ++measured_.updates_by_staleness[staleness];
    measured_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  }
  void stop() override {
    Message message(1 + length_);
    message.front() = no_more;
    for (int rank = 1; rank < comm_.size(); ++rank) comm_.send(message, rank);
    if (remaining_ > 0) fail_because_all_wait();
  }

 private:
  Communicator& comm_;
  int remaining_;
  std::size_t length_;  // of the parameters
  Measured& measured_;
  Clock::time_point start_;
};

class RankWorkerEnd : public WorkerEnd {
 public:
  RankWorkerEnd(Communicator& comm, PerceptronOfWorkers& perceptron, std::size_t length)
      : comm_(comm), perceptron_(perceptron), length_(length) {}

  std::optional<State> receive() override {
    Message message(1 + length_);
    comm_.receive(message, 0);
    if (message.front() == no_more) return {};
    return State{values_of(message), static_cast<int>(message.front())};
  }
  Array gradient_at(const Array& parameters) override {
    return Array(perceptron_.gradient_at(comm_.rank() - 1, {parameters.begin(), parameters.end()}));
  }
  void send(const Gradient& gradient) override { comm_.send(message_of(gradient.version, gradient.values), 0); }

 private:
  Communicator& comm_;
  PerceptronOfWorkers& perceptron_;
  std::size_t length_;
};

}  // namespace

void train_on_ranks(const Functions& functions, const Arguments& args, const RunOptions& options, Communicator& comm) {
  const int n_workers = comm.size() - 1;
  PerceptronOfWorkers perceptron(args, options.batchsize, n_workers);
  const std::vector<float> initial = perceptron.initial_parameters();
  comm.barrier();
  if (comm.rank() > 0) {
    RankWorkerEnd server(comm, perceptron, initial.size());
    functions.work(server);
    return;
  }
  Measured measured;
  RankServerEnd workers(comm, perceptron.n_gradients(), initial.size(), measured);
  Server server{Array(initial), 0, n_workers};
  functions.serve(server, workers, {args.learnrate, true, options.bound});
  fmt::print("{}\n",
             in_language({"Your functions between MPI ranks, with bound {} and the rate divided by the staleness:",
                          "MPI のランクの間であなたの関数を実行（上限 {}、学習率を古さで割る）:"},
                         options.bound));
  fmt::print("{}\n", in_language({"{0} worker{1}: {2:.0f} images/s, accuracy {3:.1f} %",
                                  "{0} ワーカー: {2:.0f} 枚/秒、正解率 {3:.1f} %"},
                                 n_workers, n_workers == 1 ? "" : "s",
                                 perceptron.n_gradients() * perceptron.batch_size() / measured.seconds,
                                 100 * perceptron.accuracy({server.parameters.begin(), server.parameters.end()})));
  for (const auto& [staleness, updates] : measured.updates_by_staleness)
    fmt::print("{}\n", in_language({"  staleness {}: {} updates", "  古さ {}: {} 回の更新"}, staleness, updates));
  fmt::print("{}\n",
             in_language(Text{"Run it again: the order of arrival changes, and so do the accuracy and these counts.",
                              "もう一度実行すると、届く順序が変わり、正解率とこれらの回数も変わります。"}));
}

}  // namespace odori
