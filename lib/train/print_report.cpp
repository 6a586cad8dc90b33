// SPDX-License-Identifier: Apache-2.0
#include "train/print_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "train/terminal.h"
#include "train/trainer.h"

namespace odori {
namespace {

std::size_t width(const std::string& entry) { return std::max<std::size_t>(10, entry.size()); }

}  // namespace

std::string table_header(const std::vector<std::string>& entries) {
  std::string line;
  for (const std::string& entry : entries)
    line += fmt::format("{}{:<{}}", line.empty() ? "" : "  ", entry, width(entry));
  return line;
}

std::string table_line(const std::vector<std::string>& entries, const LogReport::Entry& values) {
  std::string line;
  for (const std::string& entry : entries) {
    const auto value = values.find(entry);
    line += value == values.end() ? std::string(width(entry) + 2, ' ')
                                  : fmt::format("{:<{}g}  ", value->second, width(entry));
  }
  return line;
}

PrintReport::PrintReport(std::initializer_list<std::string_view> entries) : entries_(entries.begin(), entries.end()) {}

void PrintReport::initialize(Trainer& trainer) {
  std::vector<std::string> settings{trainer.updater().setting()};
  for (const auto& extension : trainer.extensions()) settings.push_back(extension->setting(trainer));
  for (const std::string& setting : settings)
    if (!setting.empty()) print_line(setting);
  print_line(table_header(entries_));
  for (const LogReport::Entry& entry : find_log_report(trainer).log()) print(entry);
}

void PrintReport::run(Trainer& trainer) { print(find_log_report(trainer).log().back()); }

void PrintReport::print(const LogReport::Entry& values) const { print_line(table_line(entries_, values)); }

}  // namespace odori
