#include "runner/launch.h"

#include <unistd.h>

#include <cstring>
#include <set>
#include <sstream>

#include "backend/gpu_plugin.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// PREFIX of PREFIX/lib/libmpi.so or PREFIX/bin/mpirun, which needs PREFIX/share too; the file's folder, if it lies in
/// another one.
fs::path installation_of(const fs::path& file) {
  const fs::path folder = file.parent_path(), name = folder.filename();
  return name == "lib" || name == "lib64" || name == "bin" ? folder.parent_path() : folder;
}

}  // namespace

std::vector<std::string> mpirun_arguments(int ranks) {
  std::vector<std::string> arguments{ODORI_MPIRUN_SCRIPT, ODORI_MPIEXEC};
  if (geteuid() == 0) arguments.push_back("--allow-run-as-root");
  for (const char* argument : {"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"})
    arguments.push_back(argument);
  for (const char* argument : {"--mca", "orte_default_hostfile", "none", "-np"}) arguments.push_back(argument);
  arguments.push_back(std::to_string(ranks));
  return arguments;
}

bool ended_by_accident(const Ended& ended, bool under_mpi) {
  return ended.killed_from_outside() ||
         (under_mpi && !ended.stopped && ended.code > 128 && ended.count("exited on signal") == 0);
}

std::map<std::string, std::string> launch_environment() {
  // Open MPI reads ~/.openmpi/mca-params.conf.
  // A run that hangs is ended by the grader's own limits, which say more.
  std::map<std::string, std::string> environment{{"TERM", "dumb"}, {"HOME", "/nonexistent"}, {"ODORI_TIMEOUT", "0"}};
  for (char** entry = environ; *entry != nullptr; ++entry)
    for (const char* prefix : {"PBS_", "SLURM_", "OMPI_MCA_btl=", "OMPI_MCA_hwloc_base_", "OMPI_MCA_mca_base_env_list",
                               "OMPI_MCA_orte_", "OMPI_MCA_plm", "OMPI_MCA_ras", "OMPI_MCA_rmaps_", "PRTE_MCA_"})
      if (std::strncmp(*entry, prefix, std::strlen(prefix)) == 0)
        environment[std::string(*entry, std::strcspn(*entry, "="))] = "";
  return environment;
}

std::vector<fs::path> libraries_of(const fs::path& kits) {
  std::set<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    for (const char* of_system : {"/usr/", "/lib", "/bin/"})
      if (file.string().starts_with(of_system)) return;
    folders.insert(installation_of(file));
  };
  add(ODORI_MPIEXEC);
  folders.insert(ODORI_MPIRUN_SCRIPT);
  Command ldd{.arguments = {"ldd", kits.string()}};
  if (built_for_gpus() && has_gpu_driver()) ldd.arguments.push_back(gpu_plugin_file());
  std::istringstream fields(run_process(ldd).output);  // "libmpi.so.40 => /path (0x...)"
  for (std::string field; fields >> field;)
    if (field.starts_with('/')) add(field);
  return {folders.begin(), folders.end()};
}

}  // namespace odori::grader
