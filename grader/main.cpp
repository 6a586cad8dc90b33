// The grader: ./odori check, status, reset, solution, watch, grade
#include <string_view>

#include "errors/error.h"
#include "instructor/grade.h"
#include "instructor/self_test.h"
#include "learner/check.h"
#include "learner/commands.h"
#include "learner/flags.h"
#include "learner/watch.h"
#include "program/program.h"

using namespace odori;

int main(int argc, char** argv) try {
  catch_interrupts();
  if (argc > 1 && std::string_view(argv[1]) == "grade") {
    const grader::GradeFlags flags = grader::parse_grade_flags(argc - 1, argv + 1);
    return flags.self_test ? grader::self_test({flags.kit, flags.build, flags.language, flags.jobs, flags.all})
                           : grader::grade_class(flags);
  }
  const grader::Flags flags = grader::parse_flags(argc, argv);
  if (flags.command == "status") return grader::status(flags);
  if (flags.command == "reset") return grader::reset(flags);
  if (flags.command == "solution") return grader::solution(flags);
  if (flags.command == "watch") return grader::watch(flags);
  if (flags.command == "ready") return grader::ready(flags);
  return grader::check(flags);
} catch (...) {
  return report_failure();
}
