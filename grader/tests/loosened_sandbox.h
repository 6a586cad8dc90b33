// A sandbox from which defences are taken, so that what they hold back is seen to get through.
#pragma once

#include <set>
#include <string>

#include "worker/sandbox.h"

namespace odori::grader {

/// Defences, as attacks/README.md names them.
using Without = std::set<std::string>;

/// Those of a sandbox that can be taken, and "names", which the compiler holds: the refused names are taken from what
/// is compiled inside. Other names do nothing here.
class LoosenedSandbox : public Sandbox {
 public:
  explicit LoosenedSandbox(Without without, const std::vector<std::filesystem::path>& hidden = {})
      : Sandbox(hidden), without_(std::move(without)) {}

  static const Without& defences();
  EndedInside run(const Command& command, const SandboxPolicy& policy, const Limits& limits = {}) const override;

 protected:
  Command enclosed(const Command& command, const SandboxPolicy& policy) const override;

 private:
  bool lacks(const char* defence) const { return without_.contains(defence); }

  Without without_;
};

}  // namespace odori::grader
