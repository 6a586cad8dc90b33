// SPDX-License-Identifier: Apache-2.0
// An instructor's command: ./odori grade
#include "classroom/self_test/self_test.h"
#include "errors/error.h"
#include "program/program.h"

using namespace odori;

int main(int argc, char** argv) try {
  catch_interrupts();
  const grader::GradeFlags flags = grader::parse_grade_flags(argc, argv);
  return flags.self_test ? grader::self_test(flags) : grader::grade_class(flags);
} catch (...) {
  return report_failure();
}
