// SPDX-License-Identifier: Apache-2.0
// The language of a program's messages.
#pragma once

#include <string>

namespace odori {

/// A text in both languages.
struct Text {
  std::string english, japanese;
  const std::string& in(const std::string& language) const { return language == "ja" ? japanese : english; }
};

/// Returns the text in the language of the environment.
std::string in_language(const Text& text);

/// Returns "en" or "ja": `asked` unless it is empty, else by the first of LC_ALL, LC_MESSAGES and LANG that is set.
std::string language_or_default(const std::string& asked);

}  // namespace odori
