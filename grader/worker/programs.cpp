#include "worker/programs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <future>

#include "exercise/cutter.h"
#include "exercise/declarations.h"
#include "exercise/lexer.h"
#include "worker/compiler_messages.h"
#include "worker/source.h"

namespace odori::grader {
namespace {

std::string name_of(int blank) { return fmt::format("blank_{}", blank); }

class Builder {
 public:
  Builder(const Compiler& compiler, const std::string& solution, const Submission& submission, std::set<int> filled)
      : compiler_(compiler), solution_(solution), submission_(submission), alive_(std::move(filled)) {
    for (const int blank : alive_) {
      together_[blank] = {blank};
      if (!is_self_contained(submission_.blanks.at(blank).text)) apart_.insert(blank);
    }
  }

  BuiltPrograms build() {
    std::vector<std::pair<int, std::future<Built>>> alone;
    for (const int blank : apart_)
      alone.emplace_back(blank, std::async(std::launch::async, [this, blank] {
                           return build_variants({{name_of(blank), {blank}}});
                         }));
    build_together();
    for (auto& [blank, built] : alone) take_alone(blank, built.get());
    if (!apart_.empty() && alive_.size() > 1 && programs_.failures.empty()) {
      const Built built = build_variants({{"whole", alive_}});
      if (!built.program.empty()) programs_.whole = BuiltProgram{built.program, "whole"};
    }
    programs_.holds = together_;
    return std::move(programs_);
  }

 private:
  Built build_variants(const std::vector<Variant>& variants) const {
    Built built = compiler_.build(source_of(solution_, submission_, variants));
    if (built.gave_up) {
      const Built kits = compiler_.build_anew(source_of(solution_, submission_, {{"whole", {}}}));
      if (kits.program.empty())
        throw EnvironmentFault(kits.gave_up.value_or(Finding{"compiler_failed", {{"detail", ""}}}));
      if (built.gave_up->key == "no_memory" || built.gave_up->key.starts_with("over_"))
        built.gave_up->key = "compiler_took_too_much";
    }
    return built;
  }

  /// One file for all, as often as it takes until it compiles. The whole comes last: of a template that several
  /// functions ask for in vain, the compiler speaks at the first one alone.
  void build_together() {
    for (;;) {
      std::vector<Variant> variants;
      for (const int blank : alive_)
        if (!apart_.contains(blank)) variants.push_back({name_of(blank), together_[blank]});
      if (variants.empty()) return;
      if (apart_.empty() && alive_.size() > 1) variants.push_back({"whole", alive_});
      const Built built = build_variants(variants);
      if (!built.program.empty()) {
        for (const Variant& variant : variants) take(variant, built.program);
        return;
      }
      if (!learn_from(built.errors)) return build_each_alone();
    }
  }

  void take(const Variant& variant, const std::filesystem::path& program) {
    if (variant.name == "whole") programs_.whole = BuiltProgram{program, "whole"};
    for (const int blank : alive_)
      if (variant.name == name_of(blank)) programs_.of_blank[blank] = {program, variant.name};
  }

  /// Takes blanks out, or puts some together, by the first error of each. False if the errors tell of none.
  bool learn_from(const std::vector<CompileError>& errors) {
    std::map<int, CompileError> first;
    for (const CompileError& error : errors)
      for (const int blank : alive_)
        if (error.variant == name_of(blank)) first.try_emplace(blank, error);
    if (first.empty() && !errors.empty() && errors[0].variant == "whole")
      if (const int blank = blank_at(errors[0].line)) first[blank] = errors[0];
    bool learnt = false;
    std::set<int> failed;
    for (const auto& [blank, error] : first) {
      const int other = declared_above(unknown_name(error.message), blank);
      if (other != 0 && together_[blank].insert(other).second) {
        learnt = true;
      } else {
        programs_.failures[blank] = finding_of(blank, error);
        failed.insert(blank);
      }
    }
    for (const int blank : failed) alive_.erase(blank);
    drop_dependents();
    return learnt || !failed.empty();
  }

  /// Blanks that need the text of one that doesn't compile can't be judged.
  void drop_dependents() {
    for (const auto& [blank, finding] : programs_.failures)
      for (auto other = alive_.begin(); other != alive_.end();) {
        const bool needs = *other != blank && together_[*other].contains(blank);
        if (needs) programs_.needs_failed[*other] = blank;
        other = needs ? alive_.erase(other) : std::next(other);
      }
  }

  void build_each_alone() {
    for (const int blank : std::set<int>(alive_))
      if (!apart_.contains(blank)) take_alone(blank, build_variants({{name_of(blank), together_[blank]}}));
  }

  void take_alone(int blank, const Built& built) {
    if (!built.program.empty()) {
      programs_.of_blank[blank] = {built.program, name_of(blank)};
      return;
    }
    programs_.failures[blank] = built.errors.empty() ? *built.gave_up : finding_of(blank, built.errors[0]);
    alive_.erase(blank);
    drop_dependents();
  }

  /// The filled blank whose text the learner has in this line; 0 if none.
  int blank_at(int line) const {
    for (const int blank : alive_) {
      const Blank& place = submission_.blanks.at(blank);
      if (place.text_line <= line && line <= place.last_line) return blank;
    }
    return 0;
  }

  /// The filled blank above this one that declares the name; 0 if none.
  int declared_above(const std::string& name, int blank) const {
    for (const int above : alive_) {
      if (name.empty() || above >= blank) break;
      if (declared_in(submission_.blanks.at(above).text, Doubtful::all).contains(name)) return above;
    }
    return 0;
  }

  /// What the exercise has of this blank's answer: "const int device".
  std::string kept_in(int blank) const {
    const std::vector<std::string> lines = split_lines(solution_);
    for (const Blank& kits : parse_blanks(lines, "solution"))
      if (kits.number == blank) return kept_of(lines, kits, "The solution");
    return {};
  }

  Finding finding_of(int blank, const CompileError& error) const {
    return grader::finding_of(error, submission_.blanks.at(blank), submission_.lines, kept_in(blank));
  }

  const Compiler& compiler_;
  const std::string& solution_;
  const Submission& submission_;
  std::set<int> alive_, apart_;
  std::map<int, std::set<int>> together_;  // a blank, and those whose names it uses
  BuiltPrograms programs_;
};

/// "n = 1 if c else 2;", and not "f() if (c) a; else b;", whose first statement lacks its semicolon.
bool is_pythons_choice(std::string_view code) {
  const auto begin = code.find(" if "), end = code.find(" else ", std::min(begin, code.size()));
  return end != std::string_view::npos && trim(code).substr(0, 3) != "if " &&
         code.substr(begin, end - begin).find(';') == std::string_view::npos;
}

}  // namespace

Finding finding_of(const CompileError& error, const Blank& place, const std::vector<std::string>& lines,
                   const std::string& kept) {
  Finding finding = plain_words_for(error.message, error.notes).value_or(Finding{"compile_error"});
  finding.values["blank"] = std::to_string(place.number);
  finding.values["message"] = error.message;
  const std::string unknown = unknown_name(error.message);
  if (!unknown.empty() && unknown == kept.substr(kept.find_last_of(" &*>") + 1))
    return Finding{"variable_missing", {{"variable", unknown}}};
  int line = error.line, column = error.column;
  const auto bracket = unclosed_bracket(place.text);
  if (bracket) {
    // The compiler notices somewhere behind it that something is amiss, or takes it for something else.
    finding.key = "compile_bracket_open";
    finding.values["bracket"] = bracket->text;
    line = place.text_line + bracket->line - 1;
    column = static_cast<int>(bracket->at - join_lines(place.text).rfind('\n', bracket->at));
  } else if (error.in_kit || line < place.text_line || line >= place.last_line) {
    // It is said of the bracket behind the answer; and of no line.
    if (finding.key == "compile_no_return" || finding.key == "compile_nowhere_defined") return finding;
    if (finding.key == "compile_declared_twice") {
      finding.key = "compile_declared_below";
      return finding;
    }
    const bool declares = kept.find(' ') != std::string::npos;
    finding.key = declares ? "compile_error_elsewhere" : "compile_error_around";
    if (declares) finding.values["declaration"] = kept;
    if (!error.message.starts_with("expected")) return finding;
    // Something is missing at the answer's end, and the compiler only notices further down.
    finding.key = "compile_error_at_end";
    line = place.last_line - 1;
    while (line > place.text_line && trim(lines[line - 1]).empty()) --line;
    column = static_cast<int>(lines[line - 1].find_last_not_of(" \t")) + 2;
  }
  std::string code = lines[line - 1];
  if (finding.key == "compile_semicolon_missing" && is_pythons_choice(code)) {
    finding.key = "compile_python";
    finding.values.insert({{"name", "a if c else b"}, {"cpp", "c ? a : b"}});
  }
  std::replace(code.begin(), code.end(), '\t', ' ');
  const bool in_line = column > 0 && static_cast<std::size_t>(column) <= code.size() + 1;
  finding.values["line"] = std::to_string(line);
  finding.values["code"] = code;
  finding.values["caret"] = in_line ? std::string(static_cast<std::size_t>(column) - 1, ' ') + '^' : "";
  return finding;
}

BuiltPrograms build_programs(const Compiler& compiler, const std::string& solution, const Submission& submission,
                             const std::set<int>& filled) {
  return Builder(compiler, solution, submission, filled).build();
}

std::vector<BuiltProgram> build_sets(const Compiler& compiler, const std::string& solution,
                                     const Submission& submission, const std::vector<std::set<int>>& sets) {
  std::vector<Variant> variants;
  for (const auto& set : sets) variants.push_back({fmt::format("blanks_{}", fmt::join(set, "_")), set});
  const Built built = compiler.build(source_of(solution, submission, variants));
  std::vector<BuiltProgram> programs;
  if (!built.program.empty())
    for (const Variant& variant : variants) programs.push_back({built.program, variant.name});
  return programs;
}

}  // namespace odori::grader
