// SPDX-License-Identifier: Apache-2.0
#include "checks/answer_flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>

#include "blanks/submission.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_words = 5;  // more wouldn't say more

/// The word or sign that `forbidden` names. A directive begins with its own.
std::string word_in(const Finding& forbidden) {
  for (const char* name : {"word", "sign", "code"})
    if (const auto value = forbidden.values.find(name); value != forbidden.values.end()) return value->second;
  return "#";
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

}  // namespace odori::grader
