#include "worker/defences.h"

#include <array>
#include <sstream>
#include <utility>

#include "core/error.h"

namespace odori::grader {
namespace {

constexpr std::array<std::pair<const char*, Defence>, 15> names{{{"network", Defence::network},
                                                                 {"processes", Defence::processes},
                                                                 {"memory", Defence::memory},
                                                                 {"disk", Defence::disk},
                                                                 {"output", Defence::output},
                                                                 {"time", Defence::time},
                                                                 {"descriptors", Defence::descriptors},
                                                                 {"files", Defence::files},
                                                                 {"escape", Defence::escape},
                                                                 {"environment", Defence::environment},
                                                                 {"syscalls", Defence::syscalls},
                                                                 {"words", Defence::words},
                                                                 {"names", Defence::names},
                                                                 {"submission", Defence::submission},
                                                                 {"evidence", Defence::evidence}}};

Defence defence_named(const std::string& wanted) {
  std::string all;
  for (const auto& [name, defence] : names) {
    if (name == wanted) return defence;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError(fmt::format("There is no defence \"{}\". There are {}.", wanted, all));
}

}  // namespace

Without without_of(const std::string& text) {
  Without without;
  std::istringstream list(text);
  for (std::string name; std::getline(list, name, ',');) without.insert(defence_named(name));
  return without;
}

}  // namespace odori::grader
