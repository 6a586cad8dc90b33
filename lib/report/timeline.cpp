// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "errors/error.h"
#include "files/file.h"

namespace odori::timeline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::set<std::string, std::less<>> computing{"load", "forward", "backward", "update"};
const std::set<std::string, std::less<>> communicating{"gather",    "send",    "allreduce", "allgather", "reduce",
                                                       "broadcast", "scatter", "barrier",   "receive",   "exchange"};
const std::set<std::string, std::less<>> of_all_ranks{"allreduce", "allgather",
                                                      "barrier"};  // none ends before all came

/// A missing end is legal: what stands behind the last whole line is dropped.
Json events_of(const fs::path& path) {
  std::string text = read_file(path);
  Json events = Json::parse(text, nullptr, false);
  if (events.is_discarded()) {
    text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));
    if (text.ends_with(',')) text.pop_back();
    events = Json::parse(text + "]", nullptr, false);
  }
  require(events.is_array(),
          {"{} holds no event stream. --trace FOLDER writes one.",
           "{} はイベント列ではありません。イベント列は --trace フォルダ で書けます。"},
          path.string());
  return events;
}

/// The event stream of one rank: its rows by device, with times since the Unix epoch.
struct Stream {
  int rank = 0;
  std::map<int, Row> rows;
  bool ended = false;
};

Stream read_stream(const fs::path& path) try {
  Stream stream;
  auto& rows = stream.rows;
  std::vector<Interval> iterations;
  for (const Json& event : events_of(path)) {
    stream.rank = event.at("pid");
    stream.ended |= event.at("name") == "end";
    if (event.at("ph") != "X") continue;
    const std::int64_t begin = event.at("ts"), end = begin + event.at("dur").get<std::int64_t>();
    Span span{event.at("name"), {begin, end}, event.value("/args/bytes"_json_pointer, std::int64_t{0})};
    const int device = event.at("tid");
    Row& row = rows.try_emplace(device, Row{event.at("pid"), device, {}, {}}).first->second;
    if (span.name == "iteration")
      iterations.push_back(span.time);
    else
      row.spans.push_back(std::move(span));
  }
  std::sort(iterations.begin(), iterations.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  for (auto& [device, row] : rows) row.iterations = iterations;
  return stream;
} catch (const Json::exception&) {
  fail({"{} holds events that the kit did not write. --trace FOLDER writes a new stream.",
        "{} には、このキットが書いたものでないイベントがあります。--trace フォルダ で書き直してください。"},
       path.string());
}

bool computes(const Row& row) {
  return std::any_of(row.spans.begin(), row.spans.end(),
                     [](auto& span) { return kind_of(span.name) == Kind::compute; });
}

/// A rank that uses device 2 alone speaks as device 0 until it has made that current: no device did that.
void join_rows_without_work(std::map<int, Row>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(), [](auto& entry) { return computes(entry.second); });
  if (first == rows.end()) return;
  for (auto row = rows.begin(); row != rows.end();) {
    if (computes(row->second)) {
      ++row;
      continue;
    }
    auto& to = first->second.spans;
    to.insert(to.end(), row->second.spans.begin(), row->second.spans.end());
    row = rows.erase(row);
  }
}

/// Intervals joined where they touch.
std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& next : intervals)
    if (result.empty() || next.begin > result.back().end)
      result.push_back(next);
    else
      result.back().end = std::max(result.back().end, next.end);
  return result;
}

/// Of intervals that don't touch.
double length(const std::vector<Interval>& intervals) {
  std::int64_t sum = 0;
  for (const Interval& interval : intervals) sum += interval.end - interval.begin;
  return static_cast<double>(sum);
}

/// All that lies in `from` and not in `without`; both joined.
std::vector<Interval> difference(const std::vector<Interval>& from, const std::vector<Interval>& without) {
  std::vector<Interval> result;
  auto taken = without.begin();
  for (Interval rest : from) {
    while (taken != without.end() && taken->end <= rest.begin) ++taken;
    for (auto next = taken; next != without.end() && next->begin < rest.end; ++next) {
      if (next->begin > rest.begin) result.push_back({rest.begin, next->begin});
      rest.begin = std::max(rest.begin, next->end);
    }
    if (rest.begin < rest.end) result.push_back(rest);
  }
  return result;
}

/// An all-reduce moves data once the last rank has come to it. That of one number on all ranks is one and the same: all
/// come to them in the same order.
void find_waits(std::vector<Row>& rows) {
  std::map<std::pair<std::string, std::size_t>, std::vector<Span*>> calls;
  std::map<std::string, std::size_t> n_rows;  // that take part in any of that name
  for (Row& row : rows) {
    std::map<std::string, std::size_t> n;
    for (Span& span : row.spans)
      if (of_all_ranks.contains(span.name)) calls[{span.name, n[span.name]++}].push_back(&span);
    for (const auto& [name, count] : n) ++n_rows[name];
  }
  for (const auto& [call, spans] : calls) {
    if (spans.size() < n_rows[call.first]) continue;  // the stream of a killed rank ends before
    std::int64_t last = 0;
    for (const Span* span : spans) last = std::max(last, span->time.begin);
    for (Span* span : spans) span->wait = std::min(last, span->time.end) - span->time.begin;
  }
}

int iterations_in(const Timeline& timeline) {
  std::size_t most = 0;
  for (const Row& row : timeline.rows) most = std::max(most, row.iterations.size());
  return static_cast<int>(most);
}

}  // namespace

Kind kind_of(std::string_view name) {
  if (computing.contains(name)) return Kind::compute;
  return communicating.contains(name) ? Kind::communication : Kind::other;
}

Timeline read(const fs::path& folder) {
  Timeline timeline;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("trace.") || !name.ends_with(".json") || !entry.is_regular_file(error)) continue;
    Stream stream = read_stream(entry.path());
    join_rows_without_work(stream.rows);
    for (auto& [device, row] : stream.rows) timeline.rows.push_back(std::move(row));
    if (!stream.ended) timeline.cut.push_back(stream.rank);
  }
  require(!timeline.rows.empty(),
          {"There is no event stream in {}. A training writes one with --trace {}, into trace.RANK.json.",
           "{} にイベント列がありません。学習に --trace {} を付けると、trace.ランク.json に書かれます。"},
          folder.string(), folder.string());

  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (Row& row : timeline.rows) {
    std::stable_sort(row.spans.begin(), row.spans.end(), [](auto& a, auto& b) { return a.time.begin < b.time.begin; });
    if (!row.spans.empty()) first = std::min(first, row.spans.front().time.begin);
  }
  for (Row& row : timeline.rows) {
    for (Span& span : row.spans) span.time.begin -= first, span.time.end -= first;
    for (Interval& iteration : row.iterations) iteration.begin -= first, iteration.end -= first;
  }
  find_waits(timeline.rows);
  if (first != std::numeric_limits<std::int64_t>::max()) timeline.began_us = first;
  timeline.n_iterations = iterations_in(timeline);
  std::sort(timeline.cut.begin(), timeline.cut.end());
  std::sort(timeline.rows.begin(), timeline.rows.end(),
            [](auto& a, auto& b) { return std::pair(a.rank, a.device) < std::pair(b.rank, b.device); });
  return timeline;
}

Timeline window(const Timeline& whole, int first, int n) {
  require(first >= 0 && n > 0 && first < iterations_in(whole),
          {"There is no iteration {} in this event stream: it holds {}, counted from 1.",
           "このイベント列に反復 {} はありません。反復の数は {}（1 から数える）です。"},
          first + 1, iterations_in(whole));
  Timeline part{{}, whole.first_iteration + first, whole.n_iterations, whole.began_us};
  for (const Row& row : whole.rows) {
    const auto size = static_cast<int>(row.iterations.size());
    const int last = std::min(first + n, size);
    const auto at = [&](int i) { return row.iterations[static_cast<std::size_t>(i)].begin; };
    const std::int64_t begin = first == 0 || first >= size ? 0 : at(first);
    const std::int64_t end = last < size ? at(last) : std::numeric_limits<std::int64_t>::max();
    Row kept{row.rank, row.device, {}, {}};
    for (const Span& span : row.spans)
      if (begin <= span.time.begin && span.time.begin < end) kept.spans.push_back(span);
    if (first < last) kept.iterations.assign(row.iterations.begin() + first, row.iterations.begin() + last);
    part.rows.push_back(std::move(kept));
  }
  return part;
}

Timeline shortened(const Timeline& whole, std::size_t most_spans) {
  const auto n_spans = [](const Timeline& timeline) {
    std::size_t n = 0;
    for (const Row& row : timeline.rows) n += row.spans.size();
    return n;
  };
  const int n = iterations_in(whole);
  if (n_spans(whole) <= most_spans || n == 0) return whole;
  const std::size_t an_iteration = n_spans(whole) / static_cast<std::size_t>(n) + 1;
  return window(whole, 0, static_cast<int>(std::max<std::size_t>(1, most_spans / an_iteration)));
}

Shares shares_of(const Timeline& timeline, const Row& row) {
  const bool compiles = timeline.first_iteration == 0 && row.iterations.size() > 1;
  Shares shares;
  for (std::size_t i = compiles ? 1 : 0; i < row.iterations.size(); ++i) {
    const Interval& iteration = row.iterations[i];
    std::vector<Interval> compute, communication, waits;
    for (const Span& span : row.spans) {
      const Interval part{std::max(span.time.begin, iteration.begin), std::min(span.time.end, iteration.end)};
      if (part.begin >= part.end) continue;
      if (kind_of(span.name) == Kind::compute) compute.push_back(part);
      if (kind_of(span.name) != Kind::communication) continue;
      communication.push_back(part);
      waits.push_back({part.begin, std::clamp(span.time.begin + span.wait, part.begin, part.end)});
      shares.bytes += static_cast<double>(span.bytes);
      ++shares.collectives;
    }
    compute = joined(std::move(compute));
    communication = joined(std::move(communication));
    const double computed = length(compute), whole = static_cast<double>(iteration.end - iteration.begin);
    const double exposed = length(difference(communication, compute));
    ++shares.iterations;
    shares.iteration_us += whole;
    shares.compute_us += computed;
    shares.exposed_us += exposed;
    shares.late_us += length(difference(joined(std::move(waits)), compute));
    shares.hidden_us += length(communication) - exposed;
    shares.waiting_us += whole - computed - exposed;
  }
  for (double* sum : {&shares.iteration_us, &shares.compute_us, &shares.exposed_us, &shares.late_us, &shares.hidden_us,
                      &shares.waiting_us, &shares.bytes, &shares.collectives})
    *sum /= std::max(1, shares.iterations);
  return shares;
}

}  // namespace odori::timeline
