// What a compiler's sentence is about. GCC's and Clang's forms, in English.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odori::grader {

/// What stands in 'quotes', in order; of a quote that isn't closed nothing.
std::vector<std::string_view> quoted_in(std::string_view message);

/// The name that it complains isn't known; empty if it is about something else.
std::string unknown_name(std::string_view message);

}  // namespace odori::grader
