// SPDX-License-Identifier: Apache-2.0
// Writes the exercise of a solution with its first blanks filled in, as a learner who has come that far has it.
//
//   odori_fill_blanks SOLUTION N EXERCISE        the first N blanks hold the solution's text
#include <fstream>

#include "blanks/blanks.h"
#include "blanks/cutter.h"
#include "errors/error.h"
#include "program/program.h"

using namespace odori;
using namespace odori::grader;

int main(int argc, char** argv) try {
  if (argc != 4) throw UsageError("odori_fill_blanks SOLUTION N EXERCISE");
  const std::string solution = read_file(argv[1]);
  const auto answers = parse_blanks(split_lines(solution), argv[1]);
  auto lines = split_lines(cut(solution, argv[1]));
  for (int i = std::stoi(argv[2]) - 1; i >= 0; --i)
    lines = with_text(lines, parse_blanks(lines, argv[3]).at(i), answers.at(i).text);
  std::ofstream exercise(argv[3]);
  exercise << join_lines(lines);
  require(bool(exercise.flush()), "{} can't be written.", argv[3]);
  return 0;
} catch (...) {
  return report_failure();
}
