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

/// One `name=value` of an option -l. The name is in small letters, since PBS ignores case.
struct PbsResource {
  std::string name, value;
};

struct PbsDirectives {
  std::vector<PbsResource> resources;      // of all -l, in order
  std::vector<std::string> left_over;      // arguments without an option; qsub refuses a script that has one
  std::vector<std::string> after_command;  // directives after the first command; PBS ignores them
  std::vector<std::string> commands;       // lines that a shell runs
};

/// Reads the lines that begin with "#PBS" (after blanks) up to the first command. Quotation marks are removed.
PbsDirectives read_pbs_directives(const std::vector<std::string>& script);

/// Returns nothing if the script requests what the task needs, on nodes with this many devices: task 1 one node and one
/// process (of two threads or more, if threads are given and there are several devices), task 2 two nodes with one
/// process of one thread for each device. Otherwise returns why not.
std::optional<Finding> find_in_job_script(const Task& task, int devices, const std::vector<std::string>& script);

}  // namespace odori::grader
