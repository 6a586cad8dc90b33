// SPDX-License-Identifier: Apache-2.0
// The event stream's spans, told to a profiler as well, under the same names. nvtx.cpp does so where NVTX's headers are
// found; a build without them has no_nvtx.cpp.
#pragma once

namespace odori::trace {

/// Does a profiler look on? NVIDIA's tools (nsys, ncu) say so in the environment before the program starts.
bool profiler_watches() noexcept;

/// A range of this thread begins; ranges nest. Only while a profiler looks on.
void begin_range(const char* name) noexcept;
void end_range() noexcept;

}  // namespace odori::trace
