// SPDX-License-Identifier: Apache-2.0
// What attacks look for on this machine, and what they leave on it.
#pragma once

#include <string>

namespace odori::grader {

/// While it lives, 127.0.0.1 accepts connections on port 47613, the environment holds ODORI_INSTRUCTORS_SECRET, and
/// there is a process odori_bystander.
class Arena {
 public:
  /// Throws Error if this machine cannot listen.
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

 private:
  int listener_ = -1, bystander_ = -1;
};

/// True if /var/tmp or /dev/shm holds a file of this name, or if a process of this name lives.
bool is_left(const std::string& name);
/// Removes such files and ends such processes.
void remove_left(const std::string& name);

}  // namespace odori::grader
