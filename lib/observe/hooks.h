// SPDX-License-Identifier: Apache-2.0
// The calls that report facts to the observer, for .cpp files of the library and of exercise support.
//
// Without an observer each call costs one load. Each returns after the observer has stored the fact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string_view>

#include "observe/facts.h"

namespace odori {
struct Batch;
}

namespace odori::observe {

/// True if an observer is installed. Guards work that only gathers facts.
bool enabled() noexcept;

void on_rank(int rank);
void on_program_begun();
/// The program has executed all of its blanks. Called by code that the grader inserts.
void on_blanks_passed();
void on_refusal(const char* name);
void on_values(std::span<const float> values);
void on_event(std::string_view what, std::span<const std::int64_t> about);
inline void on_event(std::string_view what, std::initializer_list<std::int64_t> about = {}) {
  on_event(what, std::span(about.begin(), about.size()));
}

void on_use_device(int device);
void on_model_to_device(int device);
void on_load_cifar();
void on_scatter_dataset(int root);
void on_refused_batch(std::int64_t batch_size);
/// Reports a fact that the caller has built.
void on_fact(const facts::Fact& fact);

void on_batch_trained(const void* model, const Batch& batch);
/// True if an observer is installed that needs the parameters in on_step().
bool wants_parameters();
void on_step(const void* model, int device, std::span<const float> parameters);
void on_update_done();
void on_training_ended();

/// While this object lives, collectives of this thread without a source location of their own get `site`, the program's
/// call into the library, such as trainer.run().
class ProgramSite {
 public:
  explicit ProgramSite(std::source_location site) noexcept;
  ~ProgramSite();
  ProgramSite(const ProgramSite&) = delete;
  ProgramSite& operator=(const ProgramSite&) = delete;

 private:
  std::source_location outer_;
};

/// A collective call: entered now, left when this object is destroyed. Of nested calls only those that a learner made
/// are facts: the outermost, and those of a learner's algorithm inside it. `name` must outlive this object.
class CollectiveScope {
 public:
  /// `site`: the program's call; line 0: that of the ProgramSite, if any.
  explicit CollectiveScope(const char* name, std::source_location site = {}) noexcept;
  ~CollectiveScope();
  CollectiveScope(const CollectiveScope&) = delete;
  CollectiveScope& operator=(const CollectiveScope&) = delete;

  /// The outermost call of this thread that a learner made, or null. Also works without an observer.
  static const CollectiveScope* outermost() noexcept;
  const char* name() const noexcept { return name_; }
  const std::source_location& site() const noexcept { return site_; }

 private:
  const char* name_;
  std::source_location site_;
};

/// A point-to-point message: begun now, done when this object is destroyed, unless an exception is passing. Messages
/// that the library sends inside its own collectives are not facts.
class MessageScope {
 public:
  /// `call` sends `sent` floats to rank `to` and receives `received` floats from rank `from`; -1: no such rank, -2: any
  /// rank.
  MessageScope(const char* call, int to, std::size_t sent, int from, std::size_t received);
  ~MessageScope();
  MessageScope(const MessageScope&) = delete;
  MessageScope& operator=(const MessageScope&) = delete;

 private:
  bool is_fact_;
  int exceptions_;
};

/// While this object lives, a collective runs an algorithm that a learner wrote: its messages and collectives are
/// facts.
class LearnerScope {
 public:
  LearnerScope() noexcept;
  ~LearnerScope();
  LearnerScope(const LearnerScope&) = delete;
  LearnerScope& operator=(const LearnerScope&) = delete;

 private:
  int outer_;
  const CollectiveScope* outermost_;
};

}  // namespace odori::observe
