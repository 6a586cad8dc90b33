// What keeps the compiler itself from names that reach out of a blank or out of the program, whatever the rule on
// identifiers (exercise/blank_identifiers) made of the text.
#pragma once

#include <string>

namespace odori::grader {

/// To stand between a program's includes and its functions. Names that no answer needs are poisoned: an error wherever
/// they stand from here on, those of directives too. The functions of the system that an answer's own variables may be
/// named after are hidden by objects that do nothing: what an answer declares itself hides those in turn, as C++ has
/// it, and `::close` is ambiguous. Those that are in std too can't be called there either.
std::string refused_names_begin();

/// To stand behind the functions.
std::string refused_names_end();

}  // namespace odori::grader
