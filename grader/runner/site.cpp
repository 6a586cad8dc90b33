// SPDX-License-Identifier: Apache-2.0
#include "runner/site.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "blanks/finding.h"
#include "program/process.h"

namespace odori::grader {

using namespace std::chrono_literals;

int devices_of(const Task& task, const std::filesystem::path& kit) {
  const std::filesystem::path script = kit / "jobscripts" / "site_in_force.sh";
  if (!std::filesystem::exists(script)) throw EnvironmentFault({"kit_incomplete", {{"file", script.string()}}});
  // A site file may say something itself, and is a script: it may end the shell.
  const Ended asked =
      run_process({.arguments = {"bash", "-c", "kit=$1; . \"$2\" >/dev/null 2>&1; devices_of \"$3\" 2>&1", "bash",
                                 kit.string(), script.string(), task.name}},
                  {.time = 20s});
  int devices = 0;
  const char* end = asked.output.data() + asked.output.size();
  const auto [rest, error] = std::from_chars(asked.output.data(), end, devices);
  if (error == std::errc() && devices > 0 && std::string_view(rest, end) == "\n") return devices;
  const char* chosen = std::getenv("ODORI_SITE");
  throw EnvironmentFault(
      {"site_unreadable", {{"file", chosen && *chosen ? chosen : (kit / "jobscripts" / "site.sh").string()}}});
}

}  // namespace odori::grader
