// SPDX-License-Identifier: Apache-2.0
#include "classroom/self_test/arena.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "blanks/blanks.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::uint16_t port = 47613;

/// Living processes of this name.
std::vector<int> processes_named(const std::string& name) {
  std::vector<int> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string stat = read_file(entry.path() / "stat");  // "PID (NAME) STATE ...", Z: it has ended
    if (const auto end = stat.find(" (" + name + ") "); end != std::string::npos && stat[end + name.size() + 4] != 'Z')
      found.push_back(std::stoi(stat));
  }
  return found;
}

std::vector<fs::path> files_named(const std::string& name) {
  return {fs::path("/var/tmp") / name, fs::path("/dev/shm") / name};
}

}  // namespace

Arena::Arena() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  const int one = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  const bool bound = bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  // Another self-test may listen there: its port does as well.
  require(bound ? listen(listener_, 64) == 0 : errno == EADDRINUSE,
          "Nothing can listen on 127.0.0.1 here: attacks on the network can't be tried.");
  setenv("ODORI_INSTRUCTORS_SECRET", "a secret", 1);
  bystander_ = fork();
  if (bystander_ != 0) return;
  execl("/bin/sleep", "odori_bystander", "900", nullptr);
  _exit(127);
}

Arena::~Arena() {
  close(listener_);
  kill(bystander_, SIGKILL);
  waitpid(bystander_, nullptr, 0);
}

bool is_left(const std::string& name) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what is being ended may be seen a moment longer
  for (const fs::path& file : files_named(name))
    if (fs::exists(fs::symlink_status(file))) return true;
  return !processes_named(name).empty();
}

void remove_left(const std::string& name) {
  std::error_code ignored;
  for (const fs::path& file : files_named(name)) fs::remove(file, ignored);
  for (const int process : processes_named(name)) kill(process, SIGKILL);
}

}  // namespace odori::grader
