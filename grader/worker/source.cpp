#include "worker/source.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/error.h"
#include "exercise/lexer.h"
#include "worker/name_walls.h"

namespace odori::grader {
namespace {

constexpr std::string_view main_begins = "int main(int argc, char** argv)", blanks_passed = "odori__blanks_passed";

/// The kit's text, with the library's names in full: types, and functions that it calls. A blank that declares one of
/// them anew, a Trainer of its own, has it for itself.
std::string with_full_names(const std::vector<std::string>& lines) {
  static const std::set<std::string> outside{"std", "fmt"};
  std::string text = join_lines(lines);
  const std::vector<Token> tokens = tokens_of(lines).all;
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const Token &token = tokens[i], before = i > 0 ? tokens[i - 1] : Token{.text = ";"},
                after = i + 1 < tokens.size() ? tokens[i + 1] : Token{.text = ";"};
    if (!token.is_word() || before == "." || before == "->" || before == "::") continue;
    const bool is_macro = std::none_of(token.text.begin(), token.text.end(), [](char c) { return std::islower(c); }),
               is_type = std::isupper(token.text[0]) != 0 && !is_macro,
               is_declared = (before.is_word() && !begins_expression(before.text)) || before == ">",
               is_called = after == "(" && !is_declared && !is_keyword(token.text) && !is_macro;
    if (after == "::" || is_type || is_called) text.insert(token.at, outside.contains(token.text) ? "::" : "::odori::");
  }
  return text;
}

/// The solution from its main on.
class Body {
 public:
  Body(const std::string& solution, const std::string& path) : lines_(split_lines(solution)) {
    blanks_ = parse_blanks(lines_, path);
    const auto is_main = [](const std::string& line) { return line.starts_with(main_begins); };
    main_ = std::find_if(lines_.begin(), lines_.end(), is_main) - lines_.begin();
    require(main_ < static_cast<std::ptrdiff_t>(lines_.size()), "{} has no line that begins with \"{}\".", path,
            main_begins);
  }

  std::string head() const { return join_lines({lines_.begin(), lines_.begin() + main_}); }

  std::string variant(const Variant& variant, const Submission& submission) const {
    // How much further down a kit's line lies in the learner's file.
    int offset =
        submission.blanks.empty() ? 0 : submission.blanks.begin()->second.first_line - blanks_.front().first_line;
    std::ptrdiff_t next = main_;
    std::string source;
    const auto name_lines = [&](int line) {
      source += fmt::format("#line {} \"{}\"\n", std::max(line, 1), variant.name);
    };
    name_lines(static_cast<int>(next) + 1 + offset);
    for (const Blank& kits : blanks_) {
      source += with_full_names({lines_.begin() + next, lines_.begin() + kits.first_line});
      const auto learners = submission.blanks.find(kits.number);
      if (variant.learners.contains(kits.number)) {
        name_lines(learners->second.text_line);
        // The braces end what a blank leaves open: an `if`, so that it isn't about the kit's next statement.
        source += join_lines(tokens_of(learners->second.text).code) + "{}\n";
      } else {
        source += fmt::format("#line 1 \"{}.kit\"\n", variant.name);
        source += with_full_names(kits.text);
      }
      if (learners != submission.blanks.end()) offset = learners->second.last_line - kits.last_line;
      next = kits.last_line - 1;
      name_lines(static_cast<int>(next) + 1 + offset);
      if (kits.number == blanks_.back().number) source += std::string(blanks_passed) + ';';
    }
    source += with_full_names({lines_.begin() + next, lines_.end()});
    return source.replace(source.find(main_begins), main_begins.size(),
                          fmt::format("int odori_{}(int argc, char** argv)", variant.name));
  }

 private:
  std::vector<std::string> lines_;
  std::vector<Blank> blanks_;
  std::ptrdiff_t main_ = 0;
};

}  // namespace

std::string source_of(const std::string& solution, const Submission& submission, const std::vector<Variant>& variants,
                      bool walled) {
  const Body body(solution, submission.path.string());
  // What is trained before a program has left its blanks behind, the blanks trained and not the program. A blank may
  // not hold the macro's name: it has two underscores.
  std::string source = body.head() + fmt::format(
                                         "namespace odori::evidence {{\nvoid pass_blanks();\n}}\n"
                                         "#define {} ::odori::evidence::pass_blanks()\n",
                                         blanks_passed);
  if (walled) source += name_walls_begin();
  for (const Variant& variant : variants) source += body.variant(variant, submission);
  if (walled) source += name_walls_end();
  source +=
      "#line 1 \"chooser\"\nint main(int argc, char** argv) {\n  const std::string variant = argc > 1 ? argv[1] : "
      "\"\";\n";
  for (const Variant& variant : variants)
    source += fmt::format("  if (variant == \"{0}\") return odori_{0}(argc - 1, argv + 1);\n", variant.name);
  return source + "  return 2;\n}\n";
}

}  // namespace odori::grader
