// SPDX-License-Identifier: Apache-2.0
// Extensions of the trainer: work after every iteration or every epoch. After Chainer's Extension.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace odori {

class Classifier;
class SerialIterator;
class Trainer;

/// A model, and the iterator over the data that it is evaluated on.
struct Evaluated {
  const Classifier& model;
  const SerialIterator& iterator;
};

enum class Trigger { iteration, epoch };

class Extension {
 public:
  /// Higher priorities run first, so values are written before they are read.
  static constexpr int writer = 300, reader = 100, snapshot = -100;

  virtual ~Extension() = default;
  virtual Trigger trigger() const { return Trigger::epoch; }
  virtual int priority() const { return reader; }
  /// True if it writes into the trainer's output folder in this process.
  virtual bool writes() const { return false; }
  /// The model and data that it evaluates, if any.
  virtual std::optional<Evaluated> evaluated() const { return {}; }
  virtual void initialize(Trainer&) {}
  /// A sentence about its settings, printed above the table after initialize(). Empty: none.
  virtual std::string setting(Trainer&) const { return {}; }
  virtual void run(Trainer& trainer) = 0;
  /// Called after the last iteration, also if an error or Ctrl-C ends the training.
  virtual void finalize(Trainer&) noexcept {}

  /// `state()`: JSON text that a snapshot saves for restore(), under this name. Empty: none.
  virtual std::string name() const = 0;
  virtual std::string state() const { return {}; }
  virtual void restore(const std::string&) {}
};

}  // namespace odori
