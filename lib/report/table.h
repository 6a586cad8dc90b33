// SPDX-License-Identifier: Apache-2.0
// A table of text, for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odori {

using TableRow = std::vector<std::string>;

/// How many characters of UTF-8 a text has.
std::size_t n_characters(std::string_view text);

/// The header, a rule, the rows. Columns are as wide as their widest cell, by `width_of`. A column whose cells (other
/// than "-" and empty ones) all begin with a digit is aligned right, every other left. Rows may be shorter
/// than the header; throws Error for a longer one.
std::string text_table(const TableRow& header, const std::vector<TableRow>& rows,
                       std::size_t (*width_of)(std::string_view) = n_characters);

}  // namespace odori
