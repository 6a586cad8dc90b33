#include "batch/student_name.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "batch/content.h"
#include "batch/encoding.h"
#include "core/error.h"

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

/// "é" as one letter, however it was written.
std::string composed(std::string_view text) {
  UErrorCode code = U_ZERO_ERROR;
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFCInstance(code);
  if (U_SUCCESS(code))
    normalizer->normalizeUTF8(0, {text.data(), static_cast<std::int32_t>(text.size())}, sink, nullptr, code);
  return U_SUCCESS(code) ? result : std::string(text);
}

/// The same for all names that some file system takes for one.
std::string folded(std::string_view name) {
  UErrorCode code = U_ZERO_ERROR;
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCCasefoldInstance(code);
  if (U_SUCCESS(code))
    normalizer->normalizeUTF8(0, {name.data(), static_cast<std::int32_t>(name.size())}, sink, nullptr, code);
  require(U_SUCCESS(code), "ICU can't compare the name {}: {}.", name, u_errorName(code));
  return result;
}

/// What no file on Windows may be called, with any suffix.
bool is_reserved(std::string_view name) {
  const std::string stem = folded(name.substr(0, name.find('.')));
  static const std::set<std::string> words{"con", "prn", "aux", "nul"};
  const bool is_port = stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] > '0';
  return words.contains(stem) || (is_port && stem[3] <= '9');
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
  std::string original(handed_in);
  if (is_utf8(handed_in))
    original = composed(handed_in);
  else if (const auto converted = to_utf8(handed_in, "CP932"))
    original = *converted;
  std::string name;
  for (std::string_view rest = original; !rest.empty();) {
    const auto letter = first_letter(rest);
    const std::string_view bytes = rest.substr(0, letter ? letter->bytes : 1);
    if (name.size() + bytes.size() > most_bytes) break;
    name += letter && may_stand_in_a_name(letter->code) ? bytes : "_";
    rest.remove_prefix(bytes.size());
  }
  while (name.ends_with(' ') || name.ends_with('.')) name.pop_back();
  if (name.starts_with('.') || name.starts_with(' ')) name[0] = '_';
  if (name.empty()) name.push_back('_');
  if (name != original || is_reserved(name)) name.append("~").append(sha256(handed_in), 0, 6);
  return name;
}

std::vector<std::string> student_names(const std::vector<std::string>& handed_in, const std::set<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& one : handed_in) names.push_back(student_name(one));
  std::vector<bool> lengthened(names.size());
  for (bool again = true; again;) {
    again = false;
    std::map<std::string, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < names.size(); ++i) alike[folded(names[i])].push_back(i);
    for (const auto& [key, group] : alike) {
      std::map<std::string, int> n;
      for (const std::size_t i : group) ++n[names[i]];
      for (const std::size_t i : group) {
        if (group.size() == 1 || lengthened[i] || (known.contains(names[i]) && n[names[i]] == 1)) continue;
        names[i].append("~").append(sha256(handed_in[i]), 0, 32);
        lengthened[i] = again = true;
      }
    }
  }
  return names;
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
