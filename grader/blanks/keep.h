// Nothing of a learner's is ever lost: what a file held before it is replaced is kept.
#pragma once

#include <filesystem>

namespace odori::grader {

/// Copies a file to KIT/out/kept, with the date in its name: train_cifar_multi_gpu.20261120_223015.cpp. Returns the
/// copy's path. Throws Error if that can't be done.
std::filesystem::path keep_copy(const std::filesystem::path& path, const std::filesystem::path& kit);

}  // namespace odori::grader
