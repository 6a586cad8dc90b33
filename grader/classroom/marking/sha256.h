// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace odori::grader {

/// Names a content: 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace odori::grader
