// SPDX-License-Identifier: Apache-2.0
// The checks of NAME: what the answers return for each test case.
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "NAME_support.h"
#include "checks/findings.h"
#include "files/json.h"

namespace odori::grader {
namespace {

// The first one is the plainest. No value is a flag's default, so that an answer that writes one down fails.
const std::vector<NameUpdate> updates{{8, 3, 1000}, {24, 5, 123456}};

RunPlan plan() {
  nlohmann::json test_cases;
  for (const NameUpdate& update : updates)
    test_cases.push_back({update.batchsize, update.n_devices, update.parameters});
  return {.epochs = 0, .shows = updates.size(), .test_cases = json_text(test_cases)};
}

/// The check that compares value `i` of each test case with the `expected` one.
auto find_in_value(std::size_t i, const char* key, const std::function<double(const NameUpdate&)>& expected) {
  return [=](const Situation& situation) -> Found {
    const auto& ranks = situation.evidence().ranks;
    for (std::size_t n = 0; !ranks.empty() && n < std::min(updates.size(), ranks.front().values.size()); ++n) {
      const std::vector<float>& values = ranks.front().values[n];
      const NameUpdate& update = updates[n];
      if (values.size() == 2 && !same(values[i], expected(update)))
        return found(key, {{"seen", values[i]},
                           {"expected", expected(update)},
                           {"batch", update.batchsize},
                           {"n", update.n_devices},
                           {"parameters", update.parameters}});
    }
    return {};
  };
}

}  // namespace

Exam exam_of_NAME() {
  return {
      {plan()},
      {{1, "AllDevicesImagesCount",
        find_in_value(0, "NAME_images", [](const NameUpdate& u) { return u.batchsize * u.n_devices; })},
       {2, "GradientsAreFloats", find_in_value(1, "NAME_bytes", [](const NameUpdate& u) { return 4 * u.parameters; })},
       {0, "ShowsItsValues", find_no_values},
       {0, "EvidenceIsOfTheProgram", find_forgery}}};
}

}  // namespace odori::grader
