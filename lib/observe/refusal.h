// SPDX-License-Identifier: Apache-2.0
// Checks of learners' calls whose failure is a named fact, for .cpp files of the library; the grader reads the names.
//
// The grader recognises a refusal by its name, never by the sentence of the Error.
#pragma once

#include <utility>

#include "errors/error.h"
#include "observe/hooks.h"

namespace odori::refusal {

inline constexpr const char* no_such_chunk = "no_such_chunk";
inline constexpr const char* chunk_outside = "chunk_outside";
inline constexpr const char* other_length = "other_length";  // a message is longer or shorter than its receiver expects
inline constexpr const char* other_gradients = "other_gradients";  // not the number of gradients of the model
inline constexpr const char* other_data = "other_data";            // ranks gave data that cannot be scattered
inline constexpr const char* no_such_parameter = "no_such_parameter";
inline constexpr const char* no_such_range = "no_such_range";
inline constexpr const char* cannot_start = "cannot_start";
inline constexpr const char* views_changed = "views_changed";

/// require() that also reports its failure to the observer under `name`.
template <typename... Args>
void require(const char* name, bool condition, fmt::format_string<Args...> sentence, Args&&... args) {
  if (condition) return;
  observe::on_refusal(name);
  fail(sentence, std::forward<Args>(args)...);
}
template <typename First, typename... Args>
void require(const char* name, bool condition,
             TextFormat<std::type_identity_t<First>, std::type_identity_t<Args>...> sentence, First&& first,
             Args&&... args) {
  if (condition) return;
  observe::on_refusal(name);
  fail<First, Args...>(sentence, std::forward<First>(first), std::forward<Args>(args)...);
}

}  // namespace odori::refusal
