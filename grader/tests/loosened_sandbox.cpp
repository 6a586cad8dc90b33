// SPDX-License-Identifier: Apache-2.0
#include "loosened_sandbox.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "errors/error.h"
#include "errors/text.h"
#include "files/file.h"

namespace odori::grader {
namespace {

using Arguments = std::vector<std::string>;

/// Where these begin.
Arguments::iterator found(Arguments& arguments, const Arguments& wanted) {
  const auto place = std::search(arguments.begin(), arguments.end(), wanted.begin(), wanted.end());
  require(place != arguments.end(), "The sandbox's command has no \"{}\", which was to be taken from it.",
          fmt::join(wanted, " "));
  return place;
}

/// Puts others, or none, in their place.
void replace(Arguments& arguments, const Arguments& old, const Arguments& by = {}) {
  const auto place = found(arguments, old);
  arguments.insert(arguments.erase(place, place + static_cast<std::ptrdiff_t>(old.size())), by.begin(), by.end());
}

void write_anywhere(Arguments& arguments) {
  while (std::find(arguments.begin(), arguments.end(), "--remount-ro") != arguments.end()) {
    const auto place = found(arguments, {"--remount-ro"});
    arguments.erase(place, place + 2);
  }
}

/// All files of this machine, but /tmp.
void see_all_files(Arguments& arguments) {
  const Arguments namespaces{"--die-with-parent", "--new-session"};
  const auto begin = found(arguments, namespaces) + static_cast<std::ptrdiff_t>(namespaces.size());
  const Arguments all{"--dev-bind", "/", "/"};
  arguments.insert(arguments.erase(begin, found(arguments, {"--proc", "/proc"})), all.begin(), all.end());
  write_anywhere(arguments);
}

void outlive_command(Arguments& arguments) {
  const bool root = geteuid() == 0;
  replace(arguments, {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"});
  if (!root) replace(arguments, {"--user", "--map-current-user"});
  replace(arguments, {"--unshare-pid", "--die-with-parent", "--new-session"});
  replace(arguments, {"--proc", "/proc", "--ro-bind", "/dev/null", "/proc/1/cmdline"},
          {"--dev-bind", "/proc", "/proc"});
  if (root) replace(arguments, {"--die-with-parent"});
  replace(arguments, {"bash", "-c", "read -t 0 && exit 1; exec \"$@\" </dev/null", "bash"});
}

}  // namespace

EndedInside LoosenedSandbox::run(const Command& command, const SandboxPolicy& policy, const Limits& limits) const {
  SandboxPolicy wider = policy;
  Limits longer = limits;
  if (lacks("memory")) wider.memory = std::size_t{1} << 40;
  if (lacks("processes")) wider.processes = 2000;  // no more than an ordinary user may have
  if (lacks("disk")) wider.file = wider.temporary = std::size_t{1} << 40;
  if (lacks("time")) longer.time = std::chrono::hours(1), longer.processor_time.reset(), longer.give_up = nullptr;
  if (lacks("output")) longer.output_bytes = std::size_t{1} << 32;
  return Sandbox::run(command, wider, longer);
}

Command LoosenedSandbox::enclosed(const Command& command, const SandboxPolicy& policy) const {
  Command outer = Sandbox::enclosed(command, policy);
  if (lacks("network")) replace(outer.arguments, {"--unshare-net"});
  if (lacks("disk")) write_anywhere(outer.arguments);
  if (lacks("files")) see_all_files(outer.arguments);
  if (lacks("escape")) outlive_command(outer.arguments), outer.lifeline = false;
  if (lacks("descriptors")) outer.inherits_descriptors = true;
  if (lacks("syscalls")) outer.before = nullptr;
  if (lacks("environment")) {
    outer.environment = command.environment;
    outer.environment.emplace("HOME", "/tmp");
  }
  return outer;
}

}  // namespace odori::grader
