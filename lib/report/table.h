// SPDX-License-Identifier: Apache-2.0
// Tables for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odori {

using TableRow = std::vector<std::string>;

/// Number of characters of a UTF-8 text.
std::size_t n_characters(std::string_view text);

/// Columns of a terminal: CJK characters take two. Other wide characters are not used here.
std::size_t columns_of_terminal(std::string_view text);

/// Returns the header, a rule and the rows. Columns are as wide as their widest cell by `width_of`. A column is aligned
/// right if all its cells, except "-" and empty ones, begin with a digit. Throws Error if a row is longer than the
/// header.
std::string text_table(const TableRow& header, const std::vector<TableRow>& rows,
                       std::size_t (*width_of)(std::string_view) = columns_of_terminal);

}  // namespace odori
