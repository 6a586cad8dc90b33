// Nothing of a learner's is ever lost: files are replaced at once, and what they held before is kept.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace odori::grader {

/// Writes a new file and moves it to where the old one is, with the old one's permissions: others see either of them
/// whole. Makes the folders that are missing. Throws Error if that can't be done.
void replace_file(const std::filesystem::path& path, std::string_view text);

/// Copies a file to KIT/out/kept, with the date in its name: train_cifar_multi_gpu.20261120_223015.cpp. Returns the
/// copy's path. Throws Error if that can't be done.
std::filesystem::path keep_copy(const std::filesystem::path& path, const std::filesystem::path& kit);

}  // namespace odori::grader
