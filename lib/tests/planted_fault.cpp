// SPDX-License-Identifier: Apache-2.0
// A library with a fault of each kind that sanitizers look for: planted_faults_test.sh sees whether they find it.
#include "planted_fault.h"

#include <limits>
#include <memory>
#include <thread>
#include <vector>

// Nothing of this may be known while it is compiled.
volatile int none = 0;

void plant(std::string_view fault) {
  if (fault == "outside of a buffer") {
    const std::vector<float> numbers(4);
    none = static_cast<int>(numbers.data()[4 + none]);
  } else if (fault == "overflow") {
    none = std::numeric_limits<int>::max() - none + 1;
  } else if (fault == "leak") {
    none = std::make_unique<std::vector<int>>(100).release()->at(0);
  } else if (fault == "race") {
    int shared = 0;
    const auto add = [&] {
      for (int i = 0; i < 1000; ++i) shared += 1 + none;
    };
    std::thread other(add);
    add();
    other.join();
    none = shared;
  }
}
