// SPDX-License-Identifier: Apache-2.0
// An instructor's command: ./odori grade
#include <cstdio>

#include "classroom/grade.h"
#include "classroom/self_test/self_test.h"
#include "errors/error.h"
#include "errors/text.h"
#include "flags/command_line.h"
#include "program/program.h"

using namespace odori;
using namespace odori::grader;

namespace {

GradeFlags parse_grade_flags(int argc, char** argv) {
  GradeFlags flags{.kit = ODORI_FOLDER, .build = ODORI_BUILD_FOLDER};
  bool unsafe = false;
  std::string element;

  CommandLine line("Marks a class: a folder, .zip or .tar with a folder or an archive a student.", "./odori grade",
                   argc, argv);
  line.add_option("submissions", flags.submissions, "What the students submitted");
  line.add_option(
      "--out", flags.out,
      "The folder for the marks and all reports, with the class's settings (course.json, overrides.csv); a batch that "
      "was stopped goes on there");
  line.add_option("--jobs", flags.jobs, "Answers that are marked at once; without it, as many as there are cores")
      .check(line.whole_number(1, 1024));
  line.add_flag("--unsafe", unsafe, "Without a sandbox around submissions: for your own files, or where you trust all");
  line.add_option("--students", flags.students, "These students alone, by folder, name, e-mail address or number: A,B")
      .delimiter(',')
      .take_all();
  line.add_flag("--regrade", flags.regrade, "Mark again, show what would change, and change nothing");
  line.add_flag("--apply", flags.apply, "With --regrade: take what the last one has shown");
  line.add_flag(
      "--anonymous", flags.anonymous,
      "Also write RESULTS/anonymous, the pages with codes in place of names, and anonymous.csv, which has the names");
  line.add_flag("--submit", flags.submit,
                "Mark on the cluster, by an array job of PBS or Slurm with at most --jobs elements (100)");
  line.add_flag("--nice", flags.nice, "Run at the lowest priority, for a login node");
  line.add_option("--memory", flags.memory,
                  "GiB for all answers, from 4: at most a quarter as many answers are marked at once. What one command "
                  "of an answer "
                  "may use is limited by the sandbox, and by nothing with --unsafe")
      .check(line.whole_number(4, 1 << 16));
  line.add_option("--element", element, "For the array job: which of its elements this is, as 3/100").hidden();
  line.add_flag("--self-test", flags.self_test,
                "Does the grader hold on this machine? Marks answers and attacks of its own");
  line.add_flag("--all", flags.all,
                "With --self-test: also the attacks that are stopped in the same way on every machine");
  line.add_option("--kit", flags.kit, "The kit's folder").capture_default_str();
  line.add_option("--build", flags.build, "The folder that the kit is built in").capture_default_str();
  line.parse();
  const auto refuse = [&](const Text& sentence) { throw UsageError(line.say(sentence)); };
  if (flags.all && !flags.self_test)
    refuse({"--all goes with --self-test.", "--all は --self-test と一緒に使います。"});
  if (!flags.self_test && flags.out.empty())
    refuse({"Where to? ./odori grade SUBMISSIONS --out RESULTS",
            "結果をどこに書きますか。./odori grade 提出物 --out 結果のフォルダ"});
  if (!element.empty() && (std::sscanf(element.c_str(), "%d/%d", &flags.element, &flags.elements) != 2 ||
                           flags.element < 1 || flags.element > flags.elements))
    refuse({"--element takes the number of an element and how many there are, as 3/100.",
            "--element には、要素の番号と要素数を 3/100 のように指定してください。"});
  if (flags.submit && flags.regrade)
    refuse(
        {"--regrade marks here, without --submit.", "--regrade はこのマシンで採点します。--submit は付けられません。"});
  if (flags.apply && !flags.regrade)
    refuse({"--apply goes with --regrade: it takes what that has shown.",
            "--apply は --regrade と一緒に使います。--regrade が示した変更を反映します。"});
  if (flags.submissions.empty() && !flags.apply && !flags.self_test)
    refuse({"Which submissions? ./odori grade SUBMISSIONS --out RESULTS",
            "どの提出物ですか。./odori grade 提出物 --out 結果のフォルダ"});
  for (std::string& student : flags.students) student = std::string(trim(student));  // "A, B"
  for (std::filesystem::path* folder : {&flags.kit, &flags.build}) *folder = std::filesystem::absolute(*folder);
  flags.sandbox = !unsafe;
  return flags;
}

}  // namespace

int main(int argc, char** argv) try {
  catch_interrupts();
  const GradeFlags flags = parse_grade_flags(argc, argv);
  return flags.self_test ? self_test(flags) : grade_class(flags);
} catch (...) {
  return report_failure();
}
