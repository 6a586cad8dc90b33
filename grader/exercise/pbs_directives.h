// The directives of a job script, read as PBS's qsub reads them. The script is never run.
//
//   #PBS -q workshop                                             an option and its value
//   #PBS -l select=2:mpiprocs=2 -l place=scatter,walltime=600    resources, separated by commas
#pragma once

#include <string>
#include <vector>

namespace odori::grader {

/// One `name=value` of a -l. Names are in small letters: PBS makes no difference.
struct PbsResource {
  std::string name, value;
};

struct PbsDirectives {
  std::vector<PbsResource> resources;       // in order, of all -l
  std::vector<std::string> left_over;       // arguments that belong to no option: qsub refuses a script with such
  std::vector<std::string> behind_command;  // directives behind the first command: PBS takes no notice of them
  std::vector<std::string> commands;        // lines that a shell runs
};

/// Directives are lines that begin with "#PBS", blanks before it allowed, and stand before the first command. A
/// backslash at a directive's end continues it in the next line; quotation marks keep an argument together. A line that
/// begins with ":" is a command to the shell, and to PBS none.
PbsDirectives read_pbs_directives(const std::vector<std::string>& script);

}  // namespace odori::grader
