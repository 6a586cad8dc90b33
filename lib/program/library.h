// SPDX-License-Identifier: Apache-2.0
// Where this library itself lies.
#pragma once

#include <filesystem>

namespace odori {

/// The file that this program got the library from: libodori.so. What belongs to it is in the same folder.
std::filesystem::path library_file();

}  // namespace odori
