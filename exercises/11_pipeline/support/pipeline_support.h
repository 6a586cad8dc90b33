// SPDX-License-Identifier: Apache-2.0
// Support code of exercise 11: the steps of a schedule, messages between stages, and the stage of a rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "mlp.h"

namespace odori {

/// One micro-batch passes through a stage: forward, or backward.
enum class Phase { forward, backward };

struct Step {
  Phase pass = Phase::forward;
  int micro_batch = 0;  // 0, 1, ..., m - 1
  bool operator==(const Step&) const = default;
};

/// What a rank computes in an iteration, step by step.
using Order = std::vector<Step>;

// ---- Messages

/// In place of a rank: there is nothing to send, or nothing to receive.
inline constexpr int nobody = -1;

/// Values that a rank has for another one.
struct Message {
  std::vector<float> values = {};
  int to = nobody;
};

/// The ranks that hold the other stages, and messages to them: between processes (MpiPeers), or in virtual time.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual int rank() const = 0;  // of this stage, counted from 0
  virtual int size() const = 0;  // number of stages
  /// Sends to a rank. Returns when that rank receives.
  virtual void send(std::span<const float> values, int to) = 0;
  /// Receives exactly this many values from a rank.
  virtual void receive(std::span<float> values, int from) = 0;
  /// Both at once: sends to one rank while it receives from the same or another one.
  virtual void exchange(std::span<const float> sent, int to, std::span<float> received, int from) = 0;
};

/// All ranks of the job, or of a simulation. Throws Error for a rank that does not exist.
class MpiPeers : public Peers {
 public:
  explicit MpiPeers(Communicator& comm) : comm_(comm) {}
  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }
  void send(std::span<const float> values, int to) override;
  void receive(std::span<float> values, int from) override;
  void exchange(std::span<const float> sent, int to, std::span<float> received, int from) override;

 private:
  Communicator& comm_;
};

// ---- The stage of a rank

/// Adjacent layers of a perceptron. Every call throws Error if it is not this stage's turn, or a vector has another
/// size.
class Stage {
 public:
  /// The layers from own.begin to before own.end of all `layers`.
  Stage(std::span<const mlp::Layer> layers, Range own, std::uint64_t seed);

  // ---- Of an iteration
  /// The number of micro-batches, m.
  int micro_batches() const { return static_cast<int>(batches_.size()); }
  /// Values of the stage's input and output, for the images of one micro-batch.
  std::size_t input_size() const;
  std::size_t output_size() const;
  /// The images of micro-batch i: what the first stage gets as its input.
  const std::vector<float>& images(int i) const;
  /// Returns the stage's output for micro-batch i. Holds all activations of i until backward(i).
  std::vector<float> forward(int i, std::vector<float> input);
  /// On the last stage, after forward(i): the gradient of the mean loss over the images of micro-batch i, by the
  /// stage's output.
  std::vector<float> loss_gradient(int i);
  /// dy: the gradient of the loss by the stage's output. Returns that by the stage's input (empty on the first stage),
  /// adds that by the stage's parameters to `gradients`, and frees the activations of i.
  std::vector<float> backward(int i, std::vector<float> dy);

  std::vector<float> parameters, gradients;

  // ---- Around it
  /// A new iteration: splits the images into m micro-batches of one size, and sets the gradients to 0. Throws Error if
  /// m does not divide their number.
  void begin(const mlp::Images& images, int m);
  /// Calls this in forward(i) and backward(i).
  void on_compute(std::function<void(Step)> computing) { computing_ = std::move(computing); }
  /// All stages' parameters: those of this stage are range(), within the perceptron.
  Range range() const { return mlp::range_of(layers_); }
  bool is_last() const { return is_last_; }
  /// The mean loss over all images since begin(), and the correct predictions among them. On the last stage.
  mlp::Loss loss() const { return loss_; }
  /// Micro-batches whose activations were held at the same time, at most, since begin().
  int most_held() const { return most_held_; }
  const std::vector<mlp::Images>& batches() const { return batches_; }

 private:
  std::size_t images_of_batch() const { return batches_.empty() ? 0 : batches_.front().labels.size(); }
  const mlp::Images& batch(const char* call, int i) const;
  mlp::Activations& activations(const char* call, int i);

  std::vector<mlp::Layer> layers_;
  bool is_last_;
  std::vector<mlp::Images> batches_;
  std::map<int, mlp::Activations> held_;
  std::function<void(Step)> computing_;
  mlp::Loss loss_;
  int most_held_ = 0;
};

// ---- What a program has of all this

using CostOf = double (*)(const mlp::Layer& layer, bool is_first);

/// The functions of the program.
struct PipelineFunctions {
  CostOf cost_of;
  Order (*gpipe)(int m);
  Order (*one_forward_one_backward)(int rank, int p, int m);
  double (*idle_share)(int p, int m);
  void (*compute_gradients)(const Order& order, Stage& stage, Peers& peers);

  Order order(bool is_gpipe, int rank, int p, int m) const {
    return is_gpipe ? gpipe(m) : one_forward_one_backward(rank, p, m);
  }
};

/// Calls the functions as ./odori check or ./odori simulate wants, and returns true. Returns false if neither asks.
bool run_test_cases(const PipelineFunctions& functions, Communicator& comm);

/// Runs both schedules for comm.size() stages of equal cost and m micro-batches in virtual time, with a small
/// perceptron. Rank 0 prints who computes what and when, the idle share, and how many micro-batches each rank held at
/// most. Throws Error if ranks wait for each other.
void show_schedules(const PipelineFunctions& functions, int m, Communicator& comm);

/// That many layers: 3072 values of an image, then `width` values after each but the last layer, then the classes.
std::vector<mlp::Layer> make_perceptron(int n_layers, int width, int n_classes);

/// The layers of each of p stages, adjacent, at least one each, so that the largest sum of cost_of() is the smallest
/// possible; of several such cuts, the most even one. Throws Error if there are fewer layers than stages, or a cost is
/// not above 0.
std::vector<Range> cut(std::span<const mlp::Layer> layers, CostOf cost_of, int p);

/// This rank's of comm.size(). Rank 0 prints the layers and the cost of each.
Range cut(std::span<const mlp::Layer> layers, CostOf cost_of, Communicator& comm);

/// Prints how a training run goes, on rank 0. All calls are collective.
class PipelineReport {
 public:
  PipelineReport(const Stage& stage, Communicator& comm) : stage_(stage), comm_(comm) {}
  /// After the first one it compares all ranks' gradients with those that one device computes from the whole batch.
  void iteration_over(std::span<const mlp::Layer> layers, std::uint64_t seed);
  void epoch_over(std::int64_t epoch);

 private:
  const Stage& stage_;
  Communicator& comm_;
  std::int64_t iterations_ = 0;  // of this epoch
  double loss_ = 0, correct_ = 0, images_ = 0;
  bool compared_ = false;
};

}  // namespace odori
