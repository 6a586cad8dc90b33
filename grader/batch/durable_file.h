// Files that outlive a kill and a power cut.
#pragma once

#include <filesystem>
#include <string_view>

namespace odori::grader {

/// The end of the name of a file that isn't whole yet. One that is found at the start of a batch is of no use.
inline constexpr std::string_view unfinished_suffix = ".unfinished";

/// Writes a new file beside it, on the disk before it takes the old one's place: whenever this is cut short, the old
/// text or the new one is there, whole. Makes the folders that are missing. Throws Refusal if that can't be done.
void write_durably(const std::filesystem::path& path, std::string_view text);

/// Throws a Refusal: this file can't be written, for this reason (errno).
[[noreturn]] void refuse_to_write(const std::filesystem::path& path, int error);

}  // namespace odori::grader
