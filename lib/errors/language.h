// SPDX-License-Identifier: Apache-2.0
// The language of a program's messages: --lang of any program or of ./odori, else the environment's.
#pragma once

#include <string>

namespace odori {

/// A text in both languages.
struct Text {
  std::string english, japanese;
  const std::string& in(const std::string& language) const { return language == "ja" ? japanese : english; }
};

/// Returns "en" or "ja": asked_language(), or that of the environment.
std::string language();

/// Returns the text in language().
std::string in_language(const Text& text);

/// Returns what --lang asked for, of this program or of the one that started it (ODORI_LANG): "en", "ja", or empty.
std::string asked_language();

/// Sets asked_language(). Programs that this one starts get it as ODORI_LANG (program/process.h).
void ask_language(const std::string& asked);

/// Returns "en" or "ja", by the first of LC_ALL, LC_MESSAGES and LANG that is set.
std::string language_of_environment();

}  // namespace odori
