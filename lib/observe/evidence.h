// SPDX-License-Identifier: Apache-2.0
// The format of the files that hold a run's evidence, for the observer that writes them and the grader that reads them.
#pragma once

#include <cstddef>

namespace odori::observe {

/// ODORI_EVIDENCE=NAME makes the library write the evidence of each rank into the file NAME.RANK. The file exists,
/// holds zeros, and never grows. It starts with a head, whose first 8 bytes are the number of bytes after the head that
/// hold facts (a std::uint64_t in this machine's byte order; larger than the file if a fact did not fit). Then comes
/// one line for each fact of facts.h, {"fact":"use_device","device":1}. If a line has "numbers":N, N floats follow it.
///
/// The 8 bytes after those are the grader's: with 1 in them the library writes the steps without parameters.
///
/// The library maps the file and keeps no descriptor. It sets the number of bytes after the fact is written, so a
/// killed process leaves all earlier facts readable. It unmaps full pages at once: no code of the process can change
/// them.
inline constexpr std::size_t evidence_head_bytes = 65536;  // a whole page of any size

}  // namespace odori::observe
