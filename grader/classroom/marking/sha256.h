// Names for contents.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace odori::grader {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);
/// Of a file, which is never whole in memory; nothing if it can't be read.
std::optional<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace odori::grader
