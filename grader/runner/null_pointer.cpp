#include "runner/null_pointer.h"

#include <regex>

#include "errors/text.h"

namespace odori::grader {

std::optional<Finding> null_pointer_in(const std::string& output, const Submission& answer) {
  // "blank_3:2:10: runtime error: member call on null pointer of type 'const struct Dataset'"
  static const std::regex said(
      "(blank_([0-9]{1,3})|[^:\\n]+):([0-9]{1,6}):[0-9]+: runtime error: .* null pointer of type '([^']*)'");
  std::smatch match;
  if (!std::regex_search(output, match, said)) return {};
  std::string type = match[4];
  for (const char* word : {"const ", "struct ", "class ", "odori::"}) type = replaced(std::move(type), word, "");
  if (!match[2].matched) return Finding{"null_pointer_used", {{"type", type}}};
  const auto blank = answer.blanks.find(std::stoi(match[2]));
  const int in_text = std::stoi(match[3]);
  if (blank == answer.blanks.end() || in_text > static_cast<int>(blank->second.text.size())) return {};
  const std::string code(trim(blank->second.text[static_cast<std::size_t>(in_text) - 1]));
  return Finding{"null_pointer",
                 {{"type", type}, {"line", std::to_string(blank->second.text_line + in_text - 1)}, {"code", code}}};
}

}  // namespace odori::grader
