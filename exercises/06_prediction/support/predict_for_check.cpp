// SPDX-License-Identifier: Apache-2.0
#include "prediction_cases.h"
#include "prediction_support.h"
#include "test_cases.h"

namespace odori {

bool predict_for_check(const std::function<Prediction(const Given&)>& predict) {
  for (const auto& each : test_cases()) {
    const auto test_case = each.get<PredictionCase>();
    show(predict({.network = create_network(test_case.network, 10),
                  .other = create_network(test_case.other, 10),
                  .images = test_case.images,
                  .batch = test_case.batch,
                  .per_node = test_case.per_node,
                  .within = cost::link_from(test_case.within),
                  .between = cost::link_from(test_case.between),
                  .small = {test_case.small_batch, test_case.small_seconds},
                  .large = {test_case.large_batch, test_case.large_seconds},
                  .percent = test_case.percent}));
  }
  return !test_cases().is_null();
}

}  // namespace odori
