// What a run showed: how it ended, and what each rank and device did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace odori::grader {

/// How a run ended. `failed`: the library stopped it with a sentence (an Error).
enum class Ending { finished, failed, unfilled, crashed, hung, environment };

/// One device's pictures (positions in the whole training set) in one update, and its weights after it.
struct Step {
  std::vector<std::int64_t> pictures;
  std::vector<float> parameters;  // all trained numbers in plain order, as Classifier::parameters() lists them
};

/// The pictures that one iterator goes through in an epoch, in no particular order.
struct IteratorSeen {
  std::vector<std::int64_t> pictures;
  int batch_size = 0;
};

/// What the evaluation gave, in every epoch.
struct EvaluationSeen {
  double loss = 0, accuracy = 0;
};

struct RankSeen {
  std::optional<int> device;           // made current by pool.use()
  std::optional<int> model_device;     // where the model was set up
  bool loaded_data = false;            // load_cifar() was called here
  std::map<std::string, int> devices;  // task 1: the map as it is when it is complete
  std::string updater;                 // "ParallelUpdater over 3 devices", ...
  std::vector<IteratorSeen> train_iterators;
  std::optional<IteratorSeen> test_iterator;
  std::vector<std::vector<Step>> steps;  // [update][device of this rank]
  std::vector<EvaluationSeen> evaluations;
  std::vector<std::string> collectives;  // entered, in order; the last may not have been left
  bool inside_collective = false;        // entered the last one, and never left it
  std::optional<std::string> error;      // the library's sentence, if it stopped here
};

struct Evidence {
  Ending ending = Ending::environment;
  std::string detail;  // signal's name, seconds waited, or what the machine lacks
  std::vector<RankSeen> ranks;
};

/// The data of a run: made by the grader from a fresh seed.
struct RunData {
  std::filesystem::path folder;
  std::uint64_t seed = 0;  // --seed of the program
  int batch_size = 0, epochs = 0;
  float learning_rate = 0;
};

}  // namespace odori::grader
