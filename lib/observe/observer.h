// SPDX-License-Identifier: Apache-2.0
// The interface of observers of a program's run, for evidence.cpp and tests.
//
// Library code reports each fact by a one-line call of hooks.h, which does nothing if no observer is installed.
// evidence.cpp installs the grader's observer when the library is loaded with ODORI_EVIDENCE set. No header that
// odori.h reaches includes this folder, so that an answer can neither ask for an observer nor call one
// (include_rules.sh checks it).
#pragma once

#include <span>

#include "observe/facts.h"

namespace odori {
struct Batch;
}

namespace odori::observe {

/// Receives each fact when it happens, even if a later check refuses the call. Hooks may be called by several
/// threads at once. facts.h describes the facts.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Called with this process's rank before its first fact. Without MPI, not called: rank 0.
  virtual void on_rank(int rank) = 0;
  /// `values`: of facts::Values; otherwise empty.
  virtual void on_fact(const facts::Fact& fact, std::span<const float> values) = 0;
  /// Forward and backward of one batch. `model` identifies the model and is not dereferenced.
  virtual void on_batch_trained(const void* model, const Batch& batch) = 0;
  /// If false, on_step() gets no parameters, and they are not copied from the device.
  virtual bool wants_parameters() { return true; }
  /// The parameters of one model after an update, without the gaps of the flat vector. facts::Updated follows those of
  /// all models of the update.
  virtual void on_step(const void* model, int device, std::span<const float> parameters) = 0;
};

/// `observer` receives the hooks of this process while this object lives.
class Installation {
 public:
  /// Throws Error if an observer is installed already, so the grader's cannot be replaced.
  explicit Installation(Observer& observer);
  ~Installation();
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

 private:
  Observer& observer_;
};

}  // namespace odori::observe
