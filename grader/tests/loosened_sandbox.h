// SPDX-License-Identifier: Apache-2.0
// A sandbox that lacks some of its parts, so that what they hold back is seen to get through.
#pragma once

#include <set>
#include <string>

#include "runner/sandbox.h"

namespace odori::grader {

/// Of "network", "processes", "memory", "disk", "output", "time", "descriptors", "files", "escape", "environment" and
/// "syscalls": the parts that a sandbox lacks.
using Without = std::set<std::string>;

class LoosenedSandbox : public Sandbox {
 public:
  explicit LoosenedSandbox(Without without) : without_(std::move(without)) {}

  EndedInside run(const Command& command, const SandboxPolicy& policy, const Limits& limits = {}) const override;

 protected:
  Command enclosed(const Command& command, const SandboxPolicy& policy) const override;

 private:
  bool lacks(const char* part) const { return without_.contains(part); }

  Without without_;
};

}  // namespace odori::grader
