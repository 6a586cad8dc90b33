// Where this library itself lies.
#pragma once

#include <filesystem>

namespace odori {

/// The file that this program got the library from: libodori.so. What belongs to it lies beside it.
std::filesystem::path library_file();

}  // namespace odori
