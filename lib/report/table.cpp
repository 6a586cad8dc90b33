// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>
#include <cctype>

#include "errors/error.h"

namespace odori {
namespace {

using WidthOf = std::size_t (*)(std::string_view);

struct Column {
  std::size_t width = 0;
  bool to_the_right = true;
};

Column measure(const TableRow& header, const std::vector<TableRow>& rows, std::size_t i, WidthOf width_of) {
  Column column{width_of(header[i])};
  bool numbers = false;
  for (const TableRow& row : rows) {
    if (i >= row.size() || row[i].empty()) continue;
    column.width = std::max(column.width, width_of(row[i]));
    const bool number = std::isdigit(static_cast<unsigned char>(row[i].front())) != 0;
    numbers |= number;
    column.to_the_right &= number || row[i] == "-";
  }
  column.to_the_right &= numbers;
  return column;
}

std::string line(const std::vector<Column>& columns, const TableRow& row, WidthOf width_of) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string cell = i < row.size() ? row[i] : "";
    const std::string padding(columns[i].width - width_of(cell), ' ');
    text += (i == 0 ? "" : "  ") + (columns[i].to_the_right ? padding + cell : cell + padding);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::size_t n_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t columns_of_terminal(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) n += byte >= 0xE3 && byte < 0xF0 ? 2 : 1;  // from U+3000 on
  }
  return n;
}

std::string text_table(const TableRow& header, const std::vector<TableRow>& rows, WidthOf width_of) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < header.size(); ++i) columns.push_back(measure(header, rows, i, width_of));
  TableRow rule;
  for (const Column& column : columns) rule.emplace_back(column.width, '-');

  std::string text = line(columns, header, width_of) + line(columns, rule, width_of);
  for (const TableRow& row : rows) {
    require(row.size() <= header.size(), "A row of {} cells doesn't fit a table of {} columns.", row.size(),
            header.size());
    text += line(columns, row, width_of);
  }
  return text;
}

}  // namespace odori
