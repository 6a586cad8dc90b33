// Graders that lack a defence which is none of a switch's, but of how this one is built: played, so that attacks on
// them can be seen to succeed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "instructor/arena.h"

namespace odori::grader {

/// Is it one of those? "parsed", "unpacked", "sanitized".
bool is_played(const std::string& defence);

/// What such a grader would make of it. `check`: what this one makes of a program and a script. `folder`: a new one.
Seen play_without(const std::string& defence, const Attack& attack, const Arena& arena,
                  const std::filesystem::path& kit, const std::filesystem::path& folder,
                  const std::function<Seen(const std::filesystem::path& program)>& check);

}  // namespace odori::grader
