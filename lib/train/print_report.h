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
  /// The columns, by the names that LogReport has: "epoch", "main/loss", ...
  explicit PrintReport(std::initializer_list<std::string_view> entries);
  int priority() const override { return reader - 1; }  // after LogReport
  /// Prints what was set, the header and after a resume the epochs of before.
  void initialize(Trainer& trainer) override;
  void run(Trainer& trainer) override;
  std::string name() const override { return "PrintReport"; }

 private:
  void print(const LogReport::Entry& values) const;

  std::vector<std::string> entries_;
};

/// A table's header, or a line of it, as Chainer's PrintReport writes them: columns as wide as their name and at least
/// 10, two blanks between them; a value that isn't there is left blank.
std::string table_header(const std::vector<std::string>& entries);
std::string table_line(const std::vector<std::string>& entries, const LogReport::Entry& values);

}  // namespace odori
