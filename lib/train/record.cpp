#include "train/record.h"

#include "trace/evidence.h"
#include "train/evaluator.h"
#include "train/parallel_updater.h"
#include "train/standard_updater.h"
#include "train/trainer.h"

namespace odori {
namespace {

facts::Iterator facts_of(const SerialIterator& iterator) {
  facts::Iterator seen{.batch_size = iterator.batch_size(), .repeat = iterator.repeat()};
  for (std::size_t i = 0; i < iterator.dataset()->size(); ++i) {
    const Example example = (*iterator.dataset())[i];
    (example.counted ? seen.images : seen.not_counted).push_back(example.id);
  }
  return seen;
}

std::vector<facts::Iterator> facts_of(const std::vector<SerialIterator>& iterators) {
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
void write_validation(const std::map<std::string, double>& observation) {
  const auto loss = observation.find("validation/main/loss"), accuracy = observation.find("validation/main/accuracy");
  if (loss != observation.end() && accuracy != observation.end()) evidence::write(Fact{loss->second, accuracy->second});
}

}  // namespace

void record_updater(const char* kind, const std::vector<SerialIterator>& iterators) {
  if (evidence::on()) evidence::write(facts::Updater{kind, facts_of(iterators)});
}

void record_evaluator(const SerialIterator& iterator, int device) {
  if (evidence::on()) evidence::write(facts::Evaluator{device, facts_of(iterator)});
}

void record_devices(const std::map<std::string, int>& devices) {
  if (evidence::on()) evidence::write(facts::Devices{facts_of(devices)});
}

void record_training(Trainer& trainer) {
  if (!evidence::on()) return;
  Updater& updater = trainer.updater();
  const auto* const parallel = dynamic_cast<const ParallelUpdater*>(&updater);
  const bool standard = dynamic_cast<const StandardUpdater*>(&updater) != nullptr;
  facts::Training seen{.kind = parallel   ? "ParallelUpdater"
                               : standard ? "StandardUpdater"
                                          : "another",
                       .iterators = facts_of(updater.iterators())};
  if (parallel) seen.devices = facts_of(parallel->devices());
  for (Classifier* model : updater.models()) {
    seen.models.push_back(model->device().id());
    model->take_trained_images();  // what came before isn't of this training
  }
  for (const auto& extension : trainer.extensions())
    if (auto* const evaluator = dynamic_cast<Evaluator*>(extension.get()))
      seen.evaluators.push_back({evaluator->model().device().id(), facts_of(evaluator->iterator())});
  evidence::write(seen);
}

void record_update(Updater& updater) {
  if (!evidence::on()) return;
  for (Classifier* model : updater.models()) {
    std::vector<float> plain;
    for (const auto& parameter : model->state().parameters)
      plain.insert(plain.end(), parameter.begin(), parameter.end());
    evidence::write(facts::Step{model->device().id(), model->take_trained_images()}, plain);
  }
  evidence::write(facts::Updated{});
}

void record_evaluation(const Metrics& metrics) {
  evidence::write(facts::Evaluation{metrics.loss(), metrics.accuracy(), metrics.samples});
}

void record_observation(const std::map<std::string, double>& observation) {
  write_validation<facts::Observation>(observation);
}

void record_report(const std::map<std::string, double>& observation) { write_validation<facts::Report>(observation); }

void record_training_end() { evidence::write(facts::Trained{}); }

}  // namespace odori
