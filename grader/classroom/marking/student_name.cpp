// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/student_name.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf.h>

#include <cstdint>
#include <map>

#include "blanks/utf8.h"
#include "classroom/marking/content.h"
#include "errors/error.h"

namespace odori::grader {

bool is_unseen(char32_t character) {
  if (character >= 0xFE00 && character <= 0xFE0F) return false;  // how the emoji before it looks
  const auto code = static_cast<UChar32>(character);
  const bool annotates = code >= 0xFFF9 && code <= 0xFFFB;
  return (U_GET_GC_MASK(code) & (U_GC_CC_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK)) != 0 || annotates ||
         U_IS_UNICODE_NONCHAR(code) || u_hasBinaryProperty(code, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}
namespace {

constexpr std::size_t most_bytes_of_name = 150;  // of the 255 that a file system allows

bool is_allowed(char32_t character) {
  return character != '/' && character != '\\' && character != '~' && character != U'\uFFFD' && !is_unseen(character);
}

std::string normalized(std::string_view name, const icu::Normalizer2* (*form)(UErrorCode&)) {
  UErrorCode code = U_ZERO_ERROR;
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  if (const icu::Normalizer2* normalizer = form(code))
    normalizer->normalizeUTF8(0, {name.data(), static_cast<std::int32_t>(name.size())}, sink, nullptr, code);
  require(U_SUCCESS(code), "ICU can't normalize the name {}: {}.", name, u_errorName(code));
  return result;
}

std::string checksum(std::string_view original, std::size_t n_digits) {
  return '~' + sha256(original).substr(0, n_digits);
}

}  // namespace

std::string folded(std::string_view name) { return normalized(name, icu::Normalizer2::getNFKCCasefoldInstance); }

std::string student_name(std::string_view original) {
  std::string text(original);
  if (is_utf8(original))
    text = normalized(original, icu::Normalizer2::getNFCInstance);
  else if (const auto converted = to_utf8(original, "CP932"))
    text = *converted;
  std::string name;
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    if (name.size() + size > most_bytes_of_name) break;
    name += is_allowed(character) ? text.substr(at, size) : "_";
    at += size;
  }
  while (name.ends_with(' ') || name.ends_with('.')) name.pop_back();
  if (name.starts_with('.') || name.starts_with(' ')) name[0] = '_';
  if (name.empty()) name = "_";
  return name == text ? name : name + checksum(original, 6);
}

std::vector<std::string> student_names(const std::vector<std::string>& originals) {
  std::vector<std::string> names;
  std::map<std::string, int> n_alike;
  for (const std::string& original : originals) {
    names.push_back(student_name(original));
    ++n_alike[folded(names.back())];
  }
  // No original makes a name with 32 digits, so that what is lengthened is unique.
  for (std::size_t i = 0; i < names.size(); ++i)
    if (n_alike[folded(names[i])] > 1) names[i] += checksum(originals[i], 32);
  return names;
}

}  // namespace odori::grader
