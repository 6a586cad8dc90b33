#include "learner/watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "core/error.h"
#include "exercise/task.h"
#include "learner/saved_files.h"
#include "learner/terminal.h"
#include "learner/words.h"
#include "messages/messages.h"

namespace odori::grader {
namespace {

using namespace std::chrono_literals;

/// Another program that writes to this terminal, in a process group of its own: Ctrl-C reaches the watcher alone, which
/// ends it then.
class Child {
 public:
  ~Child() { stop(); }

  void start(const std::vector<std::string>& words) {
    stop();
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int error = ::posix_spawn(&pid_, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) pid_ = 0;
    require(error == 0, "{} can't be started. Is the kit built? ./odori setup builds it.", words[0]);
  }

  bool runs() {
    if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = 0;
    return pid_ != 0;
  }

  /// As Ctrl-C does; by force, if it takes no notice for 5 s.
  void stop() {
    if (!runs()) return;
    ::kill(pid_, SIGINT);
    for (int i = 0; i < 100 && runs(); ++i) std::this_thread::sleep_for(50ms);
    if (!runs()) return;
    ::kill(-pid_, SIGKILL);
    while (runs()) std::this_thread::sleep_for(10ms);
  }

  void wait() {
    while (runs() && ending_signal() == 0) std::this_thread::sleep_for(10ms);
    stop();
  }

 private:
  pid_t pid_ = 0;
};

class Watcher {
 public:
  explicit Watcher(const Flags& flags)
      : flags_(flags),
        messages_(flags.kit, language_or_default(flags.language)),
        files_({flags.program, flags.script}) {}

  int run() {
    check();
    while (!quits_ && ending_signal() == 0) {
      if (files_.saved()) check("watch_saved");
      const auto pressed = terminal_.key(100ms);
      if (pressed) key(*pressed);
      if (running_ && !child_.runs()) {
        running_ = false;
        print_menu();
        if (const auto waiting = std::exchange(waiting_, {})) key(*waiting);
      }
    }
    child_.stop();
    fmt::print("\n{}\n", messages_.text("watch_ends", {{"files", files()}}));
    return ending_signal() == 0 ? exit_code::ok : 128 + ending_signal();
  }

 private:
  void check(const char* why = "watch_checking", bool speedup = false) {
    child_.stop();
    asked_for_ = {};
    terminal_.clear();
    fmt::print("{}\n", messages_.text(why));
    std::fflush(stdout);
    std::vector<std::string> words{"/proc/self/exe", "check",    flags_.task, "--lang",    messages_.language(),
                                   "--kit",          flags_.kit, "--build",   flags_.build};
    if (!speedup) words.push_back("--no-speedup");
    child_.start(words);
    running_ = true;
  }

  /// What it asks for waits for the end of a check that is under way; q and c don't.
  void key(char pressed) {
    if (asked_for_) {
      if (pressed == 'y') show_solution(*asked_for_);
      asked_for_ = {};
      if (pressed != 'q') return print_menu();
    }
    if (pressed == 'q')
      quits_ = true;
    else if (pressed == 'c')
      check();
    else if (running_)
      waiting_ = pressed;
    else
      act(pressed);
  }

  void act(char pressed) {
    if (pressed == 'r') return check("watch_checking", true);
    fmt::print("\n");
    if (pressed == 'h')
      hint();
    else if (pressed == 's')
      status(flags_);
    else if (pressed == 'o')
      return ask_for_solution();
    print_menu();
  }

  void hint() {
    const auto blank = first_not_right(flags_);
    if (!blank) return fmt::print("{}\n", messages_.text("watch_all_right"));
    std::fflush(stdout);
    child_.start({flags_.kit / "grader" / "hints" / "hint.sh", flags_.task, std::to_string(*blank), "--lang",
                  messages_.language()});
    child_.wait();
  }

  void ask_for_solution() {
    const auto blank = first_not_right(flags_);
    if (!blank) {
      show_solution({});
      return print_menu();
    }
    asked_for_ = blank;
    fmt::print("{}\n", messages_.text("watch_ask", {{"blank", std::to_string(*blank)}}));
    std::fflush(stdout);
  }

  void show_solution(std::optional<int> blank) {
    Flags asked = flags_;
    asked.blank = blank;
    asked.yes = true;
    fmt::print("\n");
    solution(asked);
  }

  void print_menu() {
    fmt::print("\n{}\n", messages_.text("watch_waits", {{"files", files()}}));
    if (terminal_.has_keys()) fmt::print("{}\n", messages_.text("watch_keys"));
    std::fflush(stdout);
  }

  std::string files() const {
    return fmt::format("{}, {}", flags_.program.lexically_relative(flags_.kit).string(),
                       flags_.script.lexically_relative(flags_.kit).string());
  }

  const Flags& flags_;
  Messages messages_;
  SavedFiles files_;
  Terminal terminal_;
  Child child_;
  bool running_ = false, quits_ = false;
  std::optional<char> waiting_;   // pressed while a check ran
  std::optional<int> asked_for_;  // the blank whose answer is asked for: the next key says yes or no
};

}  // namespace

int watch(const Flags& flags) {
  catch_endings();
  return Watcher(flags).run();
}

}  // namespace odori::grader
