// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "classroom/refusal.h"
#include "files/file.h"
#include "program/program.h"

namespace odori::grader {

namespace fs = std::filesystem;

namespace {

/// The file, open for this user alone; also one that was made before.
Lock open_lock(const fs::path& file) {
  Lock lock(file, 0600);
  std::error_code not_ours;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, not_ours);
  return lock;
}

[[noreturn]] void cannot_lock(const fs::path& file, const std::string& reason) {
  throw Refusal({"cannot_lock", {{"file", file.string()}, {"reason", reason}}}, 20);
}

}  // namespace

Lock try_lock(const fs::path& file, Lock::Kind kind) try {
  Lock lock = open_lock(file);
  return lock.take(kind) ? std::move(lock) : Lock();
} catch (const WriteError& error) {
  cannot_lock(file, std::strerror(error.reason()));
}

Lock wait_for_lock(const fs::path& file, Lock::Kind kind, const WhileWaiting& meanwhile) try {
  Lock lock = open_lock(file);
  while (!lock.take(kind)) {
    if (interrupted()) throw Error(Text{"Interrupted.", "中断しました。"}, exit_code::interrupted);
    meanwhile(lock.holder());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
} catch (const WriteError& error) {
  cannot_lock(file, std::strerror(error.reason()));
}

fs::path folder_of_locks() {
  const auto below = [](const char* variable, const fs::path& path) {
    const char* value = std::getenv(variable);
    return value && fs::path(value).is_absolute() ? value / path : fs::path();
  };
  for (const fs::path& folder :
       {below("XDG_CACHE_HOME", "odori"), below("HOME", ".cache/odori"), below("XDG_RUNTIME_DIR", "odori")}) {
    // Root that works with another user's HOME leaves nothing of root's there.
    fs::path there = folder;
    std::error_code error;
    while (!there.empty() && !fs::exists(there, error)) there = there.parent_path();
    struct stat status {};
    if (there.empty() || stat(there.c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    fs::create_directories(folder.parent_path(), error);
    mkdir(folder.c_str(), 0700);
    if (is_own_folder(folder)) return folder;
  }
  throw Refusal({"no_folder_for_locks", {}}, 20);
}

Lock this_machine_for(Lock::Kind kind, const fs::path& folder, const WhileWaiting& meanwhile) {
  // In a home folder on the network, each machine has its own files.
  const fs::path machine = folder / (this_host() + ".machine"), gate = folder / (this_host() + ".gate");
  // Everybody passes the gate one by one; a process that waits to measure waits in it.
  const Lock passing = wait_for_lock(gate, Lock::Kind::exclusive, meanwhile);
  return wait_for_lock(machine, kind, meanwhile);
}

}  // namespace odori::grader
