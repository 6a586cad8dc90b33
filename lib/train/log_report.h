// SPDX-License-Identifier: Apache-2.0
// Logs the values of each epoch. After Chainer's LogReport.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/extension.h"

namespace odori {

/// Logs epoch, iteration, elapsed_time (seconds), main/loss, main/accuracy (means over the epoch) and
/// Trainer::observation() after every epoch, and writes all entries to OUT/log, a JSON list, atomically.
class LogReport : public Extension {
 public:
  using Entry = std::map<std::string, double>;
  bool writes() const override { return true; }
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  std::string name() const override { return "LogReport"; }
  const std::vector<Entry>& log() const { return log_; }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::vector<Entry> log_;
};

/// Returns the trainer's LogReport. Throws Error if it has none.
const LogReport& find_log_report(Trainer& trainer);

}  // namespace odori
