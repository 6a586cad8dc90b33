// SPDX-License-Identifier: Apache-2.0
#include "errors/language.h"

#include <cstdlib>
#include <string_view>

namespace odori {
namespace {

std::string& asked() {
  static std::string& asked = *new std::string([] {  // never destroyed: functions of on_exit() read it
    const char* const value = std::getenv("ODORI_LANG");
    const std::string_view word = value ? value : "";
    return std::string(word == "en" || word == "ja" ? word : "");
  }());
  return asked;
}

}  // namespace

std::string language() { return asked().empty() ? language_of_environment() : asked(); }

std::string in_language(const Text& text) { return text.in(language()); }

std::string asked_language() { return asked(); }

void ask_language(const std::string& language) { asked() = language; }

std::string language_of_environment() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* value = std::getenv(name); value && *value)
      return std::string_view(value).starts_with("ja") ? "ja" : "en";
  return "en";
}

}  // namespace odori
