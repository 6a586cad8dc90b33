// Names that students' folders may have.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace odori::grader {

/// The name that a student is kept under, from that of what they handed in. Letters of all languages stay; control
/// characters, separators, marks that turn the direction of text, and bytes that aren't UTF-8 become "_". A name that
/// was changed ends in "~" and six digits made from the original. Names that are CP932 (archives made on a Japanese
/// Windows) are read as such; letters that were taken apart (macOS) are put together.
std::string student_name(std::string_view handed_in);

/// Those of all students, in their order: no two of them are one on any file system, whatever it makes of capitals,
/// accents or widths of letters. Those that would be end in "~" and 32 digits; but one that is in `known`, as there are
/// marks under it, keeps its name.
std::vector<std::string> student_names(const std::vector<std::string>& handed_in, const std::set<std::string>& known);

/// At most `n` of the names, those first that have the most of the given one's letters in its order.
std::vector<std::string> nearest_names(std::string_view given, std::vector<std::string> names, std::size_t n);

}  // namespace odori::grader
