// SPDX-License-Identifier: Apache-2.0
// What a training of task 4 is given, and the rates that follow from it.
#pragma once

#include "checks/findings.h"

namespace odori::grader::large_batch {

struct Given {
  int m = 1, ranks = 1, batch = 1, base_batch = 1, warmup_epochs = 0, updates_of_epoch = 1;
  bool sum = false;
  double base = 0, k = 1;

  int end_of_warm_up() const { return warmup_epochs * updates_of_epoch; }
  double scaled() const { return base * k; }
  /// Of the mean.
  double rate(int update) const {
    const int end = end_of_warm_up();
    return update < end ? base + (scaled() - base) * update / end : scaled();
  }
  int n() const { return m * ranks; }
  /// What the sum is of.
  int summed() const { return sum ? n() : 1; }
};

/// Of a plan that trains.
Given given_of(const Situation& situation);

/// Of several training runs in a program, the last one is judged.
bool came_to_the_last(const Situation& situation);

}  // namespace odori::grader::large_batch
