// SPDX-License-Identifier: Apache-2.0
#include "NAME_support.h"

#include <fmt/format.h>

#include <array>

#include "observe/hooks.h"
#include "test_cases.h"

namespace odori {

void show_NAME(const NameUpdate& given, int (*images_of_update)(int, int), double (*gradient_bytes)(double)) {
  const auto show = [&](const NameUpdate& update) {
    const int images = images_of_update(update.batchsize, update.n_devices);
    const double bytes = gradient_bytes(update.parameters);
    fmt::print("{} devices, {} images each: an update uses {} images, each device contributes {:.0f} bytes.\n",
               update.n_devices, update.batchsize, images, bytes);
    // Reports the results to the grader. The check reads them in this order.
    observe::on_values(std::array{static_cast<float>(images), static_cast<float>(bytes)});
  };
  if (test_cases().is_null()) return show(given);
  for (const auto& each : test_cases()) show({each.at(0), each.at(1), each.at(2)});
}

}  // namespace odori
