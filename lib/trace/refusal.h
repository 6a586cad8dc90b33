// What the library can't do of what learners' code asks for, by names: the grader tells each in words of its own, and
// knows them by these alone, never by the sentences.
#pragma once

#include <utility>

#include "core/error.h"
#include "trace/evidence.h"

namespace odori::refusal {

inline constexpr const char* no_such_chunk = "no_such_chunk";
inline constexpr const char* chunk_outside = "chunk_outside";
inline constexpr const char* other_length = "other_length";        // of a message, than its receiver expects
inline constexpr const char* other_gradients = "other_gradients";  // more or fewer than the model has
inline constexpr const char* other_data = "other_data";            // that ranks can't scatter
inline constexpr const char* no_such_parameter = "no_such_parameter";
inline constexpr const char* no_such_range = "no_such_range";
inline constexpr const char* cannot_travel = "cannot_travel";
inline constexpr const char* views_changed = "views_changed";

/// require(), whose failure is a fact of this name as well.
template <typename... Args>
void require(const char* name, bool condition, fmt::format_string<Args...> sentence, Args&&... args) {
  if (condition) return;
  evidence::write(facts::Event{name, {}});
  fail(sentence, std::forward<Args>(args)...);
}

}  // namespace odori::refusal
