// SPDX-License-Identifier: Apache-2.0
// The language of a program's messages.
#pragma once

#include <string>

namespace odori {

/// The same in both languages.
struct Text {
  std::string english, japanese;
  const std::string& in(const std::string& language) const { return language == "ja" ? japanese : english; }
};

/// In the language of the environment.
std::string in_language(const Text& text);

/// "en" or "ja": `asked` if it isn't empty, else by LC_ALL, LC_MESSAGES or LANG, the first that is set.
std::string language_or_default(const std::string& asked);

}  // namespace odori
