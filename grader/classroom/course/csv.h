// SPDX-License-Identifier: Apache-2.0
// Reads CSV as platforms and spreadsheets write it (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odori::grader {

/// The rows of a CSV file in UTF-8, with or without a byte order mark: fields between commas, or between semicolons or
/// tabs if the first line has more of those. A quoted field may contain any of them, line ends, and "" for a quote.
/// Spaces around fields are removed, and rows without a text are left out.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

/// A table with a line of headings, which are compared in small letters.
class CsvTable {
 public:
  explicit CsvTable(std::string_view text);

  bool has(std::string_view heading) const { return column(heading) < headings_.size(); }
  const std::vector<std::string>& headings() const { return headings_; }
  std::size_t n_rows() const { return rows_.size(); }
  /// Empty if there is no such column, or the row is shorter.
  std::string at(std::size_t row, std::string_view heading) const;

 private:
  std::size_t column(std::string_view heading) const;

  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace odori::grader
