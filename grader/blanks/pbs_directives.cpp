#include "blanks/pbs_directives.h"

#include "blanks/blanks.h"

namespace odori::grader {
namespace {

constexpr std::string_view directive = "#PBS";
constexpr std::string_view options_without_value = "IVXfhz";

/// Splits at blanks. Quotation marks are removed: no value that the kit's scripts need contains a blank.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments{""};
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t';
    if (is_blank && !arguments.back().empty()) arguments.emplace_back();
    if (!is_blank && c != '"' && c != '\'') arguments.back() += c;
  }
  if (arguments.back().empty()) arguments.pop_back();
  return arguments;
}

/// "select=2:mpiprocs=2,walltime=600" as two resources.
void add_resources(const std::string& list, std::vector<PbsResource>& resources) {
  for (const std::string& resource : split(list, ',')) {
    const auto equals = std::min(resource.find('='), resource.size());
    if (!resource.empty())
      resources.push_back({lower(resource.substr(0, equals)), resource.substr(std::min(equals + 1, resource.size()))});
  }
}

/// `-l value` or `-lvalue`.
void read_options(const std::vector<std::string>& arguments, PbsDirectives& found) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      found.left_over.push_back(argument);
    } else if (options_without_value.find(argument[1]) == std::string_view::npos) {
      const bool is_next = argument.size() == 2 && i + 1 < arguments.size();
      const std::string value = is_next ? arguments[++i] : argument.substr(2);
      if (argument[1] == 'l') add_resources(value, found.resources);
    }
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
