// SPDX-License-Identifier: Apache-2.0
// Locks: one batch at a time works in a RESULTS folder; on a machine, several batches judge, or one measures alone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "files/lock.h"

namespace odori::grader {

/// Called every 20 ms with what the file says. May throw.
using WhileWaiting = std::function<void(const std::string& holder)>;

/// Holds nothing if another process has the lock. Nobody else may read the file. Throws Refusal if it can't be locked.
Lock try_lock(const std::filesystem::path& file, Lock::Kind kind);
/// Waits for it. Throws Error on Ctrl-C.
Lock wait_for_lock(const std::filesystem::path& file, Lock::Kind kind, const WhileWaiting& meanwhile);

/// A folder of this user's alone, for locks: ~/.cache/odori, or else one below XDG_RUNTIME_DIR. Throws Refusal if there
/// is none.
std::filesystem::path folder_of_locks();

/// This machine, for judging next to others (shared) or for a measurement (exclusive), against all batches of this
/// user, by files in `folder`. A process that waits to measure goes before those that come later.
Lock this_machine_for(
    Lock::Kind kind, const std::filesystem::path& folder, const WhileWaiting& meanwhile = [](const auto&) {});

}  // namespace odori::grader
