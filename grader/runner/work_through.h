// SPDX-License-Identifier: Apache-2.0
// Many answers at once, each on a thread.
#pragma once

#include <cstddef>
#include <functional>

namespace odori::grader {

/// Calls `work(i)` for each i below `n`, at most `jobs` at once, on other threads, and `wait` several times a second on
/// this one. The first exception ends the children by `stop`, and is thrown again. Throws Error with exit code 130 on
/// Ctrl-C.
void work_through(std::size_t n, int jobs, const std::function<void(std::size_t)>& work,
                  const std::function<void()>& wait, const std::function<void()>& stop);

}  // namespace odori::grader
