// From gradients to new parameters.
//
// An update, as every updater asks for it, of the gradients that Classifier::forward_backward() has left:
//
//   take(range)                    as soon as gradients are final, for an optimizer that takes_ranges(); or never
//   synchronize()                  all of them are final. false: there is nothing to update by yet
//   update(range), update(range)   ranges that cover everything once, in any order and from any thread
//   publish()                      what ranks have updated for each other is sent
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/classifier.h"
#include "optim/exchange_options.h"

namespace odori {

/// Changes gradients before the rule is applied, on one range of the flat vectors at a time.
class Hook {
 public:
  virtual ~Hook() = default;
  virtual void apply(Device& device, ModelMemory& memory, Range range) = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// How gradients are exchanged from setup() on. Throws Error for other than the defaults, if this optimizer exchanges
  /// none.
  virtual void set_exchange(const ExchangeOptions& options);
  /// The model that is updated from now on. It must be on its device.
  virtual void setup(Classifier& model) = 0;
  /// Before setup(): this range alone will be updated, so that nothing has to be remembered of the others, which
  /// state() has as 0.
  virtual void keep(Range range) = 0;
  /// Hooks run in the order of adding.
  virtual void add_hook(std::unique_ptr<Hook> hook) = 0;

  /// One update of all parameters, for those who compute the gradients themselves: synchronize(), update(Range) of
  /// everything, publish(). Says whether there was anything to update by.
  bool update();
  /// How many batches of this rank make an update, where whoever made the optimizer said so.
  virtual std::optional<int> accumulate() const { return {}; }
  /// Does take() do anything? What it is told comes in backward's order: from the end of the flat vector to its begin.
  virtual bool takes_ranges() const { return false; }
  /// This rank's gradients of the range are what they have to be for this update.
  virtual void take(Range) {}
  /// Makes the gradients what they should be before the rule is applied; a wrapper averages over ranks here.
  virtual bool synchronize() { return true; }
  /// Does synchronize() do anything? What it does needs all gradients, so that nothing can be updated before.
  virtual bool synchronizes() const { return false; }
  /// Do ranks share a GPU? No speedup can be measured then.
  virtual bool shares_devices() const { return false; }
  /// The simulated link over which ranks exchange gradients, as "1 Gbit/s, 50 us"; empty: none. What is measured over
  /// it says so.
  virtual std::string link() const { return {}; }
  /// Hooks and rule on a range.
  virtual void update(Range range) = 0;
  /// All parameters are what they have to be on this rank too.
  virtual void publish() {}
  /// Does update() change a part of the parameters alone, and publish() bring the others?
  virtual bool is_sharded() const { return false; }
  /// What the sum of the gradients of `batches` batches has to be multiplied by, so that the update is by the mean over
  /// all batches of all ranks, of which each may have another number. Collective where there are ranks.
  virtual float share_of(int batches) { return 1.0f / static_cast<float>(batches); }

  virtual Classifier& model() = 0;  // throws Error before setup()
  virtual float learning_rate() const = 0;
  virtual void set_learning_rate(float rate) = 0;

  /// Updates that were left out, since a gradient was infinite or nan in the 16 bits in which it travelled.
  virtual std::int64_t overflows() const { return 0; }
  virtual void set_overflows(std::int64_t) {}

  /// How gradients are exchanged, where it isn't the usual way: "double buffering". Trainings can go on from each
  /// other's snapshots if these are equal.
  virtual std::string description() const { return {}; }
  /// Host copy of what is remembered from one update to the next, one vector a parameter, in plain order: velocities;
  /// then other lists, each of as many vectors.
  virtual std::vector<std::vector<float>> state() = 0;
  virtual void restore(const std::vector<std::vector<float>>& state) = 0;
  /// How many lists state() is made of.
  virtual std::size_t n_lists() const { return 1; }
};

}  // namespace odori
