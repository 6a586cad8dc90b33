#include "learner/terminal.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace odori::grader {
namespace {

volatile std::sig_atomic_t signal_seen = 0;
void on_signal(int signal) { signal_seen = signal; }

}  // namespace

Terminal::Terminal() : has_keys_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
  if (!has_keys_) return;
  ::tcgetattr(STDIN_FILENO, &before_);
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  // Neither Ctrl-\ nor Ctrl-Z: they would leave the terminal like this.
  keys.c_cc[VQUIT] = keys.c_cc[VSUSP] = _POSIX_VDISABLE;
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

Terminal::~Terminal() {
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::optional<char> Terminal::key(std::chrono::milliseconds wait) {
  if (!has_keys_) {
    std::this_thread::sleep_for(wait);
    return {};
  }
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return {};
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) == 1) return key;
  return 'q';
}

void Terminal::clear() const {
  if (::isatty(STDOUT_FILENO) == 0) return;
  fmt::print("\033[H\033[2J\033[3J");
  std::fflush(stdout);
}

void catch_endings() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

int ending_signal() { return signal_seen; }

}  // namespace odori::grader
