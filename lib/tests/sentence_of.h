// SPDX-License-Identifier: Apache-2.0
// What a step that fails says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "errors/error.h"

namespace odori::test {

/// The sentence of the Error that `step` throws; a failure if it throws none.
template <typename Step>
std::string sentence_of(const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

#define EXPECT_SENTENCE(step, words)                                               \
  do {                                                                             \
    const std::string sentence = odori::test::sentence_of([&] { step; });          \
    EXPECT_NE(sentence.find(words), std::string::npos) << "it says: " << sentence; \
  } while (false)

}  // namespace odori::test
