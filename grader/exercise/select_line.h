// The job script's blank: which nodes, processes and threads it asks for, and whether that is what its task takes.
//
//   #PBS -l select=2:mpiprocs=2:ompthreads=1     two chunks (nodes) alike, with two processes of one thread each
//   #PBS -l select=1:mpiprocs=2+1:mpiprocs=2     the same
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "exercise/finding.h"
#include "exercise/task.h"

namespace odori::grader {

/// Some nodes alike. What isn't given is as PBS fills it in: one process, as many threads as cores, one core.
struct Chunk {
  int nodes = 1;
  std::optional<int> cores, processes, threads;  // ncpus, mpiprocs, ompthreads
  int processes_a_node() const { return processes.value_or(1); }
  int threads_a_process() const { return threads.value_or(cores.value_or(1)); }
};

struct SelectLine {
  std::vector<Chunk> chunks;
  bool packed = false;    // place=pack: all chunks on one node
  bool repeated = false;  // there is another select behind it
};

/// The first select of the script's directives (qsub takes no notice of later ones, nor of a second `place`), or why
/// there is none that PBS could take: the keys of messages/jobscript.md.
std::variant<SelectLine, Finding> read_select_line(const std::vector<std::string>& script);

/// Nothing if the script asks for what the task takes, however it is written, where it uses so many devices of a node:
/// task 1 one node and one process (of two threads or more, if it says how many and there are several devices), task 2
/// two nodes with a process of one thread for each device. Else why not.
std::optional<Finding> find_in_job_script(const Task& task, int devices, const std::vector<std::string>& script);

}  // namespace odori::grader
