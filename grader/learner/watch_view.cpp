#include "learner/watch_view.h"

#include <algorithm>

#include "blanks/blanks.h"
#include "blanks/utf8.h"

namespace odori::grader {
namespace {

/// The line in pieces that fit: broken at a blank, if one is in the second half.
std::vector<std::string> fold(const std::string& line, int columns) {
  std::vector<std::string> pieces{""};
  for (std::size_t at = 0; at < line.size();) {
    const std::string character = line.substr(at, character_at(line, at).second);
    at += character.size();
    if (!pieces.back().empty() && width_of(pieces.back() + character) > columns) {
      std::string word;
      if (const auto blank = pieces.back().rfind(' '); blank != std::string::npos && 2 * blank > pieces.back().size()) {
        word = pieces.back().substr(blank + 1);
        pieces.back().resize(blank);
      }
      pieces.push_back(std::move(word));
    }
    pieces.back() += character;
  }
  return pieces;
}

void add_folded(const std::vector<std::string>& lines, int columns, std::vector<std::string>& to) {
  for (const std::string& line : lines)
    for (std::string& piece : fold(line, columns)) to.push_back(std::move(piece));
}

/// With the empty lines between paragraphs where they stand by themselves; below a heading without.
std::vector<std::string> wrapped(const Section& section, int columns) {
  if (!section.heading.empty()) return wrap(section.text, columns, 4);
  std::vector<std::string> lines;
  std::string rest = section.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("\n\n"), rest.size());
    for (std::string& line : wrap(rest.substr(0, end), columns, 0)) lines.push_back(std::move(line));
    lines.emplace_back();
    rest.erase(0, end + 2);
  }
  return lines;
}

std::vector<std::string> lines_of(const std::vector<Section>& sections, int columns) {
  std::vector<std::string> lines;
  for (const Section& section : sections) {
    if (!lines.empty()) lines.emplace_back();
    if (!section.heading.empty()) add_folded({section.heading}, columns, lines);
    add_folded(section.prose ? wrapped(section, columns) : split_lines(section.text), columns, lines);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string more_of(const std::string& text, int from, int to, std::size_t of) {
  return replaced(replaced(replaced(text, "{from}", std::to_string(from)), "{to}", std::to_string(to)), "{of}",
                  std::to_string(of));
}

}  // namespace

std::vector<std::string> lay_out(WatchView& view, int columns, int rows, bool colours) {
  std::vector<std::string> lines{fold(view.title, columns).front()};
  for (const Row& row : view.rows) lines.push_back(line_of(row, columns, colours));

  const std::vector<std::string> footer = wrap(view.footer, columns, 0), text = lines_of(view.sections, columns);
  const int room = rows - static_cast<int>(lines.size() + footer.size()) - 1, n = static_cast<int>(text.size());
  const bool fits = n <= room;
  const int shown = fits ? n : room - 1;  // one line says that there is more
  view.scroll = fits || shown < 1 ? 0 : std::clamp(view.scroll, 0, n - shown);
  if (shown > 0) {
    lines.emplace_back();
    lines.insert(lines.end(), text.begin() + view.scroll, text.begin() + view.scroll + shown);
    const int last = view.scroll + shown;
    if (!fits) lines.push_back(fold(more_of(view.more, view.scroll + 1, last, text.size()), columns).front());
  }
  const std::size_t height = static_cast<std::size_t>(std::max(rows, 1));
  if (lines.size() + footer.size() <= height) {
    lines.resize(height - footer.size());
    lines.insert(lines.end(), footer.begin(), footer.end());
  }
  lines.resize(std::min(lines.size(), height));
  return lines;
}

}  // namespace odori::grader
