// SPDX-License-Identifier: Apache-2.0
// The facts of a run, for observers and the grader. Each is declared once: its name, then its fields in written order.
//
// Observers receive them (observer.h), evidence.cpp writes them and grader/runner/evidence reads them. `int` fields are
// small: a device or a rank. Lists of integers hold image ids; other lists have one entry per device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "trace/trace.h"

namespace odori::facts {

struct NoFields {
  void each(auto&&) {}
};

// ---- Of any program

/// The program begins; under mpirun: MPI has started on all ranks.
struct Began : NoFields {
  static constexpr const char* fact = "began";
};

struct BlanksPassed : NoFields {
  static constexpr const char* fact = "blanks_passed";
};

struct Failure {
  static constexpr const char* fact = "failure";
  std::string sentence;
  int code = 0;
  void each(auto&& field) { field("sentence", sentence), field("code", code); }
};

/// A collective call, entered or left. Inside another collective if a learner's algorithm made it.
struct Enter {
  static constexpr const char* fact = "enter";
  std::string collective;
  void each(auto&& field) { field("collective", collective); }
};
struct Leave {
  static constexpr const char* fact = "leave";
  std::string collective;
  void each(auto&& field) { field("collective", collective); }
};

/// A point-to-point message begins: "send", "receive" or "exchange". The rank sends `sent` values to rank `to` and
/// receives `received` values from rank `from`; -1: none.
struct Message {
  static constexpr const char* fact = "message";
  std::string call;
  int to = -1;
  std::int64_t sent = -1;
  int from = -1;
  std::int64_t received = -1;
  void each(auto&& field) {
    field("call", call), field("to", to), field("sent", sent), field("from", from), field("received", received);
  }
};
struct MessageDone : NoFields {
  static constexpr const char* fact = "message_done";
};

/// Values that an algorithm computed. They follow the line.
struct Values {
  static constexpr const char* fact = "values";
  std::int64_t length = 0;
  void each(auto&& field) { field("length", length); }
};

/// An event whose order matters, and the integers that describe it: "start", {0, 320}.
struct Event {
  static constexpr const char* fact = "event";
  std::string what;
  std::vector<std::int64_t> about;
  void each(auto&& field) { field("what", what), field("about", about); }
};

// ---- Before training

struct UseDevice {
  static constexpr const char* fact = "use_device";
  int device = 0;
  void each(auto&& field) { field("device", device); }
};

/// A model is placed on a device.
struct ToDevice {
  static constexpr const char* fact = "to_device";
  int device = 0;
  void each(auto&& field) { field("device", device); }
};

struct LoadCifar : NoFields {
  static constexpr const char* fact = "load_cifar";
};

struct Scatter {
  static constexpr const char* fact = "scatter";
  int root = 0;
  void each(auto&& field) { field("root", root); }
};

/// An iterator is refused because its batch is larger than its data.
struct RefusedBatch {
  static constexpr const char* fact = "refused_batch";
  std::int64_t batch_size = 0;
  void each(auto&& field) { field("batch_size", batch_size); }
};

struct NamedDevice {
  std::string name;
  int device = 0;
  void each(auto&& field) { field("name", name), field("device", device); }
};
struct Devices {
  static constexpr const char* fact = "devices";
  std::vector<NamedDevice> devices;
  void each(auto&& field) { field("devices", devices); }
};

/// `images`: the images of one epoch. `not_counted`: further ones, which another rank's shard owns.
struct Iterator {
  std::int64_t batch_size = 0;
  int repeat = 0;
  std::vector<std::int64_t> images, not_counted;
  void each(auto&& field) {
    field("batch_size", batch_size), field("repeat", repeat), field("images", images);
    field("not_counted", not_counted);
  }
};
struct Updater {
  static constexpr const char* fact = "updater";
  std::string kind;
  std::vector<Iterator> iterators;
  void each(auto&& field) { field("kind", kind), field("iterators", iterators); }
};
struct Evaluator {
  static constexpr const char* fact = "evaluator";
  int device = 0;
  Iterator iterator;
  void each(auto&& field) { field("device", device), field("iterator", iterator); }
};

// ---- Training

/// The training begins with these objects. Only a ParallelUpdater's devices have names.
struct Training {
  static constexpr const char* fact = "training";
  std::string kind;
  std::optional<std::vector<NamedDevice>> devices;
  std::vector<Iterator> iterators;
  std::vector<int> models;
  std::vector<Evaluator> evaluators;
  void each(auto&& field) {
    field("kind", kind), field("devices", devices), field("iterators", iterators), field("models", models);
    field("evaluators", evaluators);
  }
};

/// One device's part of an update. Its parameters follow the line.
struct Step {
  static constexpr const char* fact = "step";
  int device = 0;
  std::vector<std::int64_t> images;
  void each(auto&& field) { field("device", device), field("images", images); }
};
struct Updated : NoFields {
  static constexpr const char* fact = "updated";
};

/// JSON has no infinity: a loss that is not finite is written as null.
struct Evaluation {
  static constexpr const char* fact = "evaluation";
  double loss = 0, accuracy = 0;
  std::int64_t samples = 0;
  void each(auto&& field) { field("loss", loss), field("accuracy", accuracy), field("samples", samples); }
};

/// The evaluation in this rank's trainer at the end of an epoch, after all extensions.
struct Observation {
  static constexpr const char* fact = "observation";
  double loss = 0, accuracy = 0;
  void each(auto&& field) { field("loss", loss), field("accuracy", accuracy); }
};
/// The same values as LogReport writes them, on the rank that has one.
struct Report : Observation {
  static constexpr const char* fact = "report";
};

struct Trained : NoFields {
  static constexpr const char* fact = "trained";
};

/// Any fact except Step, which observers receive by Observer::on_step().
using Fact = std::variant<Began, BlanksPassed, Failure, Enter, Leave, Message, MessageDone, Values, Event, UseDevice,
                          ToDevice, LoadCifar, Scatter, RefusedBatch, Devices, Updater, Evaluator, Training, Updated,
                          Evaluation, Observation, Report, Trained>;

// ---- Conversion of facts to arguments of a trace event, their written form

template <typename Group>
trace::Args args_of(Group group);

template <typename T>
void add_field(trace::Args& args, const char* key, const T& value) {
  if constexpr (requires { args.add(key, value); })
    args.add(key, value);
  else
    args.add(key, args_of(value));
}
template <typename T>
void add_field(trace::Args& args, const char* key, const std::vector<T>& list) {
  if constexpr (std::is_arithmetic_v<T>) {
    args.add(key, std::vector<std::int64_t>(list.begin(), list.end()));
  } else {
    std::vector<trace::Args> groups;
    for (const T& group : list) groups.push_back(args_of(group));
    args.add(key, groups);
  }
}

template <typename T>
void add_field(trace::Args& args, const char* key, const std::optional<T>& value) {
  if (value) add_field(args, key, *value);
}

template <typename Group>
trace::Args args_of(Group group) {
  trace::Args args;
  group.each([&args](const char* key, const auto& value) { add_field(args, key, value); });
  return args;
}

}  // namespace odori::facts
