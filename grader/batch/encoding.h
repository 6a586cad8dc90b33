// Texts in the encodings that Windows writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace odori::grader {

/// From an encoding of iconv's ("CP932", "UTF-16"). Nothing if the bytes aren't that.
std::optional<std::string> to_utf8(std::string_view text, const char* encoding);

}  // namespace odori::grader
