// From gradients to new parameters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/classifier.h"

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

  /// The model that is updated from now on. It must be on its device.
  virtual void setup(Classifier& model) = 0;
  /// Hooks run in the order of adding.
  virtual void add_hook(std::unique_ptr<Hook> hook) = 0;

  /// One update of all parameters: synchronize(), then update(Range) of everything.
  void update();
  /// Makes the gradients what they should be before the rule is applied; a wrapper averages over ranks here.
  virtual void synchronize() {}
  /// Does synchronize() do anything? What it does needs all gradients, so that nothing can be updated before.
  virtual bool synchronizes() const { return false; }
  /// Do ranks share a GPU? No speedup can be measured then.
  virtual bool shares_devices() const { return false; }
  /// The simulated link over which ranks exchange gradients, as "1 Gbit/s, 50 us"; empty: none. What is measured over
  /// it says so.
  virtual std::string link() const { return {}; }
  /// Hooks and rule on a range; ranges that cover everything once are one update, in any order and from any
  /// thread.
  virtual void update(Range range) = 0;

  virtual Classifier& model() = 0;  // throws Error before setup()
  virtual float learning_rate() const = 0;
  virtual void set_learning_rate(float rate) = 0;

  /// Host copy of what the rule remembers (velocities), one vector a parameter, in plain order.
  virtual std::vector<std::vector<float>> state() = 0;
  virtual void restore(const std::vector<std::vector<float>>& state) = 0;
};

}  // namespace odori
