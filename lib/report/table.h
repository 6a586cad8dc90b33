// A table of text, for a terminal.
#pragma once

#include <string>
#include <vector>

namespace odori {

using TableRow = std::vector<std::string>;

/// The header, a rule, the rows. Columns are as wide as their widest cell, counted in characters of UTF-8. A column
/// whose cells (other than "-" and empty ones) all begin with a digit stands to the right, every other to the left.
/// Rows may be shorter than the header; throws Error for a longer one.
std::string text_table(const TableRow& header, const std::vector<TableRow>& rows);

}  // namespace odori
