// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "files/file.h"
#include "simulate/simulate.h"

namespace odori::simulate {

void write_trace(const Result& result, const std::string& directory) {
  const auto us = [](double seconds) { return std::llround(seconds * 1e6); };
  const auto span = [&](int rank, const char* name, double begin, double end, std::size_t bytes) {
    return fmt::format(R"({{"name":"{}","ph":"X","pid":{},"tid":0,"ts":{},"dur":{},"args":{{"bytes":{}}}}},)"
                       "\n",
                       name, rank, us(begin), us(end) - us(begin), bytes);
  };
  std::map<int, std::string> texts;
  for (const Event& event : result.events) {
    std::string& text = texts[event.rank];
    if (text.empty()) text = "[\n" + span(event.rank, "iteration", 0, result.seconds, 0);
    text += span(event.rank, event.name, event.begin + event.waited, event.end, event.bytes);
  }
  for (const auto& [rank, text] : texts)
    replace_file(fmt::format("{}/trace.{}.json", directory, rank),
                 text + fmt::format(R"({{"name":"end","ph":"i","s":"p","pid":{},"tid":0,"ts":{}}})"
                                    "\n]\n",
                                    rank, us(result.seconds)));
}

}  // namespace odori::simulate
