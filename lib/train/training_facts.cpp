// SPDX-License-Identifier: Apache-2.0
#include "train/training_facts.h"

#include <vector>

#include "train/trainer.h"

namespace odori::observe {
namespace {

facts::Iterator facts_of(const SerialIterator& iterator) {
  facts::Iterator seen{.batch_size = iterator.batch_size(), .repeat = iterator.repeat()};
  for (std::size_t i = 0; i < iterator.dataset()->size(); ++i) {
    const Example example = (*iterator.dataset())[i];
    (example.counted ? seen.images : seen.not_counted).push_back(example.id);
  }
  return seen;
}

std::vector<facts::Iterator> facts_of(std::span<const SerialIterator> iterators) {
  std::vector<facts::Iterator> seen;
  for (const SerialIterator& iterator : iterators) seen.push_back(facts_of(iterator));
  return seen;
}

std::vector<facts::NamedDevice> facts_of(const std::map<std::string, int>& devices) {
  std::vector<facts::NamedDevice> seen;
  for (const auto& [name, id] : devices) seen.push_back({name, id});
  return seen;
}

template <typename Fact>
std::optional<Fact> validation_in(const std::map<std::string, double>& observation) {
  const auto loss = observation.find("validation/main/loss"), accuracy = observation.find("validation/main/accuracy");
  if (loss == observation.end() || accuracy == observation.end()) return {};
  return Fact{loss->second, accuracy->second};
}

}  // namespace

void on_updater_made(const char* kind, std::span<const SerialIterator> iterators) {
  if (enabled()) on_fact(facts::Updater{kind, facts_of(iterators)});
}

void on_evaluator_made(const SerialIterator& iterator, int device) {
  if (enabled()) on_fact(facts::Evaluator{device, facts_of(iterator)});
}

void on_devices_named(const std::map<std::string, int>& devices) {
  if (enabled()) on_fact(facts::Devices{facts_of(devices)});
}

void on_training_begun(Trainer& trainer) {
  if (!enabled()) return;
  Updater& updater = trainer.updater();
  facts::Training seen{.kind = updater.kind(), .iterators = facts_of(std::span(updater.iterators()))};
  if (const auto& devices = updater.devices(); !devices.empty()) seen.devices = facts_of(devices);
  for (const Classifier* model : updater.models()) seen.models.push_back(model->device().id());
  for (const auto& extension : trainer.extensions())
    if (const auto evaluated = extension->evaluated())
      seen.evaluators.push_back({evaluated->model.device().id(), facts_of(evaluated->iterator)});
  on_fact(seen);
}

void on_update_done(Updater& updater) {
  if (!enabled()) return;
  for (const Classifier* model : updater.models()) {
    std::vector<float> plain;
    if (wants_parameters())
      for (const auto& parameter : model->state().parameters)
        plain.insert(plain.end(), parameter.begin(), parameter.end());
    on_step(model, model->device().id(), plain);
  }
  on_update_done();
}

void on_evaluation(const Metrics& metrics) {
  if (enabled()) on_fact(facts::Evaluation{metrics.loss(), metrics.accuracy(), metrics.samples});
}

void on_observation(const std::map<std::string, double>& observation) {
  if (!enabled()) return;
  if (const auto seen = validation_in<facts::Observation>(observation)) on_fact(*seen);
}

void on_report(const std::map<std::string, double>& observation) {
  if (!enabled()) return;
  if (const auto seen = validation_in<facts::Report>(observation)) on_fact(*seen);
}

}  // namespace odori::observe
