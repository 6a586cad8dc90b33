#include "batch/encoding.h"

#include <iconv.h>

namespace odori::grader {

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

}  // namespace odori::grader
