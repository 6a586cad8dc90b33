// SPDX-License-Identifier: Apache-2.0
#include "runner/programs.h"

#include <algorithm>

#include "blanks/cutter.h"
#include "blanks/lexer.h"
#include "errors/error.h"
#include "runner/compiler_messages.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view main_begins = "int main(int argc, char** argv)",
                           declaration = "namespace odori::observe {\nvoid on_blanks_passed();\n}\n",
                           blanks_passed = "::odori::observe::on_blanks_passed();";

/// "n = 1 if c else 2;", and not "f() if (c) a; else b;", whose first statement lacks its semicolon.
bool is_pythons_choice(std::string_view code) {
  const auto begin = code.find(" if "), end = code.find(" else ", std::min(begin, code.size()));
  return end != std::string_view::npos && trim(code).substr(0, 3) != "if " &&
         code.substr(begin, end - begin).find(';') == std::string_view::npos;
}

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

Finding finding_of(const CompileError& error, const Blank& place, const std::vector<std::string>& lines,
                   const std::string& kept) {
  Finding finding = plain_words_for(error.message, error.notes).value_or(Finding{"compile_error"});
  finding.values["blank"] = std::to_string(place.number);
  finding.values["message"] = error.message;
  const std::string unknown = unknown_name(error.message);
  if (!unknown.empty() && unknown == kept.substr(kept.find_last_of(" &*>") + 1))
    return Finding{"variable_missing", {{"variable", unknown}}};
  int line = place.text_line + error.line - 1, column = error.column;
  const auto bracket = unclosed_bracket(place.text);
  if (bracket) {
    // The compiler notices somewhere after it that something is wrong, or takes it for something else.
    finding.key = "compile_bracket_open";
    finding.values["bracket"] = bracket->text;
    line = place.text_line + bracket->line - 1;
    column = static_cast<int>(bracket->at - join_lines(place.text).rfind('\n', bracket->at));
  } else if (error.blank != place.number || line >= place.last_line) {
    // The error is at the bracket after the answer, and names no line.
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

Programs::Programs(const Compiler& compiler, std::string solution, const Submission& submission, std::set<int> filled)
    : compiler_(compiler), solution_(std::move(solution)), submission_(submission), filled_(std::move(filled)) {}

Programs::~Programs() { cancelled_ = true; }

void Programs::prepare(const std::vector<std::set<int>>& sets) {
  for (const std::set<int>& blanks : sets) {
    if (builds_.contains(blanks)) continue;
    const auto begun = std::make_shared<std::atomic<bool>>(false);
    builds_[blanks] = {
        begun, turns_.start([=, this] { return begun->exchange(true) || cancelled_ ? Built{} : build(blanks, true); })};
  }
}

void Programs::drop_prepared() {
  std::erase_if(builds_, [this](auto& entry) {
    auto& [begun, built] = entry.second;
    if (begun->exchange(true)) return false;
    dropped_.push_back(std::move(built));
    return true;
  });
}

const Built& Programs::of(const std::set<int>& blanks) {
  auto build_of = builds_.find(blanks);
  if (build_of == builds_.end()) {
    std::promise<Built> built;
    built.set_value(build(blanks, false));
    build_of =
        builds_.emplace(blanks, Build{std::make_shared<std::atomic<bool>>(true), built.get_future().share()}).first;
  }
  return build_of->second.built.get();
}

fs::path Programs::with_pointer_checks(const std::set<int>& blanks) const {
  return compiler_.build(source(blanks), {.pointer_checks = true}).program;
}

std::string Programs::source(const std::set<int>& blanks) const {
  std::map<int, Blank> learners;
  for (const int blank : blanks) learners[blank] = submission_.blanks.at(blank);
  return source_of(solution_, learners);
}

Built Programs::build(const std::set<int>& blanks, bool low_priority) const {
  Built built = compiler_.build(source(blanks), {.low_priority = low_priority, .cancelled = &cancelled_});
  if (cancelled_) return {};
  // It may have waited for its turn too long.
  if (built.gave_up && low_priority) return build(blanks, false);
  if (built.gave_up) {
    const Built kits = compiler_.build(source_of(solution_, {}), {.rebuild = true});
    if (kits.program.empty())
      throw EnvironmentFault(kits.gave_up.value_or(Finding{"compiler_failed", {{"detail", ""}}}));
    if (built.gave_up->key == "no_memory" || built.gave_up->key.starts_with("over_"))
      built.gave_up->key = "compiler_took_too_much";
  }
  return built;
}

const BlankBuild& Programs::alone(int blank) {
  const auto known = alone_.find(blank);
  return known != alone_.end() ? known->second : alone_[blank] = build_alone(blank);
}

BlankBuild Programs::build_alone(int blank) {
  const auto unknown_in = [](const Built& built) {
    return built.program.empty() && !built.errors.empty() ? unknown_name(built.errors[0].message) : std::string();
  };
  // A program with a planted fault is a function of its own: nothing else can use its names.
  const auto is_program = [this](int other) { return !submission_.blanks.at(other).given.empty(); };
  std::set<int> blanks{blank};
  for (;;) {
    const Built& built = of(blanks);
    if (!built.program.empty()) return {blanks, {}, 0};
    const std::string name = unknown_in(built);
    int declares = 0;
    for (const int other : filled_) {  // one above this blank may declare the name
      if (name.empty() || other >= blank || blanks.contains(other) || is_program(other)) continue;
      if (!identifiers_in(submission_.blanks.at(other).text).contains(name)) continue;
      const BlankBuild& its = alone(other);
      if (its.needs != 0 || (its.failure && unknown_[other] == name)) continue;
      if (its.failure) return {blanks, {}, other};
      std::set<int> both = blanks;
      both.insert(its.blanks.begin(), its.blanks.end());
      if (unknown_in(of(both)) == name) continue;
      blanks = std::move(both);
      declares = other;
      break;
    }
    if (declares != 0) continue;
    unknown_[blank] = name;
    return {blanks, finding_of(blank, built), 0};
  }
}

std::set<int> Programs::together() {
  std::set<int> blanks;
  for (const int blank : filled_)
    if (alone(blank).compiles()) blanks.insert(blank);
  while (blanks.size() > 1) {
    const Built& built = of(blanks);
    if (!built.program.empty()) return blanks;
    const auto error =
        std::ranges::find_if(built.errors, [&](const auto& each) { return blanks.contains(each.blank); });
    if (error == built.errors.end()) return {};
    const int failed = error->blank;
    alone_[failed].failure = finding_of(failed, Built{.program = {}, .errors = {*error}, .gave_up = {}});
    for (const int blank : blanks)
      if (blank != failed && alone_[blank].blanks.contains(failed)) alone_[blank].needs = failed;
    std::erase_if(blanks, [this](int blank) { return !alone_[blank].compiles(); });
  }
  return {};
}

Finding Programs::finding_of(int blank, const Built& built) const {
  if (built.errors.empty()) return *built.gave_up;
  const std::vector<std::string> lines = split_lines(solution_);
  std::string kept;  // what the exercise has of this blank's answer: "const int device"
  for (const Blank& kits : parse_blanks(lines, "The solution"))
    if (kits.number == blank) kept = kept_of(lines, kits, "The solution");
  const auto error = std::ranges::find_if(built.errors, &CompileError::in_program);
  return grader::finding_of(error == built.errors.end() ? built.errors[0] : *error, submission_.blanks.at(blank),
                            submission_.lines, kept);
}

}  // namespace odori::grader
