#include "exercise/pbs_directives.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "exercise/blanks.h"

namespace odori::grader {
namespace {

constexpr std::string_view prefix = "#PBS";
constexpr std::string_view options_with_value = "aAcCjJklmMNopPqrRSuvW";

/// What follows "#PBS"; nothing if the line is no directive.
std::optional<std::string_view> directive_of(std::string_view line) {
  line = trim(line);
  if (!line.starts_with(prefix)) return {};
  return line.substr(prefix.size());
}

bool is_command(std::string_view line) {
  const auto text = trim(line);
  return !text.empty() && text.front() != '#';
}

/// Words as qsub splits them: quotation marks and backslashes keep blanks, and are taken away. "#" begins no comment.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments;
  std::string argument;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (inside) arguments.push_back(std::exchange(argument, {}));
      inside = false;
      continue;
    }
    inside = true;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (quote == 0 && c == '\\' && i + 1 < text.size())
      argument += text[++i];
    else
      argument += c;
  }
  if (inside) arguments.push_back(argument);
  return arguments;
}

/// "select=2:mpiprocs=2,walltime=600" as two resources.
void add_resources(std::vector<PbsResource>& resources, std::string_view list) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    const std::string_view resource = list.substr(0, end);
    const auto equals = std::min(resource.find('='), resource.size());
    resources.push_back({lower(trim(resource.substr(0, equals))),
                         std::string(trim(resource.substr(std::min(equals + 1, resource.size()))))});
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// `-l value`, `-lvalue`, and options without a value before it in the same argument, as getopt has it.
void read_options(const std::vector<std::string>& arguments, PbsDirectives& found) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument.front() != '-') {
      found.left_over.push_back(argument);
      continue;
    }
    const auto option = argument.find_first_of(options_with_value, 1);
    if (option == std::string::npos) continue;
    std::string value = argument.substr(option + 1);
    if (value.empty() && i + 1 < arguments.size()) value = arguments[++i];
    if (argument[option] == 'l') add_resources(found.resources, value);
  }
}

}  // namespace

PbsDirectives read_pbs_directives(const std::vector<std::string>& script) {
  PbsDirectives found;
  bool commands = false;
  for (std::size_t n = 0; n < script.size(); ++n) {
    const auto directive = directive_of(script[n]);
    if (!directive) {
      if (!is_command(script[n])) continue;
      found.commands.push_back(script[n]);
      commands = commands || script[n].front() != ':';
    } else if (commands) {
      found.behind_command.push_back(script[n]);
    } else {
      std::string text(*directive);
      while (text.ends_with('\\') && n + 1 < script.size()) text.replace(text.size() - 1, 1, script[++n]);
      read_options(arguments_of(text), found);
    }
  }
  return found;
}

}  // namespace odori::grader
