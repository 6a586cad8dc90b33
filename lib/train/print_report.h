// SPDX-License-Identifier: Apache-2.0
// Prints the log as a table, one line per epoch. After Chainer's PrintReport.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "train/extension.h"
#include "train/log_report.h"

namespace odori {

class PrintReport : public Extension {
 public:
  /// `entries`: columns, by names of LogReport: "epoch", "main/loss", ...
  explicit PrintReport(std::initializer_list<std::string_view> entries);
  int priority() const override { return reader - 1; }  // after LogReport
  /// Prints the settings, the header and, after a resume, the earlier epochs.
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  std::string name() const override { return "PrintReport"; }

 private:
  void print(const LogReport::Entry& values) const;

  std::vector<std::string> entries_;
};

/// A table's header and lines, as Chainer's PrintReport writes them: columns as wide as their name, at least 10, and
/// two blanks between them. Missing values are blank.
std::string table_header(const std::vector<std::string>& entries);
std::string table_line(const std::vector<std::string>& entries, const LogReport::Entry& values);

}  // namespace odori
