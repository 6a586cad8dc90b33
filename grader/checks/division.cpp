#include "checks/division.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace odori::grader {
namespace {

using Set = std::set<std::int64_t>;

bool is_every_nth(const Set& part, std::int64_t n) {
  for (auto next = part.begin(); next != part.end();) {
    const std::int64_t image = *next++;
    if (next != part.end() && *next - image != n) return false;
  }
  return part.size() > 2;
}

/// Of the pairs of neighbours, how many lie in one part? In a random division each does with a chance of 1 / n. Further
/// off than 5 standard deviations comes a random division once in a million times.
bool are_neighbours_together(const std::map<std::int64_t, std::size_t>& part_of, std::size_t n_parts) {
  double pairs = 0, together = 0;
  for (auto next = part_of.begin(); next != part_of.end();) {
    const auto [image, part] = *next++;
    if (next == part_of.end() || next->first != image + 1) continue;
    ++pairs;
    if (next->second == part) ++together;
  }
  const double chance = 1.0 / static_cast<double>(n_parts);
  return together > pairs * chance + 5 * std::sqrt(pairs * chance * (1 - chance));
}

}  // namespace

Division divide(const std::vector<Images>& parts, std::size_t size) {
  Division division;
  if (parts.empty()) return division;
  std::vector<Set> sets;
  std::map<std::int64_t, std::size_t> part_of;  // the first that has it
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
  division.every_nth = all([&](const Set& set) { return is_every_nth(set, static_cast<std::int64_t>(n)); });
  division.in_order = are_neighbours_together(part_of, n);
  return division;
}

}  // namespace odori::grader
