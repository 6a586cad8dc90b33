#include "exercise/utf8.h"

#include <iconv.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>

namespace odori::grader {
namespace {

/// Below 0 where it isn't UTF-8.
std::pair<std::int32_t, std::size_t> next_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {0, 1};
  const std::string_view rest = text.substr(at, U8_MAX_LENGTH);
  std::int32_t character = 0, size = 0;
  U8_NEXT(rest.data(), size, static_cast<std::int32_t>(rest.size()), character);
  return {character, static_cast<std::size_t>(size)};
}

/// Controls beyond ASCII (C1), which EUC-JP's first bytes count as where no second one follows, are in no text.
bool has_c1(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    if (character >= 0x80 && character < 0xA0) return true;
    at += size;
  }
  return false;
}

std::string with_replacements(std::string_view text) {
  std::string replaced;
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    replaced += character == U'\uFFFD' ? "\uFFFD" : text.substr(at, size);
    at += size;
  }
  return replaced;
}

}  // namespace

std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  const auto [character, size] = next_at(text, at);
  return {character < 0 ? U'\uFFFD' : static_cast<char32_t>(character), size};
}

std::size_t begin_of_character(std::string_view text, std::size_t at) {
  const std::size_t first = at < U8_MAX_LENGTH ? 0 : at - U8_MAX_LENGTH;
  auto place = static_cast<std::int32_t>(at - first);
  U8_SET_CP_START(reinterpret_cast<const std::uint8_t*>(text.data()) + first, 0, place);
  return first + static_cast<std::size_t>(place);
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = next_at(text, at);
    if (character < 0) return false;
    at += size;
  }
  return true;
}

bool is_unseen(char32_t character) {
  if (character >= 0xFE00 && character <= 0xFE0F) return false;  // how the emoji before it looks
  const auto code = static_cast<UChar32>(character);
  const bool annotates = code >= 0xFFF9 && code <= 0xFFFB;
  return (U_GET_GC_MASK(code) & (U_GC_CC_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK)) != 0 || annotates ||
         U_IS_UNICODE_NONCHAR(code) || u_hasBinaryProperty(code, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

std::optional<std::string> to_utf8(std::string_view text, const char* encoding) {
  const iconv_t converter = iconv_open("UTF-8", encoding);
  if (converter == reinterpret_cast<iconv_t>(-1)) return {};
  std::string bytes(text), converted(4 * text.size() + 4, '\0');
  char *in = bytes.data(), *out = converted.data();
  std::size_t in_left = bytes.size(), out_left = converted.size();
  const bool well = iconv(converter, &in, &in_left, &out, &out_left) != static_cast<std::size_t>(-1);
  iconv_close(converter);
  if (!well) return {};
  converted.resize(converted.size() - out_left);
  return converted;
}

std::vector<std::string> as_utf8(std::vector<std::string> lines) {
  const auto converted = [](const std::string& line) {
    for (const char* encoding : {"EUC-JP", "CP932"})
      if (auto text = to_utf8(line, encoding); text && !has_c1(*text)) return *text;
    return with_replacements(line);
  };
  for (std::string& line : lines)
    if (!is_utf8(line)) line = converted(line);
  return lines;
}

}  // namespace odori::grader
