// SPDX-License-Identifier: Apache-2.0
#include "observe/hooks.h"

#include <exception>
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

template <typename Fact, typename... Fields>
void notify(const Fields&... fields) {
  if (installed) installed->on_fact(Fact{fields...}, {});
}

void on_failure(const std::string& sentence, int code) { notify<facts::Failure>(sentence, code); }

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

void on_rank(int rank) {
  if (installed) installed->on_rank(rank);
}
void on_program_begun() { notify<facts::Began>(); }
void on_blanks_passed() { notify<facts::BlanksPassed>(); }
void on_refusal(const char* name) { notify<facts::Event>(name); }
void on_values(std::span<const float> values) {
  if (installed) installed->on_fact(facts::Values{static_cast<std::int64_t>(values.size())}, values);
}
void on_event(std::string_view what, std::span<const std::int64_t> about) {
  if (installed) installed->on_fact(facts::Event{std::string(what), {about.begin(), about.end()}}, {});
}
void on_use_device(int device) { notify<facts::UseDevice>(device); }
void on_model_to_device(int device) { notify<facts::ToDevice>(device); }
void on_load_cifar() { notify<facts::LoadCifar>(); }
void on_scatter_dataset(int root) { notify<facts::Scatter>(root); }
void on_refused_batch(std::int64_t batch_size) { notify<facts::RefusedBatch>(batch_size); }
void on_fact(const facts::Fact& fact) {
  if (installed) installed->on_fact(fact, {});
}
void on_batch_trained(const void* model, const Batch& batch) {
  if (installed) installed->on_batch_trained(model, batch);
}
bool wants_parameters() { return installed && installed->wants_parameters(); }
void on_step(const void* model, int device, std::span<const float> parameters) {
  if (installed) installed->on_step(model, device, parameters);
}
void on_update_done() { notify<facts::Updated>(); }
void on_training_ended() { notify<facts::Trained>(); }

ProgramSite::ProgramSite(std::source_location site) noexcept : outer_(std::exchange(program_site, site)) {}
ProgramSite::~ProgramSite() { program_site = outer_; }

CollectiveScope::CollectiveScope(const char* name, std::source_location site) noexcept
    : name_(name), site_(site.line() == 0 ? program_site : site) {
  if (!outermost_call) outermost_call = this;
  if (installed && collective_depth++ == learner_depth) installed->on_fact(facts::Enter{name_}, {});
}

CollectiveScope::~CollectiveScope() {
  if (outermost_call == this) outermost_call = nullptr;
  if (installed && --collective_depth == learner_depth) installed->on_fact(facts::Leave{name_}, {});
}

MessageScope::MessageScope(const char* call, int to, std::size_t sent, int from, std::size_t received)
    : is_fact_(installed && collective_depth == learner_depth), exceptions_(std::uncaught_exceptions()) {
  if (is_fact_)
    notify<facts::Message>(call, to, static_cast<std::int64_t>(sent), from, static_cast<std::int64_t>(received));
}

MessageScope::~MessageScope() {
  if (is_fact_ && std::uncaught_exceptions() == exceptions_) notify<facts::MessageDone>();
}

const CollectiveScope* CollectiveScope::outermost() noexcept { return outermost_call; }

LearnerScope::LearnerScope() noexcept
    : outer_(std::exchange(learner_depth, collective_depth)), outermost_(std::exchange(outermost_call, nullptr)) {}

LearnerScope::~LearnerScope() {
  learner_depth = outer_;
  outermost_call = outermost_;
}

}  // namespace odori::observe
