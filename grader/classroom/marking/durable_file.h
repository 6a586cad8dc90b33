// Files that outlive a kill and a power cut.
#pragma once

#include <filesystem>
#include <string_view>

namespace odori::grader {

/// As replace_file() of the library. Throws Refusal if that can't be done.
void write_durably(const std::filesystem::path& path, std::string_view text);

/// Throws a Refusal: this file can't be written, for this reason (errno).
[[noreturn]] void refuse_to_write(const std::filesystem::path& path, int error);

}  // namespace odori::grader
