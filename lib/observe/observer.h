// SPDX-License-Identifier: Apache-2.0
// The interface of an observer of a program's run, for those who write or install one: evidence.cpp and tests.
//
// This folder holds all that the library knows of being observed. Library code reports each fact by a one-line call of
// hooks.h, which does nothing if no observer is installed. evidence.cpp installs the grader's observer when the library
// is loaded with ODORI_EVIDENCE set. No header that odori.h reaches includes this folder, so that an answer can neither
// ask for an observer nor call one (include_rules.sh checks it).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "observe/facts.h"

namespace odori {
struct Batch;
}

namespace odori::observe {

/// Receives each fact at the time it happens, also if a check refuses the call just after. Hooks may be called by
/// several threads at once. facts.h describes the facts.
class Observer {
 public:
  virtual ~Observer() = default;

  // ---- Any program
  /// The rank of this process, before its first fact. Not called without MPI: rank 0.
  virtual void on_rank(int rank) = 0;
  virtual void on_program_begun() = 0;
  virtual void on_blanks_passed() = 0;
  virtual void on_failure(const std::string& sentence, int code) = 0;
  /// A check of refusal.h failed; an Error follows.
  virtual void on_refusal(const char* name) = 0;
  virtual void on_collective_entered(const char* collective) = 0;
  virtual void on_collective_left(const char* collective) = 0;
  virtual void on_message_begun(const facts::Message& message) = 0;
  virtual void on_message_done() = 0;
  virtual void on_values(std::span<const float> values) = 0;
  virtual void on_event(std::string_view what, std::span<const std::int64_t> about) = 0;

  // ---- Before training
  virtual void on_use_device(int device) = 0;
  virtual void on_model_to_device(int device) = 0;
  virtual void on_load_cifar() = 0;
  virtual void on_scatter_dataset(int root) = 0;
  virtual void on_refused_batch(std::int64_t batch_size) = 0;
  virtual void on_devices_named(const facts::Devices& devices) = 0;
  virtual void on_updater_made(const facts::Updater& updater) = 0;
  virtual void on_evaluator_made(const facts::Evaluator& evaluator) = 0;

  // ---- Training
  virtual void on_training_begun(const facts::Training& training) = 0;
  /// Forward and backward of one batch. `model` identifies the model and is not dereferenced.
  virtual void on_batch_trained(const void* model, const Batch& batch) = 0;
  /// False: on_step() is called with no parameters, and nobody gathers them.
  virtual bool wants_parameters() { return true; }
  /// The parameters of one model after an update, without the gaps of the flat vector.
  virtual void on_step(const void* model, int device, std::span<const float> parameters) = 0;
  /// After on_step() of every model of the update.
  virtual void on_update_done() = 0;
  virtual void on_evaluation(const facts::Evaluation& evaluation) = 0;
  virtual void on_observation(const facts::Observation& observation) = 0;
  virtual void on_report(const facts::Report& report) = 0;
  virtual void on_training_ended() = 0;
};

/// `observer` receives the hooks of this process while this object lives.
class Installation {
 public:
  /// Throws Error if an observer is installed already: nobody can replace the grader's.
  explicit Installation(Observer& observer);
  ~Installation();
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

 private:
  Observer& observer_;
};

}  // namespace odori::observe
