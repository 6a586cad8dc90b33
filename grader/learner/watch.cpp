// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <thread>
#include <utility>

#include "blanks/task.h"
#include "errors/error.h"
#include "learner/commands.h"
#include "learner/saved_files.h"
#include "learner/waiting_line.h"
#include "messages/messages.h"
#include "program/process.h"
#include "program/program.h"

namespace odori::grader {
namespace {

using namespace std::chrono_literals;

constexpr char saved = '\0';  // stands for a save among the keys

/// While it lives, keys are read one by one and not shown, if standard input and output are a terminal. Ctrl-C still
/// interrupts. Otherwise there are no keys, and nothing is changed.
class Terminal {
 public:
  Terminal() : has_keys_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
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
  ~Terminal() {
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool has_keys() const { return has_keys_; }

  /// Returns a key that is pressed within this time; 'q' if the terminal is gone. Waits that long if there are no keys.
  std::optional<char> key(std::chrono::milliseconds wait) {
    if (!has_keys_) {
      std::this_thread::sleep_for(wait);
      return {};
    }
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return {};
    char bytes[32];  // an arrow key sends several at once: the first one counts
    if (::read(STDIN_FILENO, bytes, sizeof bytes) <= 0) return 'q';
    if (bytes[0] == saved) return {};  // Ctrl-Space
    return static_cast<char>(std::tolower(static_cast<unsigned char>(bytes[0])));
  }

  void clear() const {
    if (has_keys_ && can_erase_lines()) fmt::print("\033[H\033[2J");
  }

 private:
  bool has_keys_;
  termios before_{};
};

/// Runs one command after another, whose output goes to the terminal, and prints the keys below it.
class Watcher {
 public:
  explicit Watcher(const Flags& flags)
      : flags_(flags),
        task_(task_named(flags.task)),
        messages_(flags.kit, language()),
        files_(flags.script.empty() ? std::vector{flags.program} : std::vector{flags.program, flags.script}) {}

  int run() {
    while (asked_ != 'q' && !interrupted()) {
      if (!asked_) asked_ = next(100ms);
      if (asked_ && asked_ != 'q') act(*std::exchange(asked_, {}));
    }
    fmt::print("\n{}\n", messages_.text("watch_ends", {{"files", files()}}));
    return interrupted() ? exit_code::interrupted : exit_code::ok;
  }

 private:
  std::optional<char> next(std::chrono::milliseconds wait) {
    return files_.saved() ? std::optional(saved) : terminal_.key(wait);
  }

  void act(char key) {
    switch (key) {
      case 'c':
        check(nullptr, false);
        break;
      case saved:
        check("watch_saved", false);
        break;
      case 'r':
        if (!task_.measures_speedup) return;
        check("watch_measuring", true);
        break;
      case 's':
        show_verdicts();
        break;
      case 'h':
        show_hint();
        break;
      case 'o':
        show_solution();
        break;
      default:
        return;
    }
    if (!asked_) print_keys();
  }

  /// Remembers what is asked for while a check runs, and shows a key that has to wait for its end.
  void take(char key) {
    const bool waits = key == 'h' || key == 's' || key == 'o' || (key == 'r' && task_.measures_speedup);
    if (!waits && key != saved && key != 'q' && key != 'c') return;
    asked_ = key;
    if (!waits) return;
    fmt::print("{}{}\n", can_erase_lines() ? "\r\033[K" : "",
               messages_.text("watch_then", {{"key", std::string(1, key)}}));
    std::fflush(stdout);
  }

  /// A save and the keys q and c end it. Other keys wait for its end.
  void check(const char* why, bool speedup) {
    terminal_.clear();
    if (why) fmt::print("{}\n", messages_.text(why));
    std::fflush(stdout);
    std::vector<std::string> arguments{"/proc/self/exe", "check",   flags_.task,          "--kit",
                                       flags_.kit,       "--build", flags_.build.string()};
    if (!speedup) arguments.push_back("--no-speedup");
    const auto gives_up = [this] {
      if (const auto pressed = next(0ms)) take(*pressed);
      return asked_ == saved || asked_ == 'q' || asked_ == 'c';
    };
    run_process({.arguments = arguments, .shown = true, .grace = 5s}, {.time = {}, .give_up = gives_up});
  }

  /// The verdicts, which stay above what is printed next.
  void show_verdicts() {
    terminal_.clear();
    status(flags_);
    fmt::print("\n");
    std::fflush(stdout);
  }

  void show_hint() {
    show_verdicts();
    if (const auto blank = first_not_right(flags_))
      run_process({.arguments = {flags_.kit / "grader" / "learner" / "hint.sh", flags_.task, std::to_string(*blank)},
                   .shown = true});
    else
      fmt::print("{}\n", messages_.text("watch_all_right"));
  }

  /// Of the first blank that isn't right, if the learner says yes; of all if they are right.
  void show_solution() {
    Flags flags = flags_;
    flags.yes = true;
    flags.blank = first_not_right(flags_);
    show_verdicts();
    std::optional<char> answer;
    if (flags.blank) {
      fmt::print("{}\n", messages_.text("watch_ask", {{"blank", std::to_string(*flags.blank)}}));
      std::fflush(stdout);
      while (!answer && !interrupted()) answer = terminal_.key(100ms);
    }
    if (!flags.blank || answer == 'y') solution(flags);
  }

  void print_keys() {
    fmt::print("\n{}\n", messages_.text("watch_waits_for", {{"files", files()}}));
    if (terminal_.has_keys())
      fmt::print("{}\n", messages_.text(task_.measures_speedup ? "watch_keys" : "watch_keys_without_speedup"));
    std::fflush(stdout);
  }

  std::string files() const {
    const std::string program = flags_.program.lexically_relative(flags_.kit);
    if (flags_.script.empty()) return program;
    return messages_.text("watch_files",
                          {{"program", program}, {"script", flags_.script.lexically_relative(flags_.kit).string()}});
  }

  const Flags& flags_;
  const Task& task_;
  Messages messages_;
  SavedFiles files_;
  Terminal terminal_;
  std::optional<char> asked_ = 'c';  // a key, or `saved`, to act on next
};

}  // namespace

int watch(const Flags& flags) { return Watcher(flags).run(); }

}  // namespace odori::grader
