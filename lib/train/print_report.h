// Prints the log as a table, a line an epoch. After Chainer's PrintReport.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "train/extension.h"

namespace odori {

class PrintReport : public Extension {
 public:
  explicit PrintReport(std::vector<std::string> entries);
  int priority() const override { return reader - 1; }  // behind LogReport
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  std::string name() const override { return "PrintReport"; }

 private:
  std::vector<std::string> entries_;
};

}  // namespace odori
