#include "toy_support.h"

#include "test_cases.h"
#include "trace/show_to_grader.h"

namespace odori {

void show_half(float (*half_of)(float)) {
  const int number = test_cases().is_null() ? 5 : test_cases().get<int>();
  const float half = half_of(static_cast<float>(number));
  show_to_grader("halved", {number});
  show_to_grader({&half, 1});
}

}  // namespace odori
