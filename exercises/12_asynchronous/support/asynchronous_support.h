// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 12: the server's and the workers' end of a connection, and training runs with them, in
// virtual time and between MPI ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "flags/arguments.h"

namespace odori {

/// An array of floats in host memory. As in NumPy, b = a makes b another name of the same elements; a.copy() has its
/// own.
class Array {
 public:
  Array() : Array(std::vector<float>()) {}
  explicit Array(std::vector<float> values) : values_(std::make_shared<std::vector<float>>(std::move(values))) {}
  std::size_t size() const { return values_->size(); }
  float& operator[](std::size_t i) const { return (*values_)[i]; }
  std::vector<float>::iterator begin() const { return values_->begin(); }
  std::vector<float>::iterator end() const { return values_->end(); }
  /// Copies the elements.
  Array copy() const { return Array(*values_); }

 private:
  std::shared_ptr<std::vector<float>> values_;
};

/// The parameter server's memory.
struct Server {
  Array parameters;
  int version = 0;  // updates applied to them
  int n_workers = 1;
};

/// What a worker fetches.
struct State {
  Array parameters;
  int version = 0;
};

struct Gradient {
  Array values;
  int version = 0;  // of the parameters that the worker had fetched
  int worker = 0;   // set by ServerEnd::receive()
};

struct Settings {
  double rate = 0.1;               // learning rate
  bool rate_by_staleness = false;  // divide it, by rate_for()
  int bound = no_bound;            // clocks that a worker may be ahead of the slowest one
  static constexpr int no_bound = 1 << 30;
};

/// The server's end. In virtual time, states are handed over without being copied, as between the threads of a process.
class ServerEnd {
 public:
  virtual ~ServerEnd() = default;
  /// Gradients that are still to be begun: each send() begins one.
  virtual int remaining() const = 0;
  /// Answers the worker's receive().
  virtual void send(int worker, const State& state) = 0;
  /// Waits for the gradient that arrives first; of several that arrive at the same time, that of the lowest worker.
  virtual Gradient receive() = 0;
  /// Records an update. To be called after it.
  virtual void applied(const Server& server, const Gradient& gradient, int staleness, double rate) = 0;
  /// Ends the workers' loops. To be called when all of them are waiting.
  virtual void stop() = 0;
};

/// A worker's end.
class WorkerEnd {
 public:
  virtual ~WorkerEnd() = default;
  /// Waits for the parameters; nothing: there is no more work.
  virtual std::optional<State> receive() = 0;
  /// The gradient of this worker's next batch. Takes time.
  virtual Array gradient_at(const Array& parameters) = 0;
  /// Sends it to the server. Gradient::worker is filled in there.
  virtual void send(const Gradient& gradient) = 0;
};

/// An evaluation during a training run.
struct LogEntry {
  int images = 0;      // trained on until then
  double seconds = 0;  // since the start
  double accuracy = 0;
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The program's functions.
struct Functions {
  std::function<void(Server&, ServerEnd&, const Settings&)> serve;
  std::function<void(WorkerEnd&)> work;
  std::function<bool(int, const std::vector<int>&, int)> must_wait;
  std::function<double(double, int)> rate_for;
  std::function<double(double, const std::vector<LogEntry>&)> seconds_to;
};

/// What main's own flags say.
struct RunOptions {
  int batchsize = 32, workers = 8, bound = 2;
  std::string out = "out/asynchronous";
};

/// Runs the test cases of ./odori check and returns true. Returns false if there are none.
bool run_test_cases(const Functions& functions);

/// Trains a quadratic with staleness 0, 1 and 2 at one learning rate. Prints the losses and writes OUT/quadratic.html.
void show_quadratic(const Functions& functions, const std::string& out);

/// Trains a perceptron in virtual time: with one worker, and with several in different ways. Prints a table and writes
/// OUT/images.html and OUT/seconds.html, accuracy over images and over seconds. Throws Error if all workers wait.
void compare_runs(const Functions& functions, const Arguments& args, const RunOptions& options);

/// Trains the same perceptron between MPI ranks: rank 0 is the server. Rank 0 prints the staleness that it measured.
/// Collective. Throws Error as compare_runs().
void train_on_ranks(const Functions& functions, const Arguments& args, const RunOptions& options, Communicator& comm);

}  // namespace odori
