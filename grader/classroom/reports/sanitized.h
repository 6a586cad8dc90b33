// SPDX-License-Identifier: Apache-2.0
// What comes from a submission, made fit to be shown: names, compilers' words, lines of code. It may hold anything, put
// there to break a page, a table or a terminal, or to look like something else. Every report begins with this, so that
// what follows has to know its own format's quoting alone.
#pragma once

#include <string>
#include <string_view>

#include "classroom/marking/record.h"

namespace odori::grader {

/// Valid UTF-8 of at most `most` characters, followed by a mark if there were more. Line ends and tabs are kept; bytes
/// that aren't UTF-8 become U+FFFD; control characters, invisible ones, and those that change the text's direction
/// are named: ⟨U+202E⟩.
std::string sanitized(std::string_view text, std::size_t most = 2000);

/// The same on one line: line ends and tabs are named too.
std::string sanitized_line(std::string_view text, std::size_t most = 200);

/// Everything in the record that a submission can have a say in.
StudentRecord sanitized(const StudentRecord& record);

/// The name of a file or folder as it appears in a link: "%3Cb%3E". Bytes beyond letters, digits and -._~ are
/// percent-encoded, so that no name can begin a scheme or a query, or lead to another folder.
std::string url_of(std::string_view name);

}  // namespace odori::grader
