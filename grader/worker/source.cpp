#include "worker/source.h"

#include <algorithm>
#include <set>

#include "errors/error.h"
#include "exercise/lexer.h"
#include "exercise/library_names.h"
#include "worker/refused_names.h"

namespace odori::grader {
namespace {

// A blank may not hold these names: they have two underscores.
constexpr std::string_view main_begins = "int main(int argc, char** argv)",
                           function_begins = "int odori__main(int argc, char** argv)",
                           blanks_passed = "odori__blanks_passed";

/// The kit's text, with the library's names in full: an answer that declares one of them anew, inside of something of
/// its own, has it for itself. `own`: what the kit's program has itself.
std::string with_full_names(const std::vector<std::string>& lines, const std::set<std::string>& own) {
  static const std::set<std::string> outside{"std", "fmt"};
  std::string text = join_lines(lines);
  const std::vector<LibraryName> names = names_of_library(lines, own);
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    text.insert(name->at, outside.contains(name->name) ? "::" : "::odori::");
  return text;
}

/// The solution: its includes once, and what follows them for each variant.
class Body {
 public:
  Body(const std::string& solution, const std::string& path) : lines_(split_lines(solution)) {
    blanks_ = parse_blanks(lines_, path);
    const auto begins = [](std::string_view words) {
      return [words](const std::string& line) { return line.starts_with(words); };
    };
    const auto main = std::find_if(lines_.begin(), lines_.end(), begins(main_begins));
    require(main != lines_.end(), "{} has no line that begins with \"{}\".", path, main_begins);
    const int main_line = static_cast<int>(main - lines_.begin()) + 1;
    main->replace(0, main_begins.size(), function_begins);
    is_in_main_ = blanks_.empty() || blanks_.back().first_line > main_line;
    if (!is_in_main_) {
      require(main->ends_with('{'), "{}:{} should end with its {{, since all blanks are above it.", path, main_line);
      main->append(" ").append(blanks_passed) += ';';
    }
    for (auto line = lines_.begin(); line != main && (blanks_.empty() || line < lines_.begin() + blanks_[0].first_line);
         ++line)
      if (line->starts_with("#include") || line->starts_with("using namespace")) body_ = line - lines_.begin() + 1;
    own_ = own_names({lines_.begin() + body_, lines_.end()});
  }

  std::string head() const { return join_lines({lines_.begin(), lines_.begin() + body_}); }

  std::string variant(const Variant& variant, const Submission& submission) const {
    // How much further down a kit's line lies in the learner's file.
    int offset =
        submission.blanks.empty() ? 0 : submission.blanks.begin()->second.first_line - blanks_.front().first_line;
    std::ptrdiff_t next = body_;
    std::string source = fmt::format("namespace odori_{} {{\n", variant.name);
    const auto name_lines = [&](int line) {
      source += fmt::format("#line {} \"{}\"\n", std::max(line, 1), variant.name);
    };
    name_lines(static_cast<int>(next) + 1 + offset);
    for (const Blank& kits : blanks_) {
      source += with_full_names({lines_.begin() + next, lines_.begin() + kits.first_line}, own_);
      const auto learners = submission.blanks.find(kits.number);
      if (variant.learners.contains(kits.number)) {
        name_lines(learners->second.text_line);
        // The braces end what a blank leaves open: an `if`, so that it isn't about the kit's next statement.
        source += join_lines(tokens_of(learners->second.text).code) + "{}\n";
      } else {
        source += fmt::format("#line 1 \"{}.kit\"\n", variant.name);
        source += with_full_names(kits.text, own_);
      }
      if (learners != submission.blanks.end()) offset = learners->second.last_line - kits.last_line;
      next = kits.last_line - 1;
      name_lines(static_cast<int>(next) + 1 + offset);
      if (kits.number == blanks_.back().number && is_in_main_) source += std::string(blanks_passed) + ';';
    }
    source += with_full_names({lines_.begin() + next, lines_.end()}, own_);
    return source + "}\n";
  }

 private:
  std::vector<std::string> lines_;
  std::vector<Blank> blanks_;
  std::ptrdiff_t body_ = 0;    // what follows the includes
  bool is_in_main_ = true;     // the last blank
  std::set<std::string> own_;  // names that it declares, or may have from a base
};

}  // namespace

std::string source_of(const std::string& solution, const Submission& submission, const std::vector<Variant>& variants) {
  const Body body(solution, submission.path.string());
  // What is trained before a program has left its blanks behind, the blanks trained and not the program.
  std::string source = body.head() + fmt::format(
                                         "namespace odori::observe {{\nvoid on_blanks_passed();\n}}\n"
                                         "#define {} ::odori::observe::on_blanks_passed()\n",
                                         blanks_passed);
  source += refused_names_begin();
  for (const Variant& variant : variants) source += body.variant(variant, submission);
  source += refused_names_end();
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  return source + main_choosing(names);
}

std::string main_choosing(const std::vector<std::string>& variants) {
  std::string source =
      "#line 1 \"chooser\"\nint main(int argc, char** argv) {\n  const std::string variant = argc > 1 ? argv[1] : "
      "\"\";\n";
  for (const std::string& name : variants)
    source += fmt::format("  if (variant == \"{0}\") return odori_{0}::odori__main(argc - 1, argv + 1);\n", name);
  return source + "  return 2;\n}\n";
}

}  // namespace odori::grader
