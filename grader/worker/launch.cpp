#include "worker/launch.h"

#include <unistd.h>

#include <cstring>

namespace odori::grader {

std::vector<std::string> mpirun_words(int ranks) {
  std::vector<std::string> words{
      ODORI_MPIEXEC, "--oversubscribe",    "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
      "-np",         std::to_string(ranks)};
  if (geteuid() == 0) words.insert(words.begin() + 1, "--allow-run-as-root");
  return words;
}

std::map<std::string, std::string> launch_environment() {
  std::map<std::string, std::string> environment{{"TERM", "dumb"}};
  for (char** entry = environ; *entry != nullptr; ++entry)
    for (const char* prefix : {"PBS_", "SLURM_"})
      if (std::strncmp(*entry, prefix, std::strlen(prefix)) == 0)
        environment[std::string(*entry, std::strcspn(*entry, "="))] = "";
  return environment;
}

}  // namespace odori::grader
