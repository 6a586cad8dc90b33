#include "exercise/utf8.h"

#include <iconv.h>

#include <optional>

namespace odori::grader {
namespace {

class Converter {
 public:
  explicit Converter(const char* encoding) : converter_(iconv_open("UTF-8", encoding)) {}
  ~Converter() {
    if (works()) iconv_close(converter_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  /// Nothing if `text` isn't in this encoding. Controls beyond ASCII (C1), which EUC-JP's first bytes count as where no
  /// second one follows, are in no text.
  std::optional<std::string> convert(std::string text) const {
    if (!works()) return {};
    std::string converted(4 * text.size() + 4, '\0');
    char *in = text.data(), *out = converted.data();
    std::size_t in_left = text.size(), out_left = converted.size();
    iconv(converter_, nullptr, nullptr, nullptr, nullptr);
    if (iconv(converter_, &in, &in_left, &out, &out_left) == static_cast<std::size_t>(-1)) return {};
    converted.resize(converted.size() - out_left);
    for (std::size_t at = 0; at < converted.size();) {
      const auto [character, size] = character_at(converted, at);
      if (character >= 0x80 && character < 0xA0) return {};
      at += size;
    }
    return converted;
  }

 private:
  bool works() const { return converter_ != reinterpret_cast<iconv_t>(-1); }
  iconv_t converter_;
};

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
  constexpr std::pair<char32_t, std::size_t> none{U'\uFFFD', 1};
  const auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return none;
  char32_t character = first & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return none;
    character = character << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t least[]{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  return character < least[size] || surrogate || character > 0x10FFFF ? none : std::pair{character, size};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto [character, size] = character_at(text, at);
    if (character == U'\uFFFD' && size == 1) return false;
    at += size;
  }
  return true;
}

std::vector<std::string> as_utf8(std::vector<std::string> lines) {
  const auto converted = [](const std::string& line) {
    static const Converter euc_jp("EUC-JP"), shift_jis("CP932");
    auto text = euc_jp.convert(line);
    if (!text) text = shift_jis.convert(line);
    return text ? *text : with_replacements(line);
  };
  for (std::string& line : lines)
    if (!is_utf8(line)) line = converted(line);
  return lines;
}

}  // namespace odori::grader
