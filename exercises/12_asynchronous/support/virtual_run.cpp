// SPDX-License-Identifier: Apache-2.0
#include "virtual_run.h"

#include <exception>

#include "errors/error.h"
#include "simulate/simulate.h"

namespace odori {
namespace {

/// What is handed over between the ends of one worker. The state is not copied.
struct Handed {
  std::optional<State> state;  // none: the worker's loop ends
  Gradient gradient;
  double fetched = 0;
};

/// Rank 0 is the server; worker w is rank w + 1.
class VirtualServerEnd : public ServerEnd {
 public:
  VirtualServerEnd(const VirtualRun& run, std::vector<Handed>& handed, simulate::Rank& rank, bool& all_wait)
      : run_(run), handed_(handed), rank_(rank), all_wait_(all_wait), remaining_(run.gradients) {}

  int remaining() const override { return remaining_; }

  void send(int worker, const State& state) override {
    --remaining_;
    hand(worker, state);
  }

  Gradient receive() override {
    const int worker = rank_.receive_any(length()) - 1;
    Gradient gradient = handed_[static_cast<std::size_t>(worker)].gradient;
    gradient.worker = worker;
    gradient.values = gradient.values.copy();  // the server may scale it in place
    return gradient;
  }

  void applied(const Server& server, const Gradient& gradient, int staleness, double rate) override {
    const Handed& handed = handed_[static_cast<std::size_t>(gradient.worker)];
    run_.applied({gradient.worker, handed.fetched, rank_.now(), gradient.version, staleness, rate, server.version},
                 server, handed.gradient);
  }

  void stop() override {
    all_wait_ = remaining_ > 0;
    for (int worker = 0; worker < rank_.size() - 1; ++worker) hand(worker, {});
  }

 private:
  simulate::Bytes length() const { return {sizeof(float) * run_.parameters.size()}; }
  void hand(int worker, const std::optional<State>& state) {
    handed_[static_cast<std::size_t>(worker)].state = state;
    rank_.send(length(), worker + 1);
  }

  const VirtualRun& run_;
  std::vector<Handed>& handed_;
  simulate::Rank& rank_;
  bool& all_wait_;
  int remaining_;
};

class VirtualWorkerEnd : public WorkerEnd {
 public:
  VirtualWorkerEnd(const VirtualRun& run, Handed& handed, simulate::Rank& rank)
      : run_(run), handed_(handed), rank_(rank) {}

  std::optional<State> receive() override {
    rank_.receive(simulate::Bytes{sizeof(float) * run_.parameters.size()}, 0);
    handed_.fetched = rank_.now();
    return handed_.state;
  }

  Array gradient_at(const Array& parameters) override {
    const int worker = rank_.rank() - 1;
    const std::vector<double>& seconds = run_.seconds[static_cast<std::size_t>(worker)];
    rank_.compute(seconds[n_computed_++ % seconds.size()]);
    return Array(run_.gradient_at(worker, std::span<const float>(parameters.begin(), parameters.end())));
  }

  void send(const Gradient& gradient) override {
    handed_.gradient = gradient;
    rank_.send(simulate::Bytes{sizeof(float) * run_.parameters.size()}, 0);
  }

 private:
  const VirtualRun& run_;
  Handed& handed_;
  simulate::Rank& rank_;
  std::size_t n_computed_ = 0;
};

}  // namespace

bool run(const VirtualRun& run, const Functions& functions) {
  const int n_workers = static_cast<int>(run.seconds.size());
  std::vector<Handed> handed(run.seconds.size());
  bool all_wait = false;
  std::exception_ptr thrown;  // as it was; the simulation's Error names the rank, which no learner knows
  const auto each_rank = [&](simulate::Rank& rank) {
    try {
      if (rank.rank() == 0) {
        VirtualServerEnd workers(run, handed, rank, all_wait);
        Server server{Array(run.parameters), run.version, n_workers};
        functions.serve(server, workers, run.settings);
      } else {
        VirtualWorkerEnd server(run, handed[static_cast<std::size_t>(rank.rank() - 1)], rank);
        functions.work(server);
      }
    } catch (const std::exception&) {
      if (!thrown) thrown = std::current_exception();
      throw;
    }
  };
  try {
    simulate::run({.nodes = 1, .ranks_per_node = n_workers + 1, .within = run.link, .between = run.link}, each_rank);
  } catch (const Error&) {
    if (thrown) std::rethrow_exception(thrown);
    throw;
  }
  return !all_wait;
}

void fail_because_all_wait() {
  throw Error(Text{
      "All workers wait, although there are gradients to begin. The slowest worker may never wait: see blank 4.",
      "計算する勾配が残っているのに、すべてのワーカーが待っています。最も遅いワーカーを待たせてはいけません（空欄 4 "
      "を見てください）。"});
}

}  // namespace odori
