// SPDX-License-Identifier: Apache-2.0
// Work of the trainer in addition to updates, at every iteration or at every epoch's end.
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
  /// Higher runs first; after Chainer: those that write values before those that read them.
  static constexpr int writer = 300, reader = 100, snapshot = -100;

  virtual ~Extension() = default;
  virtual Trigger trigger() const { return Trigger::epoch; }
  virtual int priority() const { return reader; }
  /// Does it write into the trainer's folder, in this process?
  virtual bool writes() const { return false; }
  /// What it evaluates, or nothing.
  virtual std::optional<Evaluated> evaluated() const { return {}; }
  virtual void initialize(Trainer&) {}
  /// After initialize(): a sentence on its settings, which is printed above the table; empty for nothing.
  virtual std::string setting(Trainer&) const { return {}; }
  virtual void run(Trainer& trainer) = 0;
  /// After the last iteration, and also when training ends by an error or Ctrl-C.
  virtual void finalize(Trainer&) noexcept {}

  /// What has to be remembered to go on after a resume, as JSON text; empty for nothing.
  virtual std::string name() const = 0;
  virtual std::string state() const { return {}; }
  virtual void restore(const std::string&) {}
};

}  // namespace odori
