// SPDX-License-Identifier: Apache-2.0
// What a run showed: how it ended, and what each rank and device did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"
#include "data/cifar.h"
#include "observe/facts.h"

namespace odori::grader {

/// How a run ended. `failed`: the library stopped it with a sentence (an Error).
enum class Ending { finished, failed, unfilled, crashed, hung, environment };

/// Positions of images in the whole training set, or in the whole test set.
using Images = std::vector<std::int64_t>;

/// One device's part in one update: the images of its batch, and its weights afterwards.
struct Step {
  int device = 0;
  Images images;
  std::vector<float> parameters;  // all parameters in order, as Classifier::parameters() lists them
};

using IteratorSeen = facts::Iterator;
using EvaluationSeen = facts::Evaluation;
/// What a trainer reports of an evaluation, after `updates` updates.
struct ReportSeen : facts::Observation {
  std::size_t updates = 0;
};

/// A facts::Message that a rank began.
struct MessageSeen {
  std::string call;
  int to = -1, sent = -1, from = -1, received = -1;
  bool done = false;
};

struct RankSeen {
  // As the training has them, which is what counts; of a run that didn't come to it, as they were asked for last.
  std::optional<int> device;                  // where the model that is trained is; made current by pool.use()
  std::optional<int> model_device;            // the same; where the model was set up
  bool loaded_data = false;                   // load_cifar() was called here
  std::map<std::string, int> devices;         // task 1: the map as it is when it is complete
  std::string updater;                        // "ParallelUpdater" or "StandardUpdater"; empty: neither
  std::optional<int> refused_batch;           // of an iterator that couldn't be made: larger than its data
  std::vector<IteratorSeen> train_iterators;  // what the updater was given
  std::optional<int> evaluator_device;        // what the evaluator was given
  std::optional<IteratorSeen> test_iterator;
  std::vector<std::vector<Step>> steps;  // [update][device of this rank, by number]
  std::vector<EvaluationSeen> evaluations;
  std::vector<ReportSeen> observations;  // of evaluations, as the rank has them when an epoch is over
  std::vector<ReportSeen> reports;       // the same, on the rank that writes them down
  int earlier_trainings = 0;             // from steps to reports, and values, all is of the last one
  std::size_t earlier_updates = 0;       // of those
  std::vector<int> scatter_roots;        // of each scatter_dataset()
  std::vector<std::string> collectives;  // entered, in order: "scatter_dataset()"; the last may not have been left
  bool inside_collective = false;        // entered the last one, and never left it
  std::vector<std::string> inner_collectives = {};  // entered by an algorithm of the learner's, which one of those runs
  std::vector<MessageSeen> messages = {};           // in order; only the last may not be done
  std::vector<facts::Event> events = {};            // in order
  std::vector<std::vector<float>> values = {};      // that an algorithm has made, each time that it showed them
  std::optional<std::string> error;                 // the library's sentence, if it stopped here
  std::optional<Finding> forged = {};               // why none of this can be believed
};

struct Evidence {
  Ending ending = Ending::environment;
  std::string detail;                 // signal's name, seconds waited, or what the machine lacks
  std::optional<Finding> broke = {};  // the limit by which its sandbox ended it (runner/sandbox.h)
  std::vector<RankSeen> ranks;
  int data_reads = 0;  // how often each file of the data was opened, at most: seen from outside (runner/evidence_files.h)
};

/// The data of a run: made by the grader from a fresh seed.
struct RunData {
  std::filesystem::path folder;
  TrainTest sets;              // the same files, as the grader loaded them before any run
  std::uint64_t seed = 0;      // of the data; a program's --seed is counted from it
  std::size_t parameters = 0;  // parameters of the programs' network
};

/// More than any program can show: what goes beyond was not written by the library.
struct EvidenceLimits {
  std::size_t devices = 64;    // of a rank; and iterators
  std::size_t images = 0;      // of an iterator, or of a device in one update
  std::size_t calls = 0;       // collective ones, messages, updates and evaluations
  std::size_t parameters = 0;  // and values
  int trainings = 1;
};
EvidenceLimits limits_of(const RunData& data);

/// Reads what the library wrote of one rank (lib/observe/evidence.h), without the head, in linear time and memory.
/// `marked`: a training before the mark that all blanks were executed is not the program's.
RankSeen read_rank(std::string_view written, const EvidenceLimits& limits, bool marked = false);

}  // namespace odori::grader
