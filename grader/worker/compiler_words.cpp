#include "worker/compiler_words.h"

#include <algorithm>

namespace odori::grader {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view word) {
  return !word.empty() && is_letter(word[0]) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

bool says(std::string_view message, std::string_view words) { return message.find(words) != std::string_view::npos; }

}  // namespace

std::vector<std::string_view> quoted_in(std::string_view message) {
  std::vector<std::string_view> quoted;
  for (std::size_t begin = 0, end; (begin = message.find('\'', begin)) != std::string_view::npos &&
                                   (end = message.find('\'', begin + 1)) != std::string_view::npos;
       begin = end + 1)
    quoted.push_back(message.substr(begin + 1, end - begin - 1));
  return quoted;
}

std::string unknown_name(std::string_view message) {
  const bool complains = says(message, "' was not declared") || says(message, "' has not been declared") ||
                         says(message, "' does not name a type") ||
                         message.starts_with("use of undeclared identifier '");
  const auto quoted = quoted_in(message);
  if (!complains || quoted.empty() || !is_name(quoted[0])) return {};
  return std::string(quoted[0]);
}

}  // namespace odori::grader
