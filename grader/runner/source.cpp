#include "runner/source.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "errors/error.h"

namespace odori::grader {
namespace {

constexpr std::string_view main_begins = "int main(int argc, char** argv)",
                           declaration = "namespace odori::observe {\nvoid on_blanks_passed();\n}\n",
                           blanks_passed = "::odori::observe::on_blanks_passed();";

}  // namespace

std::string source_of(const std::string& solution, const std::map<int, Blank>& learners) {
  const std::vector<std::string> lines = split_lines(solution);
  const std::vector<Blank> blanks = parse_blanks(lines, "The solution");
  const auto main =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with(main_begins); });
  require(main != lines.end(), "The solution has no line that begins with \"{}\".", main_begins);
  const int main_line = static_cast<int>(main - lines.begin()) + 1;
  const bool ends_in_main = !blanks.empty() && blanks.back().first_line > main_line;
  require(ends_in_main || main->ends_with('{'),
          "The solution's line {} should end with {{, since all blanks are above.", main_line);

  std::string source;
  const auto add_kits = [&](int first, int end) {  // the kit's lines [first, end), counted from 1
    source += fmt::format("#line {} \"kit\"\n", first);
    for (int line = first; line < end; ++line) {
      if (line == main_line) source += fmt::format("{}#line {} \"kit\"\n", declaration, line);
      source += lines[static_cast<std::size_t>(line) - 1];
      if (line == main_line && !ends_in_main) source += fmt::format(" {}", blanks_passed);
      source += '\n';
    }
  };
  int next = 1;
  for (const Blank& kits : blanks) {
    const auto own = learners.find(kits.number);
    add_kits(next, own == learners.end() ? kits.last_line : kits.text_line);
    if (own != learners.end())
      source += fmt::format("#line 1 \"blank_{}\"\n{}{{}}\n", kits.number, join_lines(own->second.text));
    if (ends_in_main && &kits == &blanks.back()) source += fmt::format("{}\n", blanks_passed);
    next = kits.last_line;
  }
  add_kits(next, static_cast<int>(lines.size()) + 1);
  return source;
}

}  // namespace odori::grader
