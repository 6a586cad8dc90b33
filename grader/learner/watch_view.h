// What ./odori watch shows: the verdicts, which stay, and below them one thing to read.
#pragma once

#include <string>
#include <vector>

#include "learner/print.h"

namespace odori::grader {

/// A part of what there is to read.
struct Section {
  std::string heading, text;
  bool prose = true;  // its lines may be joined and broken; else they are a table or code
};

struct WatchView {
  std::string title;
  std::vector<Row> rows;
  std::vector<Section> sections;
  int scroll = 0;      // lines of the sections that are above the screen
  std::string footer;  // the keys
  std::string more;    // what leads to the lines that don't fit; {from}, {to} and {of} are in it
};

/// The lines of a screen of this size, none wider and never more. Where they don't fit, the sections give way first,
/// then the footer. Corrects `scroll`, so that the last screenful is the end.
std::vector<std::string> lay_out(WatchView& view, int columns, int rows, bool colours);

}  // namespace odori::grader
