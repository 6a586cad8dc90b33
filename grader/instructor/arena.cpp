#include "instructor/arena.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <fstream>
#include <random>

#include "errors/error.h"
#include "exercise/blanks.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// "\\e[2J" and "\\n" as they are written in attacks.
std::string with_escapes(std::string text) { return replaced(replaced(std::move(text), "\\e", "\x1b"), "\\n", "\n"); }

struct Process {
  int id, parent;
  std::string name;
};

/// Every living process of this machine.
std::vector<Process> processes() {
  std::vector<Process> all;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string number = entry.path().filename();
    int pid = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), pid).ec != std::errc()) continue;
    const std::string stat = read_file(entry.path() / "stat");  // "PID (NAME) STATE PARENT ..."
    const auto open = stat.find('('), close = stat.rfind(')');
    if (close == std::string::npos || close + 2 >= stat.size() || stat[close + 2] == 'Z') continue;
    all.push_back(
        {pid, std::atoi(stat.c_str() + std::min(close + 4, stat.size())), stat.substr(open + 1, close - open - 1)});
  }
  return all;
}

bool lives(int pid) { return waitpid(pid, nullptr, WNOHANG) == 0; }

/// A process that does nothing, with the token in its arguments, so that looking at it shows.
int start_bystander(const std::string& token) {
  const int pid = fork();
  if (pid != 0) return pid;
  execl("/bin/sleep", token.c_str(), "900", nullptr);
  _exit(127);
}

}  // namespace

Arena::Arena(fs::path folder, fs::path kit, fs::path build)
    : folder_(std::move(folder)), kit_(std::move(kit)), build_(std::move(build)) {
  std::random_device random;
  token_ = fmt::format("token_{:08x}{:08x}", random(), random());
  fs::create_directories(folder_ / "witnesses");
  fs::create_directories(folder_ / "neighbour");
  std::ofstream(folder_ / "secret") << token_ << '\n';
  std::ofstream(folder_ / "neighbour" / "program.cpp") << "// " << token_ << '\n';
  // Whoever attacks is to be kept off by the defences, and not by the rights of these files.
  fs::permissions(folder_ / "witnesses", fs::perms::all);
  listen_on_loopback();
  threads_.emplace_back([this] { watch_processes(); });
}

Arena::~Arena() {
  ends_ = true;
  threads_.clear();
  close(listener_);
  for (const auto& [id, pid] : bystanders_) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  for (const auto& [pid, parent, name] : processes())
    if (names_.contains(name)) kill(pid, SIGKILL);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Arena::prepare(const Attack& attack) {
  const fs::path witness = folder_ / "witnesses" / attack.id();
  fs::create_directories(witness);
  fs::permissions(witness, fs::perms::all);
  if (!bystanders_.contains(attack.id())) bystanders_[attack.id()] = start_bystander(token_);
  const std::lock_guard lock(mutex_);
  names_.insert(filled(attack, attack.witness.text));
}

std::string Arena::filled(const Attack& attack, std::string text) const {
  const auto bystander = bystanders_.find(attack.id());
  const std::map<std::string, std::string> values{
      {"@witness@", (folder_ / "witnesses" / attack.id()).string()},
      {"@secret@", (folder_ / "secret").string()},
      {"@token@", token_},
      {"@id@", attack.id()},
      {"@port@", std::to_string(port_)},
      {"@kit@", kit_.string()},
      {"@build@", build_.string()},
      {"@neighbour@", (folder_ / "neighbour" / "program.cpp").string()},
      {"@bystander@", bystander == bystanders_.end() ? "0" : std::to_string(bystander->second)}};
  for (const auto& [name, value] : values) text = replaced(std::move(text), name, value);
  return text;
}

void Arena::forget(const Attack& attack) {
  const std::string name = filled(attack, attack.witness.text);
  std::error_code ignored;
  if (attack.witness.kind == "file") fs::remove(folder_ / "witnesses" / attack.id() / name, ignored);
  fs::remove_all(folder_ / "witnesses" / attack.id(), ignored);
  if (attack.witness.kind.starts_with("process"))
    for (const auto& [pid, parent, its_name] : processes())
      if (its_name == name) kill(pid, SIGKILL);
  if (const auto bystander = bystanders_.find(attack.id()); bystander != bystanders_.end()) {
    kill(bystander->second, SIGKILL);
    waitpid(bystander->second, nullptr, 0);
    bystanders_.erase(bystander);
  }
  const std::lock_guard lock(mutex_);
  connected_.erase(attack.id());
  most_.erase(name);
  names_.erase(name);
}

bool Arena::succeeded(const Attack& attack, const Seen& seen) {
  const Witness& witness = attack.witness;
  const std::string text = filled(attack, witness.text);
  const auto holds = [](const std::string& shown, const std::string& part) {
    return shown.find(part) != std::string::npos;
  };
  if (witness.kind == "said") return holds(seen.said, text);
  if (witness.kind == "page") return holds(seen.page, with_escapes(text));
  if (witness.kind == "table") return holds(seen.table, with_escapes(text));
  if (witness.kind == "seconds") return seen.seconds > witness.number;
  if (witness.kind == "memory") return seen.megabytes > witness.number;
  if (witness.kind == "killed") return !lives(bystanders_.at(attack.id()));
  if (witness.kind == "file") return fs::exists(fs::symlink_status(folder_ / "witnesses" / attack.id() / text));
  if (witness.kind == "mark")
    return std::any_of(seen.verdicts.begin(), seen.verdicts.end(), [&](const BlankVerdict& verdict) {
      return verdict.blank == witness.number && verdict.verdict == Verdict::pass;
    });
  if (witness.kind == "process") {
    std::this_thread::sleep_for(100ms);  // what is being ended may be seen a moment longer
    const auto all = processes();
    return std::any_of(all.begin(), all.end(), [&](const auto& process) { return process.name == text; });
  }
  const std::lock_guard lock(mutex_);
  if (witness.kind == "connection") return connected_.contains(attack.id());
  return most_[text] >= witness.number;  // "processes"
}

void Arena::listen_on_loopback() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(address);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  require(bind(listener_, place, size) == 0 && listen(listener_, 16) == 0 && getsockname(listener_, place, &size) == 0,
          "Nothing can listen on 127.0.0.1 here: attacks on the network can't be tried.");
  port_ = ntohs(address.sin_port);
  threads_.emplace_back([this] {
    while (!ends_) {
      pollfd wanted{listener_, POLLIN, 0};
      if (poll(&wanted, 1, 100) <= 0) continue;
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      std::array<char, 64> buffer{};
      const timeval patience{.tv_sec = 1, .tv_usec = 0};
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
      const ssize_t n = recv(connection, buffer.data(), buffer.size(), 0);
      close(connection);
      const std::lock_guard lock(mutex_);
      if (n > 0) connected_.insert(std::string(buffer.data(), static_cast<std::size_t>(n)));
    }
  });
}

void Arena::watch_processes() {
  for (; !ends_; std::this_thread::sleep_for(30ms)) {
    // Of one parent's, since a check runs several programs at once, each with a limit of its own.
    std::map<std::pair<std::string, int>, int> now;
    for (const auto& [pid, parent, name] : processes()) ++now[{name, parent}];
    const std::lock_guard lock(mutex_);
    for (const auto& [group, n] : now)
      if (names_.contains(group.first)) most_[group.first] = std::max(most_[group.first], n);
  }
}

}  // namespace odori::grader
