#include "batch/student_name.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "batch/content.h"
#include "errors/error.h"
#include "exercise/utf8.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_bytes_of_name = 150;  // of the 255 that a file system allows

bool may_stand_in_a_name(char32_t character) {
  return character != '/' && character != '\\' && character != U'\uFFFD' && !is_unseen(character);
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
  for (std::size_t at = 0; at < original.size();) {
    const auto [character, size] = character_at(original, at);
    if (name.size() + size > most_bytes_of_name) break;
    name += may_stand_in_a_name(character) ? original.substr(at, size) : "_";
    at += size;
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
