// SPDX-License-Identifier: Apache-2.0
// Lists in messages.
#pragma once

#include <fmt/ranges.h>

#include <ranges>
#include <string>

namespace odori::grader {

/// "a, b, c"; of more than `most`, the first and "...".
template <typename Names>
std::string listed(const Names& names, std::size_t most = 1000) {
  const std::string text = fmt::format("{}", fmt::join(names | std::views::take(most), ", "));
  return std::ranges::size(names) > most ? text + ", ..." : text;
}

}  // namespace odori::grader
