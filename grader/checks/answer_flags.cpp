// SPDX-License-Identifier: Apache-2.0
#include "checks/answer_flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>

#include "blanks/lexer.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_words = 5;              // more wouldn't say more
constexpr std::size_t most_bytes_of_command = 80;  // bytes

/// The word or sign that `forbidden` names. A directive begins with its own.
std::string word_in(const Finding& forbidden) {
  for (const char* name : {"word", "sign", "code"})
    if (const auto value = forbidden.values.find(name); value != forbidden.values.end()) return value->second;
  return "#";
}

bool is_command(const std::string& line, Language language) {
  if (language == Language::shell) return !trim(line).empty() && !trim(line).starts_with('#');
  return std::ranges::any_of(identifiers_in({line}),
                             [](const std::string& word) { return listed_names().contains(word); });
}

}  // namespace

std::vector<Finding> flags_for(const std::map<int, BlankIdentifiers>& identifiers,
                               const std::vector<BlankVerdict>& verdicts) {
  std::vector<Finding> flags;
  const auto n_hidden = std::count_if(verdicts.begin(), verdicts.end(), [](const BlankVerdict& verdict) {
    return verdict.finding && hides_answers(*verdict.finding);
  });
  if (n_hidden > 0) flags.push_back({"flag_hidden", {{"n", std::to_string(n_hidden)}}});
  for (const auto& [blank, found] : identifiers) {
    // A name that the compiler does not know either is a slip of the pen.
    const bool is_built = std::ranges::any_of(verdicts, [blank = blank](const BlankVerdict& verdict) {
      return verdict.blank == blank && verdict.verdict != Verdict::compile && verdict.verdict != Verdict::not_checked;
    });
    if (found.forbidden && !is_slip(*found.forbidden)) {
      flags.push_back({"flag_forbidden", {{"blank", std::to_string(blank)}, {"word", word_in(*found.forbidden)}}});
    } else if (!found.unusual.empty() && is_built) {
      const std::span shown(found.unusual.data(), std::min(most_words, found.unusual.size()));
      flags.push_back({"flag_unusual",
                       {{"blank", std::to_string(blank)}, {"words", fmt::format("`{}`", fmt::join(shown, "`, `"))}}});
    }
  }
  return flags;
}

std::optional<Finding> flag_for(const std::vector<Change>& changes, Language language) {
  std::vector<const Change*> commands;
  for (const Change& change : changes)
    if (!change.removed && is_command(change.text, language)) commands.push_back(&change);
  if (commands.empty()) return {};
  const Change& first = *commands.front();
  return Finding{"flag_outside",
                 {{"line", std::to_string(first.line)},
                  {"code", bounded(std::string(trim(first.text)), most_bytes_of_command)},
                  {"n", std::to_string(commands.size())}}};
}

}  // namespace odori::grader
