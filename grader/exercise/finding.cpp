#include "exercise/finding.h"

namespace odori::grader {

std::string bounded(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return text + " […]";
}

Finding bounded(Finding finding) {
  constexpr std::size_t most = 4000;
  for (auto& [name, value] : finding.values) value = bounded(std::move(value), most);
  return finding;
}

}  // namespace odori::grader
