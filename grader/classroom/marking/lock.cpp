#include "classroom/marking/lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "classroom/marking/durable_file.h"
#include "classroom/marking/refusal.h"
#include "files/file.h"
#include "program/program.h"

namespace odori::grader {

namespace fs = std::filesystem;

namespace {

constexpr int cannot_lock = 20;

int open_lock(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) refuse_to_write(file, errno);
  fchmod(descriptor, 0600);  // one that was made before may be open to others
  return descriptor;
}

/// In a home folder on the network, each machine has its own.
fs::path lock_in(const fs::path& folder, const char* what) { return folder / fmt::format("{}.{}", this_host(), what); }

/// "14:30:00", when a process began; empty if it is gone.
std::string beginning_of(int process) {
  std::string stat, word;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", process)), stat);
  const auto behind_name = stat.rfind(')');  // "PID (NAME) STATE ...", and its beginning as the 22nd
  if (behind_name == std::string::npos) return {};
  std::istringstream fields(stat.substr(behind_name + 1));
  for (int i = 3; i <= 22; ++i) fields >> word;
  double uptime = 0;
  std::ifstream("/proc/uptime") >> uptime;
  const double age = uptime - std::atof(word.c_str()) / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::time_t began = std::time(nullptr) - static_cast<std::time_t>(age);
  return fmt::format("{:%H:%M:%S}", *std::localtime(&began));
}

/// The other processes that hold a lock on the file.
std::set<int> holders_of(const fs::path& file) {
  std::set<int> holders;
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return holders;
  std::ifstream locks("/proc/locks");  // "1: FLOCK  ADVISORY  WRITE 4711 fe:01:393244 0 EOF"
  for (std::string line; std::getline(locks, line);) {
    std::istringstream text(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(text), {}};
    if (fields.size() < 6 || fields[1] != "FLOCK") continue;
    const int process = std::atoi(fields[4].c_str());
    const auto inode = fields[5].substr(fields[5].rfind(':') + 1);
    if (inode == std::to_string(status.st_ino) && process > 0 && process != getpid()) holders.insert(process);
  }
  return holders;
}

}  // namespace

Lock::~Lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

Lock::Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool Lock::take(const fs::path& file, Kind kind) const {
  if (flock(descriptor_, (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK && errno != EINTR) refuse_to_write(file, errno);  // some network file systems have no locks
  return false;
}

Lock Lock::try_for(const fs::path& file, Kind kind) {
  Lock lock;
  lock.descriptor_ = open_lock(file);
  return lock.take(file, kind) ? std::move(lock) : Lock();
}

Lock Lock::wait_for(const fs::path& file, Kind kind, const std::function<void()>& meanwhile) {
  Lock lock;
  lock.descriptor_ = open_lock(file);
  while (!lock.take(file, kind)) {
    if (interrupted()) throw Error("Interrupted.", exit_code::interrupted);
    meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
}

void Lock::write(const std::string& text) const {
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, text.data(), text.size(), 0) < 0)
    throw Refusal({"batch_cannot_write", {{"file", "lock"}, {"reason", std::strerror(errno)}}}, cannot_lock);
}

fs::path folder_of_locks() {
  const auto below = [](const char* variable, const fs::path& path) {
    const char* value = std::getenv(variable);
    return value && fs::path(value).is_absolute() ? value / path : fs::path();
  };
  for (const fs::path& folder :
       {below("XDG_CACHE_HOME", "odori"), below("HOME", ".cache/odori"), below("XDG_RUNTIME_DIR", "odori")}) {
    // Root that works with another user's HOME leaves nothing of root's there.
    fs::path there = folder;
    std::error_code error;
    while (!there.empty() && !fs::exists(there, error)) there = there.parent_path();
    struct stat status {};
    if (there.empty() || stat(there.c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    fs::create_directories(folder.parent_path(), error);
    mkdir(folder.c_str(), 0700);
    if (is_own_folder(folder)) return folder;
  }
  throw Refusal({"no_folder_for_locks", {}}, cannot_lock);
}

Lock this_machine_for(Lock::Kind kind, const fs::path& folder, const std::function<void()>& meanwhile) {
  // Everybody passes the gate one by one; who waits for a timing waits in it.
  const Lock gate = Lock::wait_for(lock_in(folder, "gate"), Lock::Kind::exclusive, meanwhile);
  return Lock::wait_for(lock_in(folder, "machine"), kind, meanwhile);
}

std::string who_has_this_machine(const fs::path& folder) {
  std::string who;
  for (const char* what : {"machine", "gate"})
    if (who.empty())
      for (const int process : holders_of(lock_in(folder, what)))
        who += fmt::format("{}PID {}, since {}", who.empty() ? "" : "; ", process, beginning_of(process));
  return who;
}

std::string this_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace odori::grader
