// SPDX-License-Identifier: Apache-2.0
// The end of each epoch: a program's own code, and a line of a table.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "comm/communicator.h"
#include "train/extension.h"
#include "train/trainer.h"

namespace odori {

/// Runs a function at the end of each epoch, after the evaluation and before the table's line.
class EpochEnd : public Extension {
 public:
  explicit EpochEnd(std::function<void()> function) : function_(std::move(function)) {}
  int priority() const override { return writer - 1; }
  std::string name() const override { return "EpochEnd"; }
  void run(Trainer&) override { function_(); }

 private:
  std::function<void()> function_;
};

/// Rank 0 prints a line for each epoch.
void print_epochs(Trainer& trainer, const Communicator& comm);

}  // namespace odori
