#include "train/record.h"

#include "trace/evidence.h"

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

}  // namespace

void record_updater(const char* kind, const char* rule, const std::vector<SerialIterator>& iterators) {
  if (!evidence::on()) return;
  std::vector<trace::Args> facts;
  for (const SerialIterator& iterator : iterators) facts.push_back(facts_of(iterator));
  evidence::write("updater",
                  trace::Args().add("kind", std::string(kind)).add("rule", std::string(rule)).add("iterators", facts));
}

void record_evaluator(const SerialIterator& iterator, int device) {
  if (!evidence::on()) return;
  evidence::write("evaluator", trace::Args().add("device", device).add("iterator", facts_of(iterator)));
}

void record_devices(const std::map<std::string, int>& devices) {
  if (!evidence::on()) return;
  std::vector<trace::Args> entries;
  for (const auto& [name, id] : devices) entries.push_back(trace::Args().add("name", name).add("device", id));
  evidence::write("devices", trace::Args().add("devices", entries));
}

void record_update(Updater& updater) {
  if (!evidence::on()) return;
  for (const Classifier* model : updater.models()) {
    std::vector<float> plain;
    for (const auto& parameter : model->state().parameters)
      plain.insert(plain.end(), parameter.begin(), parameter.end());
    evidence::write("parameters", trace::Args().add("device", model->device().id()), plain);
  }
  evidence::write("updated");
}

void record_evaluation(const Metrics& metrics) {
  if (!evidence::on()) return;
  evidence::write(
      "evaluation",
      trace::Args().add("loss", metrics.loss()).add("accuracy", metrics.accuracy()).add("samples", metrics.samples));
}

}  // namespace odori
