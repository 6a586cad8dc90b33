// A learner's terminal: single keys, a screen that is drawn anew, and all of it back as it was at the end.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

/// While it lives, keys are read one by one and aren't shown, if standard input and output are a terminal; Ctrl-C still
/// interrupts. Otherwise there are no keys, and nothing is changed.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool has_keys() const { return has_keys_; }
  /// Keys, and a terminal on which lines can be drawn anew.
  bool has_screen() const { return has_screen_; }
  /// A key that is pressed within this time; it waits that long in any case where there are no keys. Arrows up and down
  /// are 'k' and 'j', the keys for a page 'b' and ' '. 'q' if the terminal is gone.
  std::optional<char> key(std::chrono::milliseconds wait);
  struct Size {
    int columns = 80, rows = 24;
    bool operator==(const Size&) const = default;
  };
  Size size() const;
  /// In place of all that stands on the screen. No line may be wider than the screen.
  void draw(const std::vector<std::string>& lines) const;

 private:
  std::optional<char> byte(std::chrono::milliseconds wait);

  bool has_keys_, has_screen_;
  std::optional<char> next_;  // came right behind an escape, and is no part of it
  termios before_{};
};

/// Ctrl-C, SIGTERM and a closed terminal are remembered from now on; otherwise they would end the program before the
/// terminal is as it was.
void catch_endings();
/// The signal that asked this program to end; 0: none.
int ending_signal();

}  // namespace odori::grader
