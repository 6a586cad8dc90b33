// SPDX-License-Identifier: Apache-2.0
// What the cluster is like that this kit works for, as its site file says (jobscripts/sites).
#pragma once

#include <filesystem>

#include "blanks/task.h"

namespace odori::grader {

/// How many devices of a node a task uses there, as its job is set (KIT/jobscripts/site_in_force.sh). Throws
/// EnvironmentFault where the site file can't be read.
int devices_of(const Task& task, const std::filesystem::path& kit);

}  // namespace odori::grader
