// SPDX-License-Identifier: Apache-2.0
#include "asynchronous_cases.h"
#include "observe/hooks.h"
#include "test_cases.h"
#include "virtual_run.h"

namespace odori {
namespace {

void show(const QuadraticRun& asked, const Functions& functions) {
  std::vector<float> values{0};
  const auto add = [&](auto value) { values.push_back(static_cast<float>(value)); };
  VirtualRun one{.parameters = asked.parameters,
                 .version = asked.version,
                 .seconds = asked.seconds,
                 .gradients = asked.gradients,
                 .settings = {asked.rate, asked.rate_by_staleness, asked.bound}};
  one.gradient_at = [&](int, std::span<const float> parameters) {
    std::vector<float> gradient(parameters.begin(), parameters.end());
    for (std::size_t i = 0; i < gradient.size() && i < asked.curvature.size(); ++i) gradient[i] *= asked.curvature[i];
    return gradient;
  };
  one.applied = [&](const Update& update, const Server& server, const Gradient& gradient) {
    add(update.worker), add(update.fetched), add(update.arrived), add(update.version);
    add(update.staleness), add(update.rate), add(update.new_version);
    values.insert(values.end(), gradient.values.begin(), gradient.values.end());
    values.insert(values.end(), server.parameters.begin(), server.parameters.end());
  };
  if (!run(one, functions)) values.front() = 1;
  observe::on_values(values);
}

}  // namespace

bool run_test_cases(const Functions& functions) {
  if (test_cases().is_null()) return false;
  const auto cases = test_cases().get<AsynchronousCases>();
  for (const QuadraticRun& one : cases.runs) show(one, functions);
  for (const WaitCase& one : cases.waits) {
    std::vector<float> values;
    for (int worker = 0; worker < static_cast<int>(one.clocks.size()); ++worker)
      values.push_back(functions.must_wait(worker, one.clocks, one.bound) ? 1.0f : 0.0f);
    observe::on_values(values);
  }
  for (const RateCase& one : cases.rates) {
    const auto rate = static_cast<float>(functions.rate_for(one.rate, one.staleness));
    observe::on_values(std::span(&rate, 1));
  }
  for (const LogCase& one : cases.logs) {
    std::vector<LogEntry> log;
    for (const std::vector<double>& entry : one.log)
      log.push_back({static_cast<int>(entry.at(0)), entry.at(1), entry.at(2)});
    std::vector<float> values;
    for (const double accuracy : one.accuracies)
      values.push_back(static_cast<float>(functions.seconds_to(accuracy, log)));
    observe::on_values(values);
  }
  return true;
}

}  // namespace odori
