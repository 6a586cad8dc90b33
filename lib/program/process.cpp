// SPDX-License-Identifier: Apache-2.0
#include "program/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "errors/error.h"
#include "errors/language.h"
#include "program/program.h"
#include "program/usage.h"

extern char** environ;  // NOLINT: POSIX has it so

namespace odori {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int not_found = 127;

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (name != "ODORI_LANG" && !command.environment.contains(name)) all.push_back(text);
  }
  const std::string asked = asked_language();
  if (!asked.empty() && !command.environment.contains("ODORI_LANG")) all.push_back("ODORI_LANG=" + asked);
  for (const auto& [name, value] : command.environment)
    if (!value.empty()) all.push_back(name + '=' + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& word : arguments) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Nobody's once this process has ended: closed by exec in whatever it starts.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("No pipe could be made: {}.", std::strerror(errno));
  return ends;
}
constexpr std::array no_pipe{-1, -1};

[[noreturn]] void become(const Command& command, const std::vector<char*>& argv, const std::vector<char*>& envp,
                         int input, int output, pid_t parent) {
  if (!command.foreground) setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // should this process be killed itself
  if (getppid() != parent) _exit(not_found);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  if (!command.foreground) dup2(input < 0 ? open("/dev/null", O_RDONLY) : input, STDIN_FILENO);
  if (!command.shown) dup2(output, STDOUT_FILENO), dup2(output, STDERR_FILENO);
  if (!command.inherits_descriptors) close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  if (command.before) command.before();
  if (command.folder.empty() || chdir(command.folder.c_str()) == 0) execvpe(argv[0], argv.data(), envp.data());
  _exit(not_found);
}

}  // namespace

int Ended::count(const std::string& text) const {
  int n = 0;
  for (auto at = output.find(text); at != std::string::npos; at = output.find(text, at + 1)) ++n;
  return n;
}

bool Ended::killed_from_outside() const {
  if (stopped) return false;
  return code == 128 + SIGKILL || code == 128 + SIGTERM || code == 128 + SIGINT || code == 128 + SIGHUP;
}

std::string end_of(const std::string& output) {
  const auto last = output.find_last_not_of(" \n");
  if (last == std::string::npos) return {};
  auto begin = last + 1;
  for (int line = 0; line < 6 && begin != std::string::npos && begin > 0; ++line) begin = output.rfind('\n', begin - 1);
  begin = begin == std::string::npos ? 0 : begin;
  return output.substr(begin, last + 1 - begin);
}

Child::Child(const Command& command) : foreground_(command.foreground), grace_(command.grace) {
  const std::array<int, 2> ends = command.shown ? no_pipe : make_pipe(),
                           life = command.lifeline ? make_pipe() : no_pipe;
  // All that allocates is done before fork(): other threads of this process may hold the allocator's lock.
  std::vector<std::string> arguments = command.arguments, environment = environment_of(command);
  const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(environment);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(command, argv, envp, life[0], ends[1], parent);
  close(ends[1]);
  close(life[0]);
  output_ = ends[0];
  lifeline_ = life[1];
  if (pid_ < 0) close(output_), close(lifeline_);
  require(pid_ > 0, "{} can't be started: {}.", command.arguments[0], std::strerror(errno));
  fcntl(output_, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  end();
  close(output_);
  close(lifeline_);
}

void Child::read_into(std::string& text, std::size_t most, std::chrono::milliseconds wait) {
  pollfd wanted{output_, POLLIN, 0};
  if (poll(&wanted, 1, static_cast<int>(wait.count())) > 0 && (wanted.revents & POLLHUP) != 0 &&
      (wanted.revents & POLLIN) == 0)
    std::this_thread::sleep_for(5ms);  // it has closed its output, and goes on without
  std::array<char, 1 << 16> buffer;
  for (ssize_t n; (n = read(output_, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), std::min(static_cast<std::size_t>(n), most - std::min(most, text.size())));
}

std::optional<int> Child::code() {
  int status = 0;
  if (!code_ && waitpid(pid_, &status, WNOHANG) == pid_)
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

bool Child::ends_within(std::chrono::milliseconds time) {
  for (const auto deadline = Clock::now() + time; !code() && Clock::now() < deadline;)
    std::this_thread::sleep_for(10ms);
  return code_.has_value();
}

/// mpirun is asked first, since it tells its ranks in order; each rank is in a process group of its own, but in this
/// session.
void Child::end() {
  if (foreground_ && interrupted()) ends_within(2s);  // a terminal's Ctrl-C has reached it, and a second one is rude
  if (!code()) {
    kill(pid_, SIGTERM);
    if (!ends_within(grace_) && foreground_) kill(pid_, SIGKILL);
  }
  for (int round = 0; !foreground_ && round < 100 && kill_session() > 0; ++round) std::this_thread::sleep_for(10ms);
  if (!code_) waitpid(pid_, nullptr, 0), code_ = 128 + SIGKILL;
}

/// How many living processes of the session were sent SIGKILL.
int Child::kill_session() const {
  int killed = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc() || pid == getpid()) continue;
    std::string stat;
    std::getline(std::ifstream(entry.path() / "stat"), stat);
    const auto behind_name = stat.rfind(')');  // "PID (NAME) STATE PPID GROUP SESSION ..."
    char state = 0;
    int ppid = 0, group = 0, session = 0;
    if (behind_name == std::string::npos ||
        std::sscanf(stat.c_str() + behind_name + 1, " %c %d %d %d", &state, &ppid, &group, &session) != 4)
      continue;
    if (session == pid_ && state != 'Z') kill(pid, SIGKILL), ++killed;
  }
  return killed;
}

Ended run_process(const Command& command, const Limits& limits) {
  const auto begin = Clock::now();
  Ended ended;
  Child child(command);
  if (limits.started) limits.started(child.id());
  while (!child.code()) {
    child.read_into(ended.output, limits.output_bytes, 50ms);
    if (interrupted()) throw Error(Text{"Interrupted.", "中断しました。"}, exit_code::interrupted);
    ended.stopped = (limits.time && Clock::now() - begin > *limits.time) || (limits.give_up && limits.give_up()) ||
                    (limits.processor_time && usage_of(child.id()).processor_time > *limits.processor_time);
    if (ended.stopped) break;
  }
  child.end();
  child.read_into(ended.output, limits.output_bytes, 50ms);
  ended.code = *child.code();
  ended.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return ended;
}

int run_in_foreground(const std::vector<std::string>& arguments) {
  return run_process({.arguments = arguments, .shown = true, .foreground = true, .grace = 10s}, {.time = {}}).code;
}

}  // namespace odori
