// SPDX-License-Identifier: Apache-2.0
#include "blanks/select_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <sstream>

#include "blanks/blanks.h"
#include "blanks/utf8.h"
#include "errors/nearest.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_digits = 4;   // of a number: no product of two and no sum of these overflows
constexpr std::size_t most_shown = 120;  // bytes of the learner's text in a message

bool is_of_chunk(std::string_view name) { return name == "ncpus" || name == "mpiprocs" || name == "ompthreads"; }

/// The resource that a learner means by this name; nothing if it may be a name of PBS's or of a site's.
std::optional<std::string> meant_by(const std::string& name) {
  static const std::map<std::string, std::string> names{
      {"ppn", "mpiprocs"},       {"procs", "mpiprocs"}, {"processes", "mpiprocs"},
      {"nprocs", "mpiprocs"},    {"np", "mpiprocs"},    {"ntasks", "mpiprocs"},
      {"threads", "ompthreads"}, {"omp", "ompthreads"}, {"omp_num_threads", "ompthreads"},
      {"nodes", "select"},       {"gpus", "ngpus"},     {"ngpu", "ngpus"}};
  if (is_of_chunk(name)) return {};
  if (const auto found = names.find(name); found != names.end()) return found->second;
  for (const char* resource : {"mpiprocs", "ompthreads"})
    if (slips(name, resource) <= 2) return resource;
  return {};
}

std::optional<int> count_in(std::string_view text) {
  return text.size() <= most_digits && !text.starts_with('-') ? number_of<int>(text) : std::nullopt;
}

/// Equal nodes. PBS's defaults: one process per node, one thread for each core of `ncpus`, one core.
struct Chunk {
  int nodes = 1;
  std::optional<int> cores, processes, threads;  // ncpus, mpiprocs, ompthreads
  int processes_a_node() const { return processes.value_or(1); }
  int threads_a_process() const { return threads.value_or(cores.value_or(1)); }
};

struct SelectLine {
  std::vector<Chunk> chunks;
  bool packed = false;    // place=pack: all chunks on one node
  bool repeated = false;  // another select follows
};

/// Thrown while a script is read that PBS would not accept.
struct NotAccepted {
  Finding why;
};

/// "2:mpiprocs=2:ompthreads=1"; the number may be missing, and then it is 1.
Chunk read_chunk(std::string_view text) {
  Chunk chunk;
  auto parts = split(text, ':');
  if (parts.front().find('=') == std::string::npos) {
    const auto nodes = count_in(parts.front());
    if (!nodes || *nodes == 0) throw NotAccepted{{"select_needs_number", {{"part", parts.front()}}}};
    chunk.nodes = *nodes;
    parts.erase(parts.begin());
  }
  for (const std::string& part : parts) {
    const auto equals = part.find('=');
    const std::string name = lower(part.substr(0, equals));
    if (const auto meant = meant_by(name))
      throw NotAccepted{{"resource_misnamed", {{"name", name}, {"meant", *meant}}}};
    auto& resource = name == "ncpus" ? chunk.cores : name == "mpiprocs" ? chunk.processes : chunk.threads;
    // `place` and `walltime` belong to the whole job.
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size() || name == "place" ||
        name == "walltime" || (is_of_chunk(name) && resource))
      throw NotAccepted{{"chunk_unreadable", {{"part", part}}}};
    if (!is_of_chunk(name)) continue;
    resource = count_in(part.substr(equals + 1));
    if (!resource || (*resource == 0 && name == "ompthreads"))
      throw NotAccepted{{"resource_needs_number", {{"part", part}}}};
  }
  return chunk;
}

/// Throws NotAccepted for a value of -l, except that of select.
void check_resources(const std::vector<PbsResource>& resources, bool has_select) {
  for (const auto& [name, value] : resources) {
    const std::string text = name + '=' + value;
    if (name == "nodes") throw NotAccepted{{"nodes_of_old", {{"text", text}}}};
    if (name != "select" && name.starts_with("select")) throw NotAccepted{{"select_needs_equals", {{"text", name}}}};
    if (name.empty() || name[0] < 'a' || name[0] > 'z') throw NotAccepted{{"resource_expected", {{"text", name}}}};
    if (has_select && is_of_chunk(name)) throw NotAccepted{{"resource_outside_select", {{"text", text}}}};
  }
}

/// Why the directives contain no select.
Finding missing_select(const std::vector<std::string>& script, const PbsDirectives& directives) {
  for (const std::string& line : directives.after_command)
    if (line.find("select") != std::string::npos) return {"directive_behind_command", {{"text", line}}};
  for (const std::string& word : directives.left_over)
    if (word.starts_with("select")) return {"option_l_missing", {{"text", word}}};
  for (const std::string& line : script) {
    const std::string small = lower(trim(line, "#$/! \t"));
    if (small.starts_with("sbatch")) return {"slurm_directive", {{"text", line}}};
    const bool is_directive = small.starts_with("pbs") || small.starts_with("-l") || small.starts_with("select=");
    if (is_directive && small.find("select=") != std::string::npos && !trim(line).starts_with("#PBS"))
      return {"prefix_wrong", {{"text", line}}};
  }
  return {"select_missing", {}};
}

std::vector<Chunk> read_chunks(const std::string& value) {
  for (std::size_t at = 0; at < value.size(); ++at)
    if (static_cast<unsigned char>(value[at]) >= 0x80)
      throw NotAccepted{{"not_ascii_in_select", {{"character", value.substr(at, character_at(value, at).second)}}}};
  std::vector<Chunk> chunks;
  for (const std::string& part : split(value, '+')) chunks.push_back(read_chunk(part));
  return chunks;
}

/// Reads the first select and the first place, since qsub ignores later ones.
SelectLine read_select_line(const std::vector<std::string>& script) {
  const PbsDirectives directives = read_pbs_directives(script);
  std::vector<std::string> selects, places;
  for (const auto& [name, value] : directives.resources) {
    if (name == "select") selects.push_back(value);
    if (name == "place") places.push_back(value);
  }
  check_resources(directives.resources, !selects.empty());
  if (selects.empty()) throw NotAccepted{missing_select(script, directives)};
  if (!directives.left_over.empty()) {
    const bool comment = directives.left_over.front().starts_with('#');
    throw NotAccepted{{comment ? "comment_behind_select" : "space_in_select",
                       {{"text", fmt::format("{}", fmt::join(directives.left_over, " "))}}}};
  }
  return {.chunks = read_chunks(selects.front()),
          .packed = !places.empty() && places.front().starts_with("pack"),
          .repeated = selects.size() > 1};
}

struct Totals {
  std::int64_t nodes = 0, processes = 0;
  bool even = true, processes_given = false;
};

Totals totals_of(const SelectLine& line) {
  Totals totals;
  for (const Chunk& chunk : line.chunks) {
    totals.nodes += chunk.nodes;
    totals.processes += std::int64_t{chunk.nodes} * chunk.processes_a_node();
    totals.even = totals.even && chunk.processes_a_node() == line.chunks.front().processes_a_node();
    totals.processes_given = totals.processes_given || chunk.processes.has_value();
  }
  return totals;
}

/// A finding with what the line requests (nodes, processes in all and per node, threads per process) and the devices.
Finding finding(const char* key, const SelectLine& line, int devices) {
  const Totals totals = totals_of(line);
  std::string processes;
  for (const Chunk& chunk : line.chunks)
    for (int node = 0; node < std::min(chunk.nodes, 4) && processes.size() < most_shown; ++node)
      processes += (processes.empty() ? "" : " + ") + std::to_string(chunk.processes_a_node());
  if (totals.even) processes = std::to_string(line.chunks.front().processes_a_node());
  return {key,
          {{"nodes", std::to_string(totals.nodes)},
           {"all", std::to_string(totals.processes)},
           {"processes", processes},
           {"threads", std::to_string(line.chunks.front().threads_a_process())},
           {"devices", std::to_string(devices)},
           {"all_devices", std::to_string(2 * devices)}}};
}

std::optional<Finding> find_for_one_process(const SelectLine& line, int devices) {
  const auto [nodes, processes, even, given] = totals_of(line);
  if (nodes == 1 && processes == 1) {
    if (line.chunks.front().threads == 1 && devices > 1) return finding("one_thread_for_all_devices", line, devices);
    return {};
  }
  if (nodes == 1 && processes > 1) return finding("process_for_each_device", line, devices);
  if (nodes > 1 && processes == nodes) return finding("node_for_each_device", line, devices);
  return finding("one_process_expected", line, devices);
}

std::optional<Finding> find_for_two_nodes(const SelectLine& line, int devices) {
  const auto [nodes, processes, even, given] = totals_of(line);
  const auto found = [&](const char* key) { return finding(key, line, devices); };
  if (line.packed && nodes > 1) return found("packed_on_one_node");
  const auto threads = line.chunks.front().threads_a_process();
  const int all_devices = 2 * devices;
  if (nodes == 2 && processes == all_devices && even) {
    for (const Chunk& chunk : line.chunks)
      if (chunk.threads_a_process() != 1)
        return finding(chunk.threads ? "threads_too_many" : "threads_from_ncpus", SelectLine{{chunk}}, devices);
    return {};
  }
  if (nodes == 1 && processes == all_devices) return found("all_processes_on_one_node");
  if (nodes == 1) return found("one_node_only");
  if (nodes == 2 && !even) return found("nodes_uneven");
  if (nodes == all_devices && processes == all_devices) return found("node_for_each_process");
  if (nodes == 2 && !given) return found("mpiprocs_missing");
  if (nodes == 2 && processes == 2 && threads == 2) return found("threads_for_processes");
  if (nodes == 2 && processes == 2 * all_devices) return found("processes_of_all_nodes");
  return found("two_by_two_expected");
}

}  // namespace

std::optional<Finding> find_in_job_script(const Task& task, int devices, const std::vector<std::string>& script) try {
  const SelectLine line = read_select_line(script);
  const auto finding = task.under_mpi ? find_for_two_nodes(line, devices) : find_for_one_process(line, devices);
  return finding && line.repeated ? Finding{"second_select_ignored", finding->values} : finding;
} catch (NotAccepted& refused) {
  for (auto& [name, value] : refused.why.values) value = bounded(value, most_shown);
  return std::move(refused.why);
}

namespace {

constexpr std::string_view directive = "#PBS";
constexpr std::string_view options_without_value = "IVXfhz";

/// Splits at blanks. Quotation marks are removed: no value that the kit's scripts need contains a blank.
std::vector<std::string> arguments_of(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '"' || c == '\''; });
  std::istringstream words(plain);
  return {std::istream_iterator<std::string>(words), {}};
}

/// "select=2:mpiprocs=2,walltime=600" as two resources.
void add_resources(const std::string& list, std::vector<PbsResource>& resources) {
  for (const std::string& resource : split(list, ',')) {
    const auto equals = std::min(resource.find('='), resource.size());
    const std::string value = equals < resource.size() ? resource.substr(equals + 1) : "";
    if (!resource.empty()) resources.push_back({lower(resource.substr(0, equals)), value});
  }
}

/// `-l value` or `-lvalue`; of other options the value is skipped.
void read_options(const std::vector<std::string>& arguments, PbsDirectives& found) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      found.left_over.push_back(argument);
      continue;
    }
    if (options_without_value.find(argument[1]) != std::string_view::npos) continue;
    const bool is_next = argument.size() == 2 && i + 1 < arguments.size();
    const std::string value = is_next ? arguments[++i] : argument.substr(2);
    if (argument[1] == 'l') add_resources(value, found.resources);
  }
}

}  // namespace

PbsDirectives read_pbs_directives(const std::vector<std::string>& script) {
  PbsDirectives found;
  for (const std::string& line : script) {
    const std::string_view text = trim(line);
    if (text.starts_with(directive) && found.commands.empty())
      read_options(arguments_of(text.substr(directive.size())), found);
    else if (text.starts_with(directive))
      found.after_command.push_back(line);
    else if (!text.empty() && text[0] != '#')
      found.commands.push_back(line);
  }
  return found;
}

}  // namespace odori::grader
