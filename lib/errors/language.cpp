// SPDX-License-Identifier: Apache-2.0
#include "errors/language.h"

#include <cstdlib>
#include <string_view>

namespace odori {

std::string in_language(const Text& text) { return text.in(language_or_default("")); }

std::string language_or_default(const std::string& asked) {
  if (!asked.empty()) return asked;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* value = std::getenv(name); value && *value)
      return std::string_view(value).starts_with("ja") ? "ja" : "en";
  return "en";
}

}  // namespace odori
