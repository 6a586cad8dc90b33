// SPDX-License-Identifier: Apache-2.0
#include "learner/print.h"

#include <fmt/color.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "files/json.h"

namespace odori::grader {
namespace {

constexpr int number_columns = 4, name_columns = 34, verdict_columns = 13, points_columns = 5;
constexpr int of_columns = 5;  // " / 20"
constexpr int change_columns = 80;
constexpr std::size_t most_changes = 6;

int terminal_width() {
  winsize size{};
  const int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  return columns > 0 ? std::clamp(columns, 50, 100) : 100;
}

/// Does standard output show colours? NO_COLOR says no, and so do terminals that have none.
bool wants_colours() {
  const char* terminal = std::getenv("TERM");
  const char* none = std::getenv("NO_COLOR");
  if (!isatty(STDOUT_FILENO) || !terminal || (none && *none)) return false;
  const std::string_view name = terminal;
  return !name.empty() && name != "dumb" && name != "unknown" && !name.starts_with("vt") && !name.ends_with("-m");
}

/// Of the terminal's own 16; none for what is neither good nor bad.
std::optional<fmt::terminal_color> colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return fmt::terminal_color::green;
    case Verdict::unfilled:
    case Verdict::missing:
    case Verdict::not_checked:
    case Verdict::inconclusive:
      return {};
    case Verdict::environment:
      return fmt::terminal_color::yellow;
    default:
      return fmt::terminal_color::red;
  }
}

/// 20, or 7.5.
std::string number(double points) { return fmt::format("{:g}", points); }

/// Which of the learner's files a blank is in.
const std::filesystem::path& file_of(const Question& question, int blank) {
  return question.task.is_in_script(blank) ? question.script : question.program;
}

/// Is something told of a run in which the kit's answers stood where the learner's aren't right?
bool tells_of_kits_answers(const Task& task, const std::vector<BlankVerdict>& verdicts) {
  int told = 0, not_right = 0;
  for (const BlankVerdict& verdict : verdicts) {
    if (verdict.blank < 1 || verdict.blank > task.n_program_blanks()) continue;
    told += verdict.verdict == Verdict::wrong || verdict.verdict == Verdict::crash || verdict.verdict == Verdict::hang;
    not_right += verdict.verdict != Verdict::pass;
  }
  return told > 0 && not_right > 1;
}

}  // namespace

Figure in_words(const ShownFigure& shown, const Messages& messages) {
  Figure figure = shown.figure;
  for (std::string* text : {&figure.title, &figure.text, &figure.x_name, &figure.y_name})
    *text = messages.text(*text, shown.values);
  // A page joins lines by blanks, which Japanese doesn't have.
  constexpr int unbroken = 1'000'000;
  figure.text = fmt::format("{}", fmt::join(wrap(figure.text, unbroken, 0), "\n\n"));
  for (Curve& curve : figure.curves) curve.name = messages.text(curve.name, shown.values);
  for (std::string& bar : figure.bars) bar = messages.text(bar, shown.values);
  return figure;
}

Screen::Screen(const Question& question, const Messages& messages)
    : question_(question), messages_(messages), colours_(wants_colours()), width_(terminal_width()) {}

void Screen::say(const std::string& text, int indent) const {
  for (const std::string& line : wrap(text, width_, indent)) fmt::print("{}\n", line);
}

void Screen::left_out(const Submission& submission) {
  if (submission.changes.empty()) return;
  say(messages_.text("left_out", {{"file", submission.path.filename().string()}}), 0);
  for (std::size_t i = 0; i < std::min(submission.changes.size(), most_changes); ++i) {
    const Change& change = submission.changes[i];
    fmt::print("  {}\n", messages_.text(change.removed ? "line_removed" : "line_added",
                                        {{"line", std::to_string(change.line)},
                                         {"text", cut_to(trim(change.text), change_columns, "...")}}));
  }
  if (submission.changes.size() > most_changes)
    fmt::print("  {}\n",
               messages_.text("more_changes", {{"n", std::to_string(submission.changes.size() - most_changes)}}));
  fmt::print("\n");
}

std::string Screen::line_of(const BlankVerdict& verdict) const {
  // On a narrow terminal the space before the points goes first, then the name's end.
  const int spare = width_ - number_columns - name_columns - verdict_columns - of_columns;
  const int before_points = std::clamp(spare, 3, points_columns);
  const int name_room = std::max(name_columns + std::min(spare - before_points, 0), 5);
  const std::string name = messages_.text(name_key(question_.task, verdict.blank));
  std::string judged = padded(name_of(verdict.verdict), verdict_columns);
  const auto colour = colours_ ? colour_of(verdict.verdict) : std::nullopt;
  if (colour) judged = fmt::format(fmt::emphasis::bold | fmt::fg(*colour), "{}", judged);
  return fmt::format("{:>2}  {}{}{:>{}} / {}", verdict.blank == 0 ? " " : std::to_string(verdict.blank),
                     padded(cut_to(name, name_room - 1, "..."), name_room), judged, number(verdict.points),
                     before_points, number(verdict.of));
}

void Screen::verdict(const BlankVerdict& verdict) {
  fmt::print("{}\n", line_of(verdict));
  // What is wrong with a blank's own answer is said below it, even where its neighbour's has the same mistake.
  using enum Verdict;
  const bool is_its_own = verdict.verdict == wrong || verdict.verdict == crash || verdict.verdict == hang;
  gap_ = verdict.finding && (is_its_own || verdict.finding != last_) && verdict.finding->key != "unfilled";
  if (gap_) {
    say(messages_.text(*verdict.finding), 6);
    // A known misconception, and who waited for whom because of it.
    if (const auto hang = hang_behind(verdict)) say(messages_.text(*hang), 6);
    if (verdict.blank != 0 && verdict.verdict != pass && verdict.verdict != environment &&
        verdict.verdict != not_checked)
      say(messages_.text("hint_command", {{"task", question_.task.name}, {"blank", std::to_string(verdict.blank)}}), 6);
    fmt::print("\n");
  }
  last_ = verdict.finding;
  std::fflush(stdout);
}

void Screen::measuring() {
  say(messages_.text("measuring"), 4);
  std::fflush(stdout);
}

void Screen::speedup(const SpeedupStep& step) {
  if (step.line) {
    say(messages_.text(*step.line), 6);
    if (step.line->values.contains("gpus_too_few")) say(messages_.text("on_cores", step.line->values), 6);
    say(messages_.text("beside", step.line->values), 6);
  }
  gap_ = false;
  if (step.counts) say(messages_.text(*step.counts), 6);
  if (!step.timeline.empty()) say(messages_.text("timeline", {{"file", step.timeline.string()}}), 6);
}

void Screen::figure(const Figure& figure, const std::filesystem::path& page) {
  fmt::print("\n");
  say(figure.text, 0);
  const auto columns = [](std::string_view cell) { return static_cast<std::size_t>(width_of(cell)); };
  for (const std::string& line : split_lines(to_table(figure, columns))) fmt::print("    {}\n", line);
  if (!page.empty()) say(messages_.text("figure_page", {{"file", page.string()}}), 0);
  gap_ = false;
}

void Screen::side_by_side(const std::filesystem::path& page) {
  if (page.empty()) return;
  fmt::print("\n");
  say(messages_.text("side_by_side_page", {{"file", page.string()}}), 0);
  gap_ = false;
}

void Screen::summary(const std::vector<BlankVerdict>& verdicts) {
  double points = 0, of = 0;
  const BlankVerdict* next = nullptr;
  bool environment = false;
  for (const BlankVerdict& verdict : verdicts) {
    points += verdict.points;
    if (verdict.verdict != Verdict::inconclusive) of += verdict.of;
    environment |= verdict.verdict == Verdict::environment;
    if (!next && verdict.verdict != Verdict::pass && verdict.verdict != Verdict::inconclusive) next = &verdict;
  }
  if (!gap_) fmt::print("\n");
  if (!environment && tells_of_kits_answers(question_.task, verdicts)) {
    say(messages_.text("judged_one_by_one"), 0);
    fmt::print("\n");
  }
  if (!environment) say(messages_.text("points", {{"points", number(points)}, {"of", number(of)}}), 0);
  if (environment) return say(messages_.text("next_environment", {{"task", question_.task.name}}), 0);
  if (!next) return say(messages_.text("next_done", {{"task", question_.task.name}}), 0);
  if (next->blank == 0) return say(messages_.text("next_speedup", {{"task", question_.task.name}}), 0);
  say(messages_.text("next_blank", {{"task", question_.task.name},
                                    {"blank", std::to_string(next->blank)},
                                    {"file", file_of(question_, next->blank).string()}}),
      0);
}

std::string as_json(const Question& question, const CheckRecord& check, const std::vector<Finding>& flags,
                    const Messages& messages) {
  nlohmann::ordered_json json = json_of(check);
  double points = 0, of = 0;
  for (std::size_t i = 0; i < check.verdicts.size(); ++i) {
    const BlankVerdict& verdict = check.verdicts[i];
    json["verdicts"][i]["name"] = messages.text(name_key(question.task, verdict.blank));
    if (verdict.finding) json["verdicts"][i]["message"] = messages.text(*verdict.finding);
    points += verdict.points;
    if (verdict.verdict != Verdict::inconclusive) of += verdict.of;
  }
  json.update({{"task", question.task.name},
               {"exit_code", exit_code_of(check.verdicts)},
               {"points", points},
               {"of", of},
               {"flags", json_of(flags)}});
  return json_text(json, 2, NotUtf8::replaced) + '\n';
}

}  // namespace odori::grader
