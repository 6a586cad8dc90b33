// SPDX-License-Identifier: Apache-2.0
// Collects the values of each epoch. After Chainer's LogReport.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/extension.h"

namespace odori {

/// At every epoch's end: epoch, iteration, elapsed_time, main/loss, main/accuracy (means over the epoch) and whatever
/// was observed. Written to OUT/log, a JSON list, replaced as a whole each time.
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

/// The trainer's LogReport; throws Error if it has none.
const LogReport& find_log_report(Trainer& trainer);

}  // namespace odori
