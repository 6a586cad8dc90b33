// How the training programs are started, whatever for.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "program/process.h"

namespace odori::grader {

/// mpirun and its flags for this many ranks on this machine; a program and its flags follow.
std::vector<std::string> mpirun_arguments(int ranks);

/// Nothing that the program did: it was killed from outside, or mpirun died of a signal and none of its ranks did, of
/// which mpirun would have spoken. Open MPI 4's does so seldom, when all ranks have ended (PMIx_server_finalize).
bool ended_by_accident(const Ended& ended, bool under_mpi);

/// What a training program's environment needs (see Command): no terminal, and none of the variables of a scheduler, a
/// site or a user by which mpirun would start ranks on other machines, which the scratch folder isn't on, or not at
/// all.
std::map<std::string, std::string> launch_environment();

/// Where a training program's libraries and mpirun lie, unless it's below /usr: on clusters, mostly, below a folder of
/// the site's own. `kits`: one of the kit's programs, never a learner's.
std::vector<std::filesystem::path> libraries_of(const std::filesystem::path& kits);

}  // namespace odori::grader
