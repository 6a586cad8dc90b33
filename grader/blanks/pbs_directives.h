// SPDX-License-Identifier: Apache-2.0
// The #PBS lines of a job script, as far as the kit's scripts use them. The script is never run.
//
//   #PBS -q workshop                                             an option and its value
//   #PBS -l select=2:mpiprocs=2 -l place=scatter,walltime=600    resources, separated by commas
#pragma once

#include <string>
#include <vector>

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

}  // namespace odori::grader
