#include "learner/watch.h"

#include <fmt/core.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "blanks/task.h"
#include "errors/error.h"
#include "learner/commands.h"
#include "learner/saved_files.h"
#include "learner/terminal.h"
#include "learner/watch_view.h"
#include "messages/messages.h"
#include "program/process.h"

namespace odori::grader {
namespace {

using namespace std::chrono_literals;

/// On a terminal that can be drawn on, the verdicts stay at the top, and what a key asks for is below them. Elsewhere
/// all is printed as it comes.
class Watcher {
 public:
  explicit Watcher(const Flags& flags)
      : flags_(flags),
        task_(task_named(flags.task)),
        messages_(flags.kit, language_or_default(flags.language)),
        files_(files_of(flags)),
        colours_(wants_colours()) {
    for (const int blank : task_.judged())
      view_.rows.push_back({.blank = blank, .name = messages_.text(name_key(task_, blank)), .fresh = false});
    view_.footer = keys();
    view_.more = messages_.text("watch_more");
  }

  int run() {
    if (terminal_.has_screen()) fmt::print("{}", std::string(static_cast<std::size_t>(terminal_.size().rows), '\n'));
    check();
    while (!quits_ && ending_signal() == 0) {
      if (files_.saved()) check("watch_saved");
      const auto pressed = terminal_.key(100ms);
      if (pressed) key(*pressed);
      if (running_) hear();
      draw();
    }
    child_.reset();
    say_goodbye();
    return ending_signal() == 0 ? exit_code::ok : 128 + ending_signal();
  }

 private:
  std::vector<std::string> grader(const std::string& command) const {
    return {"/proc/self/exe", command,    flags_.task, "--lang",    messages_.language(),
            "--kit",          flags_.kit, "--build",   flags_.build};
  }

  void check(const char* why = "watch_checking", bool speedup = false) {
    child_.reset();
    asked_for_ = {};
    heard_.clear();
    notes_.clear();
    texts_.clear();
    for (Row& row : view_.rows) row.fresh = false;
    running_ = true;
    began_ = std::chrono::steady_clock::now();
    show({{"", messages_.text(why)}});
    auto arguments = grader("check");
    if (!speedup) arguments.push_back("--no-speedup");
    if (terminal_.has_screen()) arguments.push_back("--feed");
    start(arguments);
  }

  /// Its output goes to this terminal, unless it is laid out here. Ctrl-C reaches the watcher alone, which ends it
  /// then.
  void start(const std::vector<std::string>& arguments) {
    child_.reset();
    child_.emplace(Command{.arguments = arguments, .shown = !terminal_.has_screen(), .grace = 5s});
  }

  /// What it has written since the last call.
  void read_child(std::string& text) { child_->read_into(text, text.max_size(), 0ms); }

  /// What the check has to say by now, and what waited for its end.
  void hear() {
    const bool ended = child_->code().has_value();
    read_child(heard_);
    for (std::size_t end; (end = heard_.find('\n')) != std::string::npos; heard_.erase(0, end + 1))
      take(heard_.substr(0, end));
    if (!ended) return;
    running_ = false;
    show_verdicts();
    print_menu();
    if (const auto waiting = std::exchange(waiting_, {})) key(*waiting);
  }

  /// A line of the check's: a verdict, or something else that it says. What isn't JSON is an error's sentence.
  void take(const std::string& line) {
    const auto told = nlohmann::json::parse(line, nullptr, false);
    if (!told.is_object()) {
      if (!line.empty()) notes_.push_back({"", line});
    } else if (!told.contains("verdict")) {
      notes_.push_back({"", told.value("text", "")});
    } else {
      const int blank = told.value("blank", 0);
      for (Row& row : view_.rows)
        if (row.blank == blank)
          row = {blank, row.name, told["verdict"], told.value("points", 0.0), told.value("of", 0.0), true};
      const std::string key = told.value("key", "");
      texts_[blank] = key == "speedup_not_asked" ? messages_.text("watch_speedup")
                      : key == "speedup_waits"   ? ""  // what it waits for is told
                                                 : told.value("text", "");
      show_verdicts();
    }
  }

  /// Why blanks are wrong, the first one first; the same is said once.
  void show_verdicts() {
    std::vector<Section> sections;
    std::string last;
    int unfilled = 0;
    for (const Row& row : view_.rows) {
      if (row.fresh && row.verdict == name_of(Verdict::unfilled) && unfilled == 0) unfilled = row.blank;
      const std::string text = row.verdict == name_of(Verdict::unfilled) ? "" : texts_[row.blank];
      if (!row.fresh || text.empty() || text == last) continue;
      const std::string number = row.blank == 0 ? "" : fmt::format("{}  ", row.blank);
      sections.push_back({number + row.name, text});
      last = text;
    }
    if (unfilled != 0)
      sections.push_back({"", messages_.text("watch_unfilled", {{"blank", std::to_string(unfilled)}})});
    sections.insert(sections.end(), notes_.begin(), notes_.end());
    show(std::move(sections));
  }

  /// What it asks for waits for the end of a check that is under way; q, c and what moves the text don't.
  void key(char pressed) {
    if (asked_for_) {
      if (pressed == 'y')
        show_solution(*asked_for_);
      else
        show_verdicts();
      asked_for_ = {};
      if (pressed != 'q') return print_menu();
    }
    if (pressed == 'q')
      quits_ = true;
    else if (pressed == 'c')
      check();
    else if (const int lines = lines_of(pressed))
      view_.scroll = std::max(0, view_.scroll + lines);
    else if (!running_)
      act(pressed);
    else if (std::string_view("hros").find(pressed) != std::string_view::npos)
      waiting_ = pressed;
  }

  std::string keys() const {
    return messages_.text(task_.measures_speedup ? "watch_keys" : "watch_keys_without_speedup");
  }

  /// For how many seconds it checks by now, and which key waits for its end.
  std::string progress() const {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_).count();
    const std::string waits = waiting_ ? messages_.text("watch_then", {{"key", std::string(1, *waiting_)}}) : "";
    return fmt::format("{} {} s{}", messages_.text("watch_checking"), seconds, waits);
  }

  /// How far a key moves the text.
  int lines_of(char pressed) const {
    const int rows = terminal_.size().rows - static_cast<int>(view_.rows.size()), page = std::max(1, rows - 5);
    return pressed == 'j' ? 1 : pressed == 'k' ? -1 : pressed == ' ' ? page : pressed == 'b' ? -page : 0;
  }

  void act(char pressed) {
    if (pressed == 'r' && task_.measures_speedup) return check("watch_measuring", true);
    if (pressed == 'o') return ask_for_solution();
    if (pressed == 'h')
      hint();
    else if (pressed == 's')
      show_output(grader("status"), false);
    else
      show_verdicts();
    print_menu();
  }

  void hint() {
    const auto blank = first_not_right(flags_);
    if (!blank) return show({{"", messages_.text("watch_all_right")}});
    show_output({flags_.kit / "grader" / "learner" / "hint.sh", flags_.task, std::to_string(*blank), "--lang",
                 messages_.language()},
                true);
  }

  void ask_for_solution() {
    const auto blank = first_not_right(flags_);
    if (!blank) {
      show_solution({});
      return print_menu();
    }
    asked_for_ = blank;
    show({{"", messages_.text("watch_ask", {{"blank", std::to_string(*blank)}})}});
  }

  void show_solution(std::optional<int> blank) {
    auto arguments = grader("solution");
    if (blank) arguments.insert(arguments.begin() + 3, std::to_string(*blank));
    arguments.push_back("--yes");
    show_output(arguments, false);
  }

  /// What another program prints, which takes a moment only.
  void show_output(const std::vector<std::string>& arguments, bool prose) {
    if (!terminal_.has_screen()) fmt::print("\n");
    std::fflush(stdout);
    start(arguments);
    std::string text;
    while (!child_->code() && ending_signal() == 0) {
      read_child(text);
      std::this_thread::sleep_for(10ms);
    }
    read_child(text);
    child_.reset();
    if (terminal_.has_screen()) show({{"", text, prose}});
  }

  /// Puts this below the verdicts, from its beginning; or prints it.
  void show(std::vector<Section> sections) {
    view_.scroll = 0;
    if (terminal_.has_screen()) {
      view_.sections = std::move(sections);
      return draw();
    }
    for (const Section& section : sections) fmt::print("{}\n", section.text);
    std::fflush(stdout);
  }

  void draw() {
    if (!terminal_.has_screen()) return;
    double points = 0, of = 0;
    for (const Row& row : view_.rows) {
      points += row.points;
      if (row.verdict != name_of(Verdict::inconclusive)) of += row.of;
    }
    view_.title = fmt::format(
        "{}: {}", flags_.task,
        messages_.text("points", {{"points", fmt::format("{:g}", points)}, {"of", fmt::format("{:g}", of)}}));
    if (running_ && of == 0) view_.title = flags_.task + ":";
    view_.title += "  " + (running_ ? progress() : messages_.text("watch_waits"));
    const Terminal::Size size = terminal_.size();
    std::vector<std::string> lines = lay_out(view_, size.columns, size.rows, colours_);
    if (lines == drawn_ && size == drawn_size_) return;
    terminal_.draw(lines);
    drawn_ = std::move(lines);
    drawn_size_ = size;
  }

  /// The verdicts stay where they are; the shell goes on below.
  void say_goodbye() {
    const std::string text = messages_.text("watch_ends", {{"files", files()}});
    if (!terminal_.has_screen()) return fmt::print("\n{}\n", text);
    view_.title = flags_.task;
    view_.footer = text;
    const Terminal::Size size = terminal_.size();
    terminal_.draw(lay_out(view_, size.columns, size.rows - 1, colours_));
    fmt::print("\n");
  }

  void print_menu() {
    if (terminal_.has_screen()) return;
    fmt::print("\n{}\n", messages_.text("watch_waits_for", {{"files", files()}}));
    if (terminal_.has_keys()) fmt::print("{}\n", keys());
    std::fflush(stdout);
  }

  static std::vector<std::filesystem::path> files_of(const Flags& flags) {
    return flags.script.empty() ? std::vector{flags.program} : std::vector{flags.program, flags.script};
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
  bool colours_;
  std::optional<Child> child_;  // the check, or what else prints for this
  WatchView view_;
  std::map<int, std::string> texts_;  // what is said of each blank
  std::vector<Section> notes_;        // what else the check says
  std::string heard_;                 // the beginning of a line of the check's
  std::vector<std::string> drawn_;
  Terminal::Size drawn_size_;
  bool running_ = false, quits_ = false;
  std::chrono::steady_clock::time_point began_;  // the check that runs
  std::optional<char> waiting_;                  // pressed while a check ran
  std::optional<int> asked_for_;                 // the blank whose answer is asked for: the next key says yes or no
};

}  // namespace

int watch(const Flags& flags) {
  catch_endings();
  return Watcher(flags).run();
}

}  // namespace odori::grader
