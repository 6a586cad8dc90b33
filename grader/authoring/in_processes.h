// SPDX-License-Identifier: Apache-2.0
// Judges many answers at once.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace odori::grader {

/// Runs `work(i)` for i = 0, 1, ... n - 1 in `n_processes` child processes, since GoogleTest, which judges, runs once
/// at a time in each. Calls `done(i, result)` in this process as soon as each result is there. Starts no work after
/// `until`. Returns the number of results. Throws Error if a child process fails or is killed.
std::size_t in_processes(std::size_t n, int n_processes, const std::function<std::string(std::size_t)>& work,
                         const std::function<void(std::size_t, const std::string&)>& done,
                         std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());

}  // namespace odori::grader
