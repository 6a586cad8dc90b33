#include "batch/student_name.h"

#include <iconv.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "batch/content.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_bytes = 150;  // of the 255 that a file system allows

struct Letter {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

/// The first letter; nothing if it isn't UTF-8.
std::optional<Letter> first_letter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return Letter{byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = byte(0) & (0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const std::uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return Letter{code, bytes};
}

bool may_stand_in_a_name(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) { return first <= code && code <= last; };
  return !(code < 0x20 || within(0x7f, 0x9f) || code == '/' || code == '\\' || code == 0x61c ||
           within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x206f) || code == 0xfeff ||
           within(0xfff0, 0xffff) || code >= 0xe0000);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto letter = first_letter(text);
    if (!letter) return false;
    text.remove_prefix(letter->bytes);
  }
  return true;
}

std::optional<std::string> from_cp932(std::string_view text) {
  const iconv_t converter = iconv_open("UTF-8", "CP932");
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

/// How long the longest text is that both hold, letter by letter, with whatever between.
std::size_t in_common(std::string_view a, std::string_view b) {
  std::vector<std::size_t> best(b.size() + 1);
  for (const char letter : a)
    for (std::size_t j = 0, diagonal = 0; j < b.size(); ++j) {
      const std::size_t above = best[j + 1];
      best[j + 1] = letter == b[j] ? diagonal + 1 : std::max(above, best[j]);
      diagonal = above;
    }
  return best.back();
}

}  // namespace

std::string student_name(std::string_view handed_in) {
  const std::optional<std::string> converted = is_utf8(handed_in) ? std::nullopt : from_cp932(handed_in);
  const std::string_view original = converted ? *converted : handed_in;
  std::string name;
  for (std::string_view rest = original; !rest.empty();) {
    const auto letter = first_letter(rest);
    const std::string_view bytes = rest.substr(0, letter ? letter->bytes : 1);
    if (name.size() + bytes.size() > most_bytes) break;
    name += letter && may_stand_in_a_name(letter->code) ? bytes : "_";
    rest.remove_prefix(bytes.size());
  }
  while (name.ends_with(' ')) name.pop_back();
  if (name.starts_with('.') || name.starts_with(' ')) name[0] = '_';
  if (name.empty()) name.push_back('_');
  if (name != original) name.append("~").append(sha256(handed_in), 0, 6);
  return name;
}

std::vector<std::string> nearest_names(std::string_view given, std::vector<std::string> names, std::size_t n) {
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    const auto common_a = in_common(given, a), common_b = in_common(given, b);
    return common_a != common_b ? common_a > common_b : a.size() < b.size();
  });
  names.resize(std::min(names.size(), n));
  return names;
}

}  // namespace odori::grader
