// SPDX-License-Identifier: Apache-2.0
// The job script's blank: the nodes, processes and threads that it requests, and whether its exercise needs these.
//
//   #PBS -l select=2:mpiprocs=2:ompthreads=1     two equal chunks (nodes), with two processes of one thread each
//   #PBS -l select=1:mpiprocs=2+1:mpiprocs=2     the same
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blanks/finding.h"
#include "blanks/task.h"

namespace odori::grader {

/// Returns nothing if the script requests what the task needs, on nodes with this many devices: task 1 one node and one
/// process (of two threads or more, if threads are given and there are several devices), task 2 two nodes with one
/// process of one thread for each device. Otherwise returns why not.
std::optional<Finding> find_in_job_script(const Task& task, int devices, const std::vector<std::string>& script);

}  // namespace odori::grader
