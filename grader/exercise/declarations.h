// Which names a text declares, as far as that can be seen without compiling it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exercise/lexer.h"

namespace odori::grader {

/// All that it declares, as far as that can be seen from a name's neighbours: `SerialIterator first(...)`,
/// `class Ring`. If in doubt, none (`f(a, b)`), or `all`: too many (`auto& [a, b] = ...`, `[n = 3]`).
enum class Doubtful { none, all };
std::set<std::string> declared_in(const std::vector<std::string>& text, Doubtful doubtful);

/// Names that mean something else behind the text, since it declares them outside of all brackets: `auto f = ...`,
/// `struct Ring {`, `auto [a, b] = ...`. If in doubt, not.
std::vector<Token> declared_for_below(const std::vector<std::string>& text);

}  // namespace odori::grader
