// SPDX-License-Identifier: Apache-2.0
#include "classroom/course/csv.h"

#include <algorithm>

#include "errors/text.h"

namespace odori::grader {
namespace {

constexpr std::string_view mark_of_utf8 = "\xEF\xBB\xBF";

char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char best = ',';
  for (const char separator : {';', '\t'})
    if (std::ranges::count(first, separator) > std::ranges::count(first, best)) best = separator;
  return best;
}

}  // namespace

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  if (text.starts_with(mark_of_utf8)) text.remove_prefix(mark_of_utf8.size());
  const char separator = separator_of(text);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  const auto end_field = [&] {
    row.emplace_back(trim(field, " \t\r\n"));
    field.clear();
  };
  const auto end_row = [&] {
    end_field();
    if (std::ranges::any_of(row, [](const std::string& one) { return !one.empty(); })) rows.push_back(std::move(row));
    row.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      field += text[++at];
    } else if (c == '"' && (quoted || trim(field).empty())) {
      quoted = !quoted;
    } else if (quoted || (c != separator && c != '\n')) {
      field += c;
    } else if (c == separator) {
      end_field();
    } else {
      end_row();
    }
  }
  end_row();
  return rows;
}

CsvTable::CsvTable(std::string_view text) : rows_(parse_csv(text)) {
  if (rows_.empty()) return;
  for (const std::string& heading : rows_.front()) headings_.push_back(lower(heading));
  rows_.erase(rows_.begin());
}

std::size_t CsvTable::column(std::string_view heading) const {
  return static_cast<std::size_t>(std::ranges::find(headings_, heading) - headings_.begin());
}

std::string CsvTable::at(std::size_t row, std::string_view heading) const {
  const std::size_t i = column(heading);
  return i < rows_[row].size() ? rows_[row][i] : "";
}

}  // namespace odori::grader
