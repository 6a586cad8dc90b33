#include "checks/checks.h"

namespace odori::grader {

Exam endings_alone(const Task& task) {
  const auto ends_well = [](const Situation& situation) {
    situation.evidence();
    return std::optional<Finding>();
  };
  return {{exam_of(task).situations.front()}, {{0, "EndsWell", ends_well}}};
}

}  // namespace odori::grader
