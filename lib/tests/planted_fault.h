// SPDX-License-Identifier: Apache-2.0
// Does something wrong: "outside of a buffer", "overflow", "leak" or "race"; with "none", nothing.
#pragma once

#include <string_view>

void plant(std::string_view fault);
