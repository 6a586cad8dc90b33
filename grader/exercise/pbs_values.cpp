#include "exercise/pbs_values.h"

#include <algorithm>
#include <array>

#include "errors/text.h"

namespace odori::grader {
namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::array whole_job{"place", "walltime", "min_walltime", "max_walltime", "cput", "pcput", "pmem", "pvmem"};
constexpr std::array durations{"walltime", "min_walltime", "max_walltime", "cput", "pcput"};
constexpr std::array sizes{"mem", "vmem", "pmem", "pvmem", "file"};
constexpr std::array counts{"ngpus", "naccelerators", "nchunk"};
constexpr std::array arrangements{"free", "pack", "scatter", "vscatter", "excl", "exclhost", "shared"};

bool is_in(const auto& list, std::string_view text) { return std::ranges::find(list, text) != list.end(); }

bool has_only(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

/// Bytes or words, a number of them and a unit.
bool is_size(std::string_view text) {
  const auto end = std::min(text.find_first_not_of(digits), text.size());
  std::string unit = lower(text.substr(end));
  if (unit.size() == 2 && has_only(unit.substr(0, 1), "kmgtp")) unit.erase(0, 1);
  return end > 0 && (unit.empty() || unit == "b" || unit == "w");
}

/// Hours, minutes, and seconds, or the last of these alone, with a part of a second.
bool is_duration(std::string_view text) {
  const auto parts = split(text.substr(0, text.find('.')), ':');
  return parts.size() <= 3 && std::ranges::all_of(parts, [](std::string_view part) { return has_only(part, digits); });
}

bool is_place(std::string_view text) {
  return std::ranges::all_of(
      split(text, ':'), [](std::string_view part) { return part.starts_with("group=") || is_in(arrangements, part); });
}

}  // namespace

bool is_resource_name(std::string_view text) {
  return has_only(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") && text.front() >= 'a' && text.front() <= 'z';
}

bool is_of_whole_job(std::string_view resource) { return is_in(whole_job, resource); }

bool can_be_value(std::string_view resource, std::string_view value) {
  if (is_in(durations, resource)) return is_duration(value);
  if (is_in(sizes, resource)) return is_size(value);
  if (is_in(counts, resource)) return has_only(value, digits);
  return resource != "place" || is_place(value);
}

}  // namespace odori::grader
