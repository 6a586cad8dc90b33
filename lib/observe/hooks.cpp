// SPDX-License-Identifier: Apache-2.0
#include "observe/hooks.h"

#include <exception>
#include <type_traits>
#include <utility>

#include "errors/error.h"
#include "observe/observer.h"
#include "program/program.h"

namespace odori::observe {
namespace {

// The process's one observer. Like the event stream, it is reachable without being passed along.
Observer* installed = nullptr;
thread_local int collective_depth = 0, learner_depth = 0;  // calls at learner_depth are a learner's
thread_local const CollectiveScope* outermost_call = nullptr;
thread_local std::source_location program_site{};  // line 0: unknown

template <typename... Facts>
void notify(void (Observer::*hook)(Facts...), const std::type_identity_t<Facts>&... facts) {
  if (installed) (installed->*hook)(facts...);
}

void on_failure(const std::string& sentence, int code) { notify(&Observer::on_failure, sentence, code); }

}  // namespace

Installation::Installation(Observer& observer) : observer_(observer) {
  require(installed == nullptr, "An observer is installed already.");
  installed = &observer;
  set_failure_listener(on_failure);
}

Installation::~Installation() {
  if (installed != &observer_) return;
  set_failure_listener(nullptr);
  installed = nullptr;
}

bool enabled() noexcept { return installed != nullptr; }

void on_rank(int rank) { notify(&Observer::on_rank, rank); }
void on_program_begun() { notify(&Observer::on_program_begun); }
void on_blanks_passed() { notify(&Observer::on_blanks_passed); }
void on_refusal(const char* name) { notify(&Observer::on_refusal, name); }
void on_values(std::span<const float> values) { notify(&Observer::on_values, values); }
void on_event(std::string_view what, std::span<const std::int64_t> about) { notify(&Observer::on_event, what, about); }
void on_use_device(int device) { notify(&Observer::on_use_device, device); }
void on_model_to_device(int device) { notify(&Observer::on_model_to_device, device); }
void on_load_cifar() { notify(&Observer::on_load_cifar); }
void on_scatter_dataset(int root) { notify(&Observer::on_scatter_dataset, root); }
void on_refused_batch(std::int64_t batch_size) { notify(&Observer::on_refused_batch, batch_size); }
void on_devices_named(const facts::Devices& devices) { notify(&Observer::on_devices_named, devices); }
void on_updater_made(const facts::Updater& updater) { notify(&Observer::on_updater_made, updater); }
void on_evaluator_made(const facts::Evaluator& evaluator) { notify(&Observer::on_evaluator_made, evaluator); }
void on_training_begun(const facts::Training& training) { notify(&Observer::on_training_begun, training); }
void on_batch_trained(const void* model, const Batch& batch) { notify(&Observer::on_batch_trained, model, batch); }
bool wants_parameters() { return installed && installed->wants_parameters(); }
void on_step(const void* model, int device, std::span<const float> parameters) {
  notify(&Observer::on_step, model, device, parameters);
}
void on_update_done() { notify(&Observer::on_update_done); }
void on_evaluation(const facts::Evaluation& evaluation) { notify(&Observer::on_evaluation, evaluation); }
void on_observation(const facts::Observation& observation) { notify(&Observer::on_observation, observation); }
void on_report(const facts::Report& report) { notify(&Observer::on_report, report); }
void on_training_ended() { notify(&Observer::on_training_ended); }

ProgramSite::ProgramSite(std::source_location site) noexcept : outer_(std::exchange(program_site, site)) {}
ProgramSite::~ProgramSite() { program_site = outer_; }

CollectiveScope::CollectiveScope(const char* name, std::source_location site) noexcept
    : name_(name), site_(site.line() == 0 ? program_site : site) {
  if (!outermost_call) outermost_call = this;
  if (installed && collective_depth++ == learner_depth) installed->on_collective_entered(name_);
}

CollectiveScope::~CollectiveScope() {
  if (outermost_call == this) outermost_call = nullptr;
  if (installed && --collective_depth == learner_depth) installed->on_collective_left(name_);
}

MessageScope::MessageScope(const char* call, int to, std::size_t sent, int from, std::size_t received)
    : is_fact_(installed && collective_depth == learner_depth), exceptions_(std::uncaught_exceptions()) {
  if (is_fact_)
    installed->on_message_begun({.call = call,
                                 .to = to,
                                 .sent = static_cast<std::int64_t>(sent),
                                 .from = from,
                                 .received = static_cast<std::int64_t>(received)});
}

MessageScope::~MessageScope() {
  if (is_fact_ && std::uncaught_exceptions() == exceptions_) installed->on_message_done();
}

const CollectiveScope* CollectiveScope::outermost() noexcept { return outermost_call; }

LearnerScope::LearnerScope() noexcept
    : outer_(std::exchange(learner_depth, collective_depth)), outermost_(std::exchange(outermost_call, nullptr)) {}

LearnerScope::~LearnerScope() {
  learner_depth = outer_;
  outermost_call = outermost_;
}

}  // namespace odori::observe
