// SPDX-License-Identifier: Apache-2.0
#include "errors/nearest.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace odori {
namespace {

std::string plain(std::string_view word) {
  std::string text;
  for (const char c : word)
    if (c != '-' && c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_part(const std::string& part, const std::string& whole) {
  return (part.size() >= 2 && whole.starts_with(part)) || (part.size() >= 3 && whole.find(part) != std::string::npos);
}

/// Letters apart; nothing if these are too many for a slip. Of a short word the first letter has to be right.
std::optional<std::size_t> distance(const std::string& a, const std::string& b) {
  if (a == b) return 0;
  if (is_part(a, b) || is_part(b, a)) return 1;
  const std::size_t longer = std::max(a.size(), b.size()), apart = slips(a, b);
  if (apart > std::max<std::size_t>(1, (longer + 1) / 3) || (longer <= 3 && a[0] != b[0])) return {};
  return apart;
}

}  // namespace

std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest_word = 64, most = 3;
  const std::string mine = plain(word);
  if (mine.empty() || mine.size() > longest_word) return {};
  std::vector<std::string> found;
  std::size_t least = std::string::npos;
  for (const std::string& other : known) {
    const auto apart = distance(mine, plain(other));
    if (!apart || *apart > least) continue;
    if (*apart < least) found.clear();
    least = *apart;
    found.push_back(other);
  }
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace odori
