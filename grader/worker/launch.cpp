#include "worker/launch.h"

#include <unistd.h>

#include <cstring>
#include <set>
#include <sstream>

#include "worker/process.h"

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

std::vector<fs::path> libraries_of(const fs::path& kits) {
  std::set<fs::path> folders;
  const auto add = [&](const fs::path& file) {
    for (const char* of_system : {"/usr/", "/lib", "/bin/"})
      if (file.string().starts_with(of_system)) return;
    folders.insert(installation_of(file));
  };
  add(ODORI_MPIEXEC);
  std::istringstream words(run_process({.words = {"ldd", kits.string()}}).output);  // "libmpi.so.40 => /path (0x...)"
  for (std::string word; words >> word;)
    if (word.starts_with('/')) add(word);
  return {folders.begin(), folders.end()};
}

}  // namespace odori::grader
