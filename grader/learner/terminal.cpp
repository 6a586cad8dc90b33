#include "learner/terminal.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

namespace odori::grader {
namespace {

volatile std::sig_atomic_t signal_seen = 0;
void on_signal(int signal) { signal_seen = signal; }

bool can_be_drawn_on() {
  const char* terminal = std::getenv("TERM");
  const std::string_view name = terminal ? terminal : "";
  return !name.empty() && name != "dumb" && name != "unknown";
}

/// What comes behind an escape, as a key; '\0' for what has no meaning here.
char key_of(std::string_view sequence) {
  if (sequence == "[A" || sequence == "OA") return 'k';
  if (sequence == "[B" || sequence == "OB") return 'j';
  if (sequence == "[5~") return 'b';
  return sequence == "[6~" ? ' ' : '\0';
}

}  // namespace

Terminal::Terminal()
    : has_keys_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1),
      has_screen_(has_keys_ && can_be_drawn_on()) {
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
  const auto pressed = next_ ? std::exchange(next_, {}) : byte(wait);
  if (!pressed) return {};
  if (*pressed != '\033') return static_cast<char>(std::tolower(static_cast<unsigned char>(*pressed)));
  // An escape by itself, or the beginning of a key's sequence (ECMA-48): then the rest of it is there already.
  const auto second = byte(std::chrono::milliseconds(0));
  if (second != '[' && second != 'O') {
    next_ = second;
    return '\0';
  }
  std::string sequence(1, *second);
  for (bool ends = false; !ends;) {
    const auto part = byte(std::chrono::milliseconds(0));
    if (part) sequence += *part;
    ends = !part || *second == 'O' || ('@' <= *part && *part <= '~');
  }
  return key_of(sequence);
}

std::optional<char> Terminal::byte(std::chrono::milliseconds wait) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return {};
  char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) == 1 ? byte : 'q';  // no terminal any more
}

Terminal::Size Terminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void Terminal::draw(const std::vector<std::string>& lines) const {
  std::string text = "\033[H";
  for (const std::string& line : lines) text += (&line == &lines.front() ? "" : "\n") + line + "\033[K";
  fmt::print("{}\033[J", text);
  std::fflush(stdout);
}

void catch_endings() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

int ending_signal() { return signal_seen; }

}  // namespace odori::grader
