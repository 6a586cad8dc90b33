#include "checks/division.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace odori::grader {
namespace {

using Set = std::set<std::int64_t>;
using PartOf = std::map<std::int64_t, std::size_t>;  // of each image, the first that has it

/// Of the pairs of images at this distance in the set, how many lie in one part? In a random division each does with a
/// chance of 1 / n. Further off than 5 standard deviations comes a random division once in a million times.
bool lie_together(const PartOf& part_of, std::size_t n_parts, std::size_t distance) {
  double pairs = 0, together = 0;
  for (const auto& [image, part] : part_of) {
    const auto other = part_of.find(image + static_cast<std::int64_t>(distance));
    if (other == part_of.end()) continue;
    ++pairs;
    if (other->second == part) ++together;
  }
  const double chance = 1.0 / static_cast<double>(n_parts);
  return together > pairs * chance + 5 * std::sqrt(pairs * chance * (1 - chance));
}

}  // namespace

Division divide(const std::vector<Images>& parts, std::size_t size) {
  Division division;
  if (parts.empty()) return division;
  std::vector<Set> sets;
  PartOf part_of;
  Set shared, outside;
  for (const Images& part : parts) {
    const Set& set = sets.emplace_back(part.begin(), part.end());
    division.repeated += part.size() - set.size();
    for (const std::int64_t image : set) {
      if (!part_of.emplace(image, sets.size() - 1).second) shared.insert(image);
      if (image < 0 || image >= static_cast<std::int64_t>(size)) outside.insert(image);
    }
  }
  const auto by_size = [](const Images& a, const Images& b) { return a.size() < b.size(); };
  division.smallest = std::min_element(parts.begin(), parts.end(), by_size)->size();
  division.largest = std::max_element(parts.begin(), parts.end(), by_size)->size();
  division.covered = part_of.size();
  division.shared = shared.size();
  division.outside = outside.size();

  const std::size_t n = parts.size();
  if (n < 2) return division;
  const auto all = [&](auto condition) { return std::all_of(sets.begin(), sets.end(), condition); };
  division.all_the_same = all([&](const Set& set) { return set == sets.front(); });
  division.in_order = lie_together(part_of, n, 1) || lie_together(part_of, n, n);
  return division;
}

bool follows_classes(const std::vector<Images>& parts, const Dataset& set) {
  std::vector<std::pair<int, std::size_t>> by_class;
  for (std::size_t i = 0; i < set.size(); ++i) by_class.emplace_back(set[i].label, i);
  std::sort(by_class.begin(), by_class.end());
  std::vector<std::int64_t> place(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) place[by_class[i].second] = static_cast<std::int64_t>(i);
  PartOf part_of;
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (const std::int64_t image : parts[part]) part_of.emplace(place.at(static_cast<std::size_t>(image)), part);
  return parts.size() > 1 && lie_together(part_of, parts.size(), 1);
}

}  // namespace odori::grader
