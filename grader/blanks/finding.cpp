// SPDX-License-Identifier: Apache-2.0
#include "blanks/finding.h"

#include <algorithm>
#include <string_view>

#include "blanks/utf8.h"

namespace odori::grader {
namespace {

bool ends_a_path(char c) {
  return static_cast<unsigned char>(c) <= ' ' || std::string_view("'\"`:,;()[]{}<>|").find(c) != std::string_view::npos;
}

/// "/tmp/odori_x/run.sh: no such file" -> "run.sh: no such file"
std::string without_folders(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char before = at == 0 ? ' ' : text[at - 1];
    std::size_t end = at;
    // Behind a letter or a `<` it isn't a path's first slash; behind a typographic quote it is.
    if (text[at] == '/' && before != '<' && (ends_a_path(before) || before == '=' || (before & 0x80) != 0))
      while (end < text.size() && !ends_a_path(text[end])) ++end;
    std::string_view path = text.substr(at, end - at);
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const auto last = path.rfind('/');
    if (path.empty() || last == 0 || last == std::string_view::npos || path.starts_with("//")) {
      end = std::max(end, at + 1);
      result += text.substr(at, end - at);
    } else {
      result += path.substr(last + 1);
    }
    at = end;
  }
  return result;
}

}  // namespace

std::string bounded(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(begin_of_character(text, most));
  return text + " […]";
}

Finding bounded(Finding finding) {
  constexpr std::size_t most = 4000;
  for (auto& [name, value] : finding.values) value = bounded(std::move(value), most);
  return finding;
}

Finding fit_to_keep(Finding finding) {
  for (auto& [name, value] : finding.values) value = without_folders(value);
  return bounded(std::move(finding));
}

}  // namespace odori::grader
