// SPDX-License-Identifier: Apache-2.0
// Writes the reports of the tests' class, of N students, into a folder: what class_report_parse_test.py reads, and a
// person.
//   class_report_write FOLDER N [all]     all: of all tasks, with the optional ones
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "class_report_fixture.h"
#include "classroom/reports/formats.h"
#include "errors/error.h"
#include "report/html.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 3 || argc == 4, "class_report_write takes a folder, how many students, and perhaps \"all\".");
  with_optional_tasks = argc == 4;
  const fs::path folder = argv[1];
  const Course course = course_for_tests();
  const std::vector<StudentRecord> records = class_for_tests(static_cast<std::size_t>(std::atoi(argv[2])));
  const std::string chart_js = read_chart_js();
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<StudentMarks> students = marks_of_class(records, course);
  // Hostile names are no file names: here folders are numbers.
  for (std::size_t i = 0; i < students.size(); ++i) {
    write(folder / "students" / std::to_string(i) / "report.html", student_page(students[i], course));
    write(folder / "students" / std::to_string(i) / "results.json", gradescope_of(students[i], course));
  }
  const auto middle = std::chrono::steady_clock::now();
  write(folder / "report.html", class_page(students, course, chart_js));
  write(folder / "results.json", class_json(students, course));
  write(folder / "marks.csv", csv_of(students, course));
  const auto ms = [](auto duration) { return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count(); };
  fmt::print("{} students: theirs in {} ms, the class's in {} ms\n", students.size(), ms(middle - begin),
             ms(std::chrono::steady_clock::now() - middle));
}
