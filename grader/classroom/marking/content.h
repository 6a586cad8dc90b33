// SPDX-License-Identifier: Apache-2.0
// Names for contents: what was marked, and what marked it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "classroom/marking/intake.h"

namespace odori::grader {

/// Changes with whatever a mark depends on in addition to the submission: the grader itself, the kit's answers and the
/// library (as they were built), and the points. Throws Refusal if the kit isn't built.
std::string kit_version(const std::filesystem::path& kit, const std::filesystem::path& build);

/// Of a student's answer to a task, as this version of the kit marks it. Names of files make no difference.
std::string content_of(const std::string& task, const HandedIn& handed_in, const std::string& kit_version);

/// The seed of the data that an answer is checked on: the same each time, and known to nobody before the batch began.
std::uint64_t seed_of(const std::string& content, const std::string& salt);

/// Names a content: 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace odori::grader
