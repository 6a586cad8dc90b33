// How the gradients of all ranks become their mean, where somebody else decides what travels when.
//
// Whoever trains asks for an iteration. Within it, a derived class hears
//
//   are_final(range)   while backward computes: these gradients are final. The last parameters' come first
//   finish()           when backward is over. true: the weights are to be updated by what `gradients` holds now
//
// and lets numbers travel by start(), wait() and sum_in(). Where evidence is recorded (trace/evidence.h), all of this
// is in it, in its order.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "backend/device.h"
#include "backend/graph.h"
#include "comm/background.h"
#include "comm/communicator.h"
#include "core/dtype.h"
#include "core/range.h"

namespace odori {

class GradientExchange {
 public:
  /// When what was started arrives.
  enum class Arrival {
    soon,         // a thread sends it while the program computes
    when_waited,  // not before wait(): whoever uses it earlier has the old numbers, each time, and what is written then
                  // is lost
  };

  /// Between all ranks. `comm` must outlive this.
  explicit GradientExchange(Communicator& comm) : comm(comm) {}
  virtual ~GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  /// Of these gradients from now on, of a CPU device. `parameters`: one range each, ascending, each at a multiple
  /// of 16. Waits for what was started before.
  void setup(Device& device, Buffer& memory, std::vector<Range> parameters, Arrival arrival = Arrival::soon);
  /// `backward` computes the gradients, and tells of those that are final. Returns whether there is anything to update
  /// by.
  bool iterate(const std::function<void(const FinalGradients&)>& backward);
  /// What the last iteration took until the weights could be updated, in seconds, and what of that the derived class.
  double seconds() const { return seconds_; }
  double exposed_seconds() const { return exposed_seconds_; }

 protected:
  /// Before the first iteration.
  virtual void prepare(std::span<const Range> /*parameters*/) {}
  virtual void are_final(Range /*gradients*/) {}
  virtual bool finish() = 0;

  /// Numbers of `gradients` or `travelling` become their mean over all ranks. Returns at once: they must not be touched
  /// before wait(). All ranks start the same in the same order.
  void start(std::span<float> numbers);
  /// Of `gradients`.
  void start(Range range);
  /// Returns when all that was started has arrived.
  void wait();
  /// Both.
  void average(std::span<float> numbers);
  /// The numbers, anywhere, become their sum over all ranks; they travel, and are added, in numbers of this type.
  /// Returns when they have arrived.
  void sum_in(Dtype dtype, std::span<float> numbers);

  Communicator& comm;
  std::span<float> gradients;   // of this rank, until they are exchanged; backward writes them here, always
  std::span<float> travelling;  // as many numbers, 0 at first, for those that travel while backward writes new ones
  int iteration = 0;            // counted from 0

 private:
  std::span<const Range> parameters() const { return std::span(fenced_).subspan(1, fenced_.size() - 2); }
  void check_whole_parameters(Range range) const;
  void check_views() const;
  void send(Buffer& memory, Range range);

  Device* device_ = nullptr;
  Buffer* memory_ = nullptr;   // of `gradients`
  std::vector<Range> fenced_;  // the parameters, between two that tell who reads beside them
  Arrival arrival_ = Arrival::soon;
  Buffer travelling_, summed_;
  std::deque<std::function<void()>> waiting_;  // Arrival::when_waited
  double seconds_ = 0, exposed_seconds_ = 0;
  std::optional<Background> background_;  // last: its calls end before what they use
};

}  // namespace odori
