// SPDX-License-Identifier: Apache-2.0
#include "blanks/pbs_directives.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "errors/text.h"

namespace odori::grader {
namespace {

constexpr std::string_view directive = "#PBS";
constexpr std::string_view options_without_value = "IVXfhz";

/// Splits at blanks. Quotation marks are removed: no value that the kit's scripts need contains a blank.
std::vector<std::string> arguments_of(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '"' || c == '\''; });
  std::istringstream words(plain);
  return {std::istream_iterator<std::string>(words), {}};
}

/// "select=2:mpiprocs=2,walltime=600" as two resources.
void add_resources(const std::string& list, std::vector<PbsResource>& resources) {
  for (const std::string& resource : split(list, ',')) {
    const auto equals = std::min(resource.find('='), resource.size());
    const std::string value = equals < resource.size() ? resource.substr(equals + 1) : "";
    if (!resource.empty()) resources.push_back({lower(resource.substr(0, equals)), value});
  }
}

/// `-l value` or `-lvalue`; of other options the value is skipped.
void read_options(const std::vector<std::string>& arguments, PbsDirectives& found) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      found.left_over.push_back(argument);
      continue;
    }
    if (options_without_value.find(argument[1]) != std::string_view::npos) continue;
    const bool is_next = argument.size() == 2 && i + 1 < arguments.size();
    const std::string value = is_next ? arguments[++i] : argument.substr(2);
    if (argument[1] == 'l') add_resources(value, found.resources);
  }
}

}  // namespace

PbsDirectives read_pbs_directives(const std::vector<std::string>& script) {
  PbsDirectives found;
  for (const std::string& line : script) {
    const std::string_view text = trim(line);
    if (text.starts_with(directive) && found.commands.empty())
      read_options(arguments_of(text.substr(directive.size())), found);
    else if (text.starts_with(directive))
      found.after_command.push_back(line);
    else if (!text.empty() && text[0] != '#')
      found.commands.push_back(line);
  }
  return found;
}

}  // namespace odori::grader
