// RESULTS/results.json: the whole class, for programs.
//
//   {"title": "...", "date": "...",
//    "progress": {"tasks": 200, "marked": 190, "ungraded": 1, "absent": 4, "waiting": 5},
//    "statistics": {"students": 95, "mean_percent": 71.2, "median_percent": 80},      (null where nobody has a mark)
//    "blanks": [{"task": "multi_gpu", "blank": 1, "of": 20, "mean_points": 12.5, "verdicts": {"PASS": 60, "WRONG": 35}}
//    ...], "misconceptions": [{"task": "multi_gpu", "blank": 1, "verdict": "WRONG", "key": "...", "message": "...",
//    "students": [...]} ...], "students": [{"name": "...", "folder": "...", "points": 140, "of": 200, "needs_look":
//    false,
//                  "tasks": {"multi_gpu": {"state": "marked", "points": 100, "of": 100, "timed": true, "attempts": 1,
//                  "seconds": 3.2,
//                                          "reason": null, "flags": [{"key", "values", "message"} ...],
//                                          "verdicts": [{"blank", "verdict", "points", "of", "counts", "key", "values",
//                                          "message"} ...], "speedup": {...} or null, "left_out": 0}}} ...]}
//
// Blank 0 is the speedup; a misconception about the file as such has null. Points are null where there is no mark.
// Messages are English.
#pragma once

#include <span>
#include <string>

#include "classroom/reports/marks.h"

namespace odori::grader {

std::string class_json(std::span<const StudentMarks> students, const Course& course);

}  // namespace odori::grader
