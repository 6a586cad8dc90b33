#include "train/record.h"

#include "trace/evidence.h"
#include "train/evaluator.h"
#include "train/parallel_updater.h"
#include "train/standard_updater.h"
#include "train/trainer.h"

namespace odori {
namespace {

trace::Args facts_of(const SerialIterator& iterator) {
  trace::Args facts;
  facts.add("batch_size", iterator.batch_size());
  facts.add("repeat", iterator.repeat());
  std::vector<std::int64_t> pictures, not_counted;
  for (std::size_t i = 0; i < iterator.dataset()->size(); ++i) {
    const Example example = (*iterator.dataset())[i];
    (example.counted ? pictures : not_counted).push_back(example.id);
  }
  return facts.add("pictures", pictures).add("not_counted", not_counted);
}

std::vector<trace::Args> facts_of(const std::vector<SerialIterator>& iterators) {
  std::vector<trace::Args> facts;
  for (const SerialIterator& iterator : iterators) facts.push_back(facts_of(iterator));
  return facts;
}

std::vector<trace::Args> facts_of(const std::map<std::string, int>& devices) {
  std::vector<trace::Args> entries;
  for (const auto& [name, id] : devices) entries.push_back(trace::Args().add("name", name).add("device", id));
  return entries;
}

trace::Args evaluator_facts(const SerialIterator& iterator, int device) {
  return trace::Args().add("device", device).add("iterator", facts_of(iterator));
}

}  // namespace

void record_updater(const char* kind, const char* rule, const std::vector<SerialIterator>& iterators) {
  if (!evidence::on()) return;
  evidence::write("updater", trace::Args()
                                 .add("kind", std::string(kind))
                                 .add("rule", std::string(rule))
                                 .add("iterators", facts_of(iterators)));
}

void record_evaluator(const SerialIterator& iterator, int device) {
  if (evidence::on()) evidence::write("evaluator", evaluator_facts(iterator, device));
}

void record_devices(const std::map<std::string, int>& devices) {
  if (evidence::on()) evidence::write("devices", trace::Args().add("devices", facts_of(devices)));
}

void record_training(Trainer& trainer) {
  if (!evidence::on()) return;
  Updater& updater = trainer.updater();
  trace::Args facts;
  const auto* const parallel = dynamic_cast<const ParallelUpdater*>(&updater);
  const bool standard = dynamic_cast<const StandardUpdater*>(&updater) != nullptr;
  facts.add("kind", std::string(parallel ? "ParallelUpdater" : standard ? "StandardUpdater" : "another"));
  facts.add("rule", std::string(parallel && parallel->rule() == GradientRule::sum ? "sum" : "mean"));
  if (parallel) facts.add("devices", facts_of(parallel->devices()));
  facts.add("iterators", facts_of(updater.iterators()));
  std::vector<std::int64_t> models;
  for (Classifier* model : updater.models()) {
    models.push_back(model->device().id());
    model->take_trained_pictures();  // what came before isn't of this training
  }
  facts.add("models", models);
  std::vector<trace::Args> evaluators;
  for (const auto& extension : trainer.extensions())
    if (auto* const evaluator = dynamic_cast<Evaluator*>(extension.get()))
      evaluators.push_back(evaluator_facts(evaluator->iterator(), evaluator->model().device().id()));
  evidence::write("training", facts.add("evaluators", evaluators));
}

void record_update(Updater& updater) {
  if (!evidence::on()) return;
  for (Classifier* model : updater.models()) {
    std::vector<float> plain;
    for (const auto& parameter : model->state().parameters)
      plain.insert(plain.end(), parameter.begin(), parameter.end());
    evidence::write("step",
                    trace::Args().add("device", model->device().id()).add("pictures", model->take_trained_pictures()),
                    plain);
  }
  evidence::write("updated");
}

void record_evaluation(const Metrics& metrics) {
  if (!evidence::on()) return;
  evidence::write(
      "evaluation",
      trace::Args().add("loss", metrics.loss()).add("accuracy", metrics.accuracy()).add("samples", metrics.samples));
}

void record_training_end() { evidence::write("trained"); }

}  // namespace odori
