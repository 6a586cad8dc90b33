// SPDX-License-Identifier: Apache-2.0
#include "authoring/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <regex>

#include "blanks/lexer.h"
#include "blanks/planted_fault.h"

namespace odori::grader {
namespace {

/// A token, or an operator of several signs.
struct Symbol {
  Token token;
  std::size_t end = 0;  // in the joined lines
  bool spaced = false;  // on both sides

  bool operator==(const char* text) const { return token == text; }
  bool is_one_of(const char* words) const { return token.is_one_of(words); }
};
/// Symbols [begin, end).
struct Part {
  std::size_t begin = 0, end = 0;
};

constexpr const char* operators = " == != <= >= && || += -= *= /= %= ++ -- -> ";
constexpr const char* keywords = " if for while switch return catch sizeof throw new delete else do case ";

bool is_space(char c) { return c == ' ' || c == '\n'; }

std::vector<Symbol> symbols_of(const std::vector<std::string>& lines, const std::string& text) {
  std::vector<Symbol> symbols;
  for (const Token& token : tokens_of(lines).all) {
    const std::size_t end = token.at + token.text.size();
    Token joined = symbols.empty() ? token : symbols.back().token;
    if (!symbols.empty()) joined.text += token.text;
    if (!symbols.empty() && symbols.back().end == token.at && joined.is_one_of(operators))
      symbols.back() = {joined, end};
    else
      symbols.push_back({token, end});
  }
  for (Symbol& symbol : symbols)
    symbol.spaced = symbol.token.at > 0 && is_space(text[symbol.token.at - 1]) && is_space(text[symbol.end]);
  return symbols;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& answer, const std::vector<std::set<std::string>>& siblings)
      : answer_(answer), text_(join_lines(answer)), symbols_(symbols_of(answer, text_)), siblings_(siblings) {
    for (const std::set<std::string>& general :
         {std::set<std::string>{"true", "false"}, {"min", "max"}, {"begin", "end"}, {"front", "back"}})
      siblings_.push_back(general);
  }

  std::vector<Mutant> of_cpp() && {
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      swap_operator(i);
      change_constant(i);
      swap_sibling(i);
      if (symbols_[i].is_one_of(" ( { ")) change_arguments(i);
    }
    change_statements({0, symbols_.size()});
    return in_order();
  }

  std::vector<Mutant> of_script() && {
    for (std::size_t i = 0; i < symbols_.size(); ++i) change_constant(i);
    return in_order();
  }

 private:
  struct Placed {
    std::size_t at;
    Mutant mutant;
  };

  std::vector<Mutant> in_order() {
    std::ranges::stable_sort(placed_, {}, &Placed::at);
    std::vector<Mutant> mutants;
    std::set<std::vector<std::string>> seen{answer_};
    for (Placed& placed : placed_)
      if (seen.insert(placed.mutant.text).second) mutants.push_back(std::move(placed.mutant));
    return mutants;
  }

  std::size_t begin_of(const Part& part) const { return symbols_[part.begin].token.at; }
  std::size_t end_of(const Part& part) const { return symbols_[part.end - 1].end; }
  std::string text_of(const Part& part) const {
    return part.begin == part.end ? "" : text_.substr(begin_of(part), end_of(part) - begin_of(part));
  }

  /// Adds the mutant that has `with` in place of the characters [begin, end).
  void add(MutantKind kind, std::size_t begin, std::size_t end, const std::string& with, const std::string& what) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    std::string text = text_;
    text.replace(begin, end - begin, with);
    std::string description = fmt::format("line {}: {}", line, what);
    std::ranges::replace(description, '\n', ' ');
    placed_.push_back({begin, {kind, split_lines(text), std::move(description)}});
  }
  void replace(MutantKind kind, std::size_t i, const std::string& with) {
    const Symbol& symbol = symbols_[i];
    add(kind, symbol.token.at, symbol.end, with, fmt::format("`{}` becomes `{}`", symbol.token.text, with));
  }

  /// Is the symbol before this one the end of an operand?
  bool follows_operand(std::size_t i) const {
    if (i == 0) return false;
    const Symbol& before = symbols_[i - 1];
    return (before.token.kind != Token::Kind::sign && !before.is_one_of(keywords)) || before.is_one_of(" ) ] } ");
  }

  void swap_operator(std::size_t i) {
    static const std::map<std::string, std::vector<const char*>> others{
        {"+", {"-"}},        {"-", {"+"}},        {"*", {"/"}},        {"/", {"*"}},        {"%", {"/"}},
        {"<", {"<=", ">"}},  {">", {">=", "<"}},  {"<=", {"<", ">"}},  {">=", {">", "<"}},  {"==", {"!="}},
        {"!=", {"=="}},      {"&&", {"||"}},      {"||", {"&&"}},      {"+=", {"-=", "="}}, {"-=", {"+=", "="}},
        {"*=", {"/=", "="}}, {"/=", {"*=", "="}}, {"%=", {"/=", "="}},
    };
    const Symbol& symbol = symbols_[i];
    const bool is_prefix = symbol.is_one_of(" ! - ") && !symbol.spaced && !follows_operand(i);
    if (is_prefix && i + 1 < symbols_.size())
      return add(MutantKind::swapped_operator, symbol.token.at, symbol.end, "",
                 fmt::format("`{0}{1}` becomes `{1}`", symbol.token.text, symbols_[i + 1].token.text));
    const auto found = symbol.spaced ? others.find(symbol.token.text) : others.end();
    if (found == others.end()) return;
    for (const char* other : found->second) replace(MutantKind::swapped_operator, i, other);
  }

  void change_constant(std::size_t i) {
    static const std::regex number(R"((\d{1,9})((?:\.\d*)?[fFlLuUzZ]*))");
    std::smatch match;
    if (!std::regex_match(symbols_[i].token.text, match, number)) return;
    const int value = std::stoi(match[1]);
    const std::string rest = match[2];
    replace(MutantKind::changed_constant, i, std::to_string(value + 1) + rest);
    // 0.5 - 1 is not -0.5 by its digits
    if (value > 0 || rest.empty()) replace(MutantKind::changed_constant, i, std::to_string(value - 1) + rest);
  }

  void swap_sibling(std::size_t i) {
    const std::string& word = symbols_[i].token.text;
    if (symbols_[i].token.is_word())
      for (const std::set<std::string>& group : siblings_)
        if (group.contains(word))
          for (const std::string& other : group)
            if (other != word) replace(MutantKind::sibling, i, other);
  }

  /// The symbol that closes this bracket; the number of symbols if none does.
  std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < symbols_.size(); ++i) {
      depth += closing_bracket(symbols_[i].token) != 0;
      depth -= symbols_[i].is_one_of(" ) ] } ");
      if (depth == 0) return i;
    }
    return symbols_.size();
  }

  /// What commas separate in the brackets; nothing if there are statements in them.
  std::vector<Part> arguments_in(std::size_t open) const {
    std::vector<Part> parts{{open + 1, open + 1}};
    const std::size_t close = closing(open);
    int angles = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (symbols_[i] == ";") return {};
      angles += symbols_[i] == "<" && !symbols_[i].spaced;
      angles -= angles > 0 && symbols_[i] == ">" && !symbols_[i].spaced;
      if (symbols_[i] == "," && angles == 0) {
        parts.push_back({i + 1, i + 1});
        continue;
      }
      if (closing_bracket(symbols_[i].token) != 0) i = closing(i);
      parts.back().end = std::min(i + 1, close);
    }
    return parts;
  }

  void change_arguments(std::size_t open) {
    const bool is_call = open > 0 && ((symbols_[open - 1].token.is_word() && !symbols_[open - 1].is_one_of(keywords)) ||
                                      symbols_[open - 1] == ">");
    if (symbols_[open] == "(" && !is_call) return;
    const std::vector<Part> parts = arguments_in(open);
    if (symbols_[open] == "(" && parts.front().begin < parts.front().end) unwrap_call(open, parts.front());
    const auto is_designated = [this](const Part& part) { return symbols_[part.begin] == "."; };
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      if (part.begin == part.end) return;
      if (is_designated(part)) {
        const std::size_t begin = i > 0 ? end_of(parts[i - 1]) : begin_of(part);
        const std::size_t end = i == 0 && parts.size() > 1 ? begin_of(parts[1]) : end_of(part);
        add(MutantKind::deleted, begin, end, "", fmt::format("without `{}`", text_of(part)));
      } else if (i > 0 && !is_designated(parts[i - 1])) {
        swap(MutantKind::swapped_arguments, parts[i - 1], part);
      }
    }
  }

  /// `f(a, b)` becomes `a`, where its value is used. Without a cast or a move most code is the same.
  void unwrap_call(std::size_t open, const Part& argument) {
    std::size_t begin = open;
    if (symbols_[begin - 1] == ">")
      while (begin > 0 && !(symbols_[begin] == "<")) --begin;
    const auto belongs_to_callee = [&](const Symbol& before) {
      if (before.is_one_of(" :: . -> ")) return true;
      return before.token.is_word() && !before.is_one_of(keywords) && !symbols_[begin].token.is_word();
    };
    while (begin > 0 && belongs_to_callee(symbols_[begin - 1])) --begin;
    const std::size_t close = closing(open);
    const bool is_declared = begin > 0 && symbols_[begin].token.is_word() &&
                             (follows_operand(begin) || (symbols_[begin - 1] == ">" && !symbols_[begin - 1].spaced));
    const bool is_statement = (begin == 0 || symbols_[begin - 1].is_one_of(" ; { } ) else ")) &&
                              (close + 1 >= symbols_.size() || symbols_[close + 1] == ";");
    const std::string callee = text_of({begin, open});
    if (is_declared || is_statement || close == symbols_.size() || callee.find("_cast") != callee.npos ||
        callee == "std::move")
      return;
    const Part call{begin, close + 1};
    add(MutantKind::deleted, begin_of(call), end_of(call), text_of(argument),
        fmt::format("`{}` becomes `{}`", text_of(call), text_of(argument)));
  }

  void swap(MutantKind kind, const Part& first, const Part& second) {
    const std::string between = text_.substr(end_of(first), begin_of(second) - end_of(first));
    add(kind, begin_of(first), end_of(second), text_of(second) + between + text_of(first),
        fmt::format("`{}` and `{}` change places", text_of(first), text_of(second)));
  }

  /// Where the statement that begins here ends.
  std::size_t end_of_statement(std::size_t i, std::size_t end) const {
    const auto after_bracket = [&](std::size_t at) { return std::min(closing(at) + 1, end); };
    if (i >= end) return end;
    if (symbols_[i] == "{") return after_bracket(i);
    if (symbols_[i].is_one_of(" if for while switch ")) {
      while (i < end && !(symbols_[i] == "(")) ++i;
      if (i == end) return end;
      i = end_of_statement(after_bracket(i), end);
      return i < end && symbols_[i] == "else" ? end_of_statement(i + 1, end) : i;
    }
    for (; i < end; ++i) {
      if (symbols_[i] == ";") return i + 1;
      if (closing_bracket(symbols_[i].token) != 0) i = closing(i);
    }
    return end;
  }

  /// Does it begin with a type and a name? `std::vector<int> x`, `const Range next`
  bool is_declaration(const Part& statement) const {
    std::size_t i = statement.begin;
    if (symbols_[i].is_one_of(" const constexpr auto static using struct class ")) return true;
    if (!symbols_[i].token.is_word() || symbols_[i].is_one_of(keywords)) return false;
    for (int angles = 0; i + 1 < statement.end; ++i) {
      angles += symbols_[i] == "<" && !symbols_[i].spaced;
      const bool closes = symbols_[i] == ">" && !symbols_[i].spaced;
      angles -= closes;
      if (angles > 0) continue;
      if ((symbols_[i].token.is_word() || closes || symbols_[i].is_one_of(" * & ")) && symbols_[i + 1].token.is_word())
        return true;
      if (!symbols_[i].token.is_word() && !closes && !symbols_[i].is_one_of(" :: * & && ")) return false;
    }
    return false;
  }

  /// Removes and swaps the statements of this part, and those of the blocks in it.
  void change_statements(const Part& part) {
    std::vector<Part> statements;
    for (std::size_t i = part.begin; i < part.end; i = statements.back().end)
      statements.push_back({i, end_of_statement(i, part.end)});
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Part& statement = statements[i];
      const bool is_all = statement.begin == 0 && statement.end == symbols_.size();  // an empty blank is no answer
      if (!is_declaration(statement)) {
        if (!is_all)
          add(MutantKind::deleted, begin_of(statement), end_of(statement), "",
              fmt::format("without `{}`", text_of(statement)));
        if (i + 1 < statements.size()) swap(MutantKind::swapped_statements, statement, statements[i + 1]);
      }
      change_statements_within(statement);
    }
  }

  void change_statements_within(const Part& statement) {
    for (std::size_t i = statement.begin; i < statement.end; ++i) {
      if (!(symbols_[i] == "{")) continue;
      const std::size_t close = closing(i);
      if (close < statement.end && close > i + 1 && symbols_[close - 1].is_one_of(" ; } ")) {
        change_statements({i + 1, close});
        i = close;
      }
    }
  }

  const std::vector<std::string>& answer_;
  const std::string text_;
  const std::vector<Symbol> symbols_;
  std::vector<std::set<std::string>> siblings_;
  std::vector<Placed> placed_;
};

/// The lines from the first to the last that differ: [first, end) of a text, [first, end_of_other) of the other one.
struct DifferentLines {
  std::size_t first = 0, end = 0, end_of_other = 0;
};

DifferentLines different_lines(const std::vector<std::string>& text, const std::vector<std::string>& other) {
  const auto first = static_cast<std::size_t>(std::ranges::mismatch(text, other).in1 - text.begin());
  DifferentLines lines{first, text.size(), other.size()};
  while (lines.end > first && lines.end_of_other > first && text[lines.end - 1] == other[lines.end_of_other - 1])
    --lines.end, --lines.end_of_other;
  return lines;
}

}  // namespace

const char* name_of(MutantKind kind) {
  switch (kind) {
    case MutantKind::swapped_operator:
      return "operator";
    case MutantKind::changed_constant:
      return "constant";
    case MutantKind::swapped_arguments:
      return "arguments";
    case MutantKind::deleted:
      return "deletion";
    case MutantKind::swapped_statements:
      return "order";
    case MutantKind::sibling:
      return "sibling";
    case MutantKind::given:
      return "given";
  }
  return "";
}

std::vector<Mutant> mutants_of(const std::vector<std::string>& answer, Language language,
                               const std::vector<std::set<std::string>>& siblings) {
  Mutator mutator(answer, siblings);
  return language == Language::cpp ? std::move(mutator).of_cpp() : std::move(mutator).of_script();
}

std::vector<Mutant> mutants_of(const Blank& answer, Language language,
                               const std::vector<std::set<std::string>>& siblings) {
  std::vector<Mutant> mutants = mutants_of(answer.text, language, siblings);
  const auto fault = planted_fault_of(answer, "The solution");
  if (!fault) return mutants;
  std::erase_if(mutants, [&](const Mutant& mutant) {
    const DifferentLines lines = different_lines(answer.text, mutant.text);
    const auto end = fault->is_repair.begin() + static_cast<std::ptrdiff_t>(lines.end);
    return std::find(fault->is_repair.begin() + static_cast<std::ptrdiff_t>(lines.first), end, true) == end;
  });
  mutants.insert(mutants.begin(), {MutantKind::given, fault->given, "the program as it is given"});
  return mutants;
}

std::vector<Mutant> chosen(const std::vector<Mutant>& mutants, std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> places(mutants.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::shuffle(places.begin(), places.end(), std::mt19937_64(seed));
  std::map<MutantKind, int> n_of_kind;
  std::map<std::size_t, int> turn;
  for (const std::size_t place : places) turn[place] = n_of_kind[mutants[place].kind]++;
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return turn.at(place); });
  places.resize(std::min(n, places.size()));
  std::ranges::sort(places);
  std::vector<Mutant> some;
  for (const std::size_t place : places) some.push_back(mutants[place]);
  return some;
}

LineChange change_of(const std::vector<std::string>& answer, const Mutant& mutant) {
  const std::vector<std::string>& text = mutant.text;
  const DifferentLines lines = different_lines(answer, text);
  const auto trimmed = [](const std::vector<std::string>& all, std::size_t first, std::size_t end) {
    std::vector<std::string> some;
    for (; first != end; ++first)
      if (const auto line = trim(all[first]); !line.empty()) some.emplace_back(line);
    return some;
  };
  return {trimmed(answer, lines.first, lines.end), trimmed(text, lines.first, lines.end_of_other)};
}

}  // namespace odori::grader
