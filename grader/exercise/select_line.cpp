#include "exercise/select_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "errors/nearest.h"
#include "exercise/blanks.h"
#include "exercise/pbs_directives.h"
#include "exercise/pbs_values.h"
#include "exercise/utf8.h"

namespace odori::grader {
namespace {

constexpr std::array chunk_resources{"ncpus", "mpiprocs", "ompthreads"};
/// Of nodes, and of cores, processes and threads of one: more than any machine has that this kit meets.
constexpr int most_of_anything = 1024;
constexpr std::size_t most_shown = 120;  // bytes of the learner's text in a message
/// What other schedulers, and habit, call them: PBS takes a site's own resources too, but hardly one of these names.
constexpr std::array<std::pair<std::string_view, const char*>, 15> mistaken_names{{{"ppn", "mpiprocs"},
                                                                                   {"procs", "mpiprocs"},
                                                                                   {"processes", "mpiprocs"},
                                                                                   {"nprocs", "mpiprocs"},
                                                                                   {"np", "mpiprocs"},
                                                                                   {"ntasks", "mpiprocs"},
                                                                                   {"tasks", "mpiprocs"},
                                                                                   {"mpi", "mpiprocs"},
                                                                                   {"threads", "ompthreads"},
                                                                                   {"nthreads", "ompthreads"},
                                                                                   {"omp", "ompthreads"},
                                                                                   {"omp_num_threads", "ompthreads"},
                                                                                   {"nodes", "select"},
                                                                                   {"gpus", "ngpus"},
                                                                                   {"ngpu", "ngpus"}}};

/// The resource that was probably meant by this name; nothing if it is itself or a site's own.
std::optional<std::string> meant_by(std::string_view name) {
  for (const char* resource : chunk_resources)
    if (name == resource) return {};
  for (const auto& [mistaken, meant] : mistaken_names)
    if (name == mistaken) return meant;
  for (const char* resource : {"mpiprocs", "ompthreads"})
    if (slips(name, resource) <= 2) return resource;
  return {};
}

/// Without a sign, as PBS reads it; one beyond most_of_anything counts as the next above that.
std::optional<int> number(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::min(value, most_of_anything + 1) : most_of_anything + 1;
}

Finding too_large(std::string_view part) {
  return {"number_too_large", {{"part", std::string(part)}, {"most", std::to_string(most_of_anything)}}};
}

/// "2:mpiprocs=2:ompthreads=1"; the number may be missing, and then it is 1.
std::variant<Chunk, Finding> read_chunk(std::string_view text) {
  Chunk chunk;
  auto parts = split(text, ':');
  if (parts.front().find('=') == std::string_view::npos) {
    const auto nodes = number(parts.front());
    if (!nodes || *nodes == 0) return Finding{"select_needs_number", {{"part", std::string(parts.front())}}};
    if (*nodes > most_of_anything) return too_large(parts.front());
    chunk.nodes = *nodes;
    parts.erase(parts.begin());
  }
  for (const std::string_view part : parts) {
    const auto equals = part.find('=');
    const std::string name = lower(part.substr(0, equals));
    if (const auto meant = meant_by(name)) return Finding{"resource_misnamed", {{"name", name}, {"meant", *meant}}};
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size())
      return Finding{"chunk_unreadable", {{"part", std::string(part)}}};
    if (is_of_whole_job(name)) return Finding{"resource_of_whole_job", {{"part", std::string(part)}, {"name", name}}};
    if (std::find(chunk_resources.begin(), chunk_resources.end(), name) == chunk_resources.end()) {
      if (!is_resource_name(name) || !can_be_value(name, part.substr(equals + 1)))
        return Finding{"chunk_unreadable", {{"part", std::string(part)}}};
      continue;
    }
    const auto value = number(part.substr(equals + 1));
    if (!value || (*value == 0 && name == "ompthreads"))
      return Finding{"resource_needs_number", {{"part", std::string(part)}}};
    if (*value > most_of_anything) return too_large(part);
    auto& resource = name == "ncpus" ? chunk.cores : name == "mpiprocs" ? chunk.processes : chunk.threads;
    if (resource) return Finding{"resource_twice", {{"name", name}}};
    resource = value;
  }
  return chunk;
}

/// Why there is no select in the directives, from what stands there instead.
Finding missing_select(const std::vector<std::string>& script, const PbsDirectives& directives) {
  for (const PbsResource& resource : directives.resources) {
    if (resource.name == "nodes") return {"nodes_of_old", {{"text", "nodes=" + resource.value}}};
    if (resource.name.starts_with("select")) return {"select_needs_equals", {{"text", resource.name}}};
    if (!is_resource_name(resource.name)) return {"resource_expected", {{"text", resource.name}}};
  }
  for (const std::string& line : directives.behind_command)
    if (line.find("select") != std::string::npos) return {"directive_behind_command", {{"text", line}}};
  for (const std::string& word : directives.left_over)
    if (word.starts_with("select")) return {"option_l_missing", {{"text", word}}};
  for (const std::string& line : script) {
    const std::string small = lower(trim(line));
    if (small.starts_with("#sbatch")) return {"slurm_directive", {{"text", line}}};
    const auto select = small.find("select="), words = small.find_first_not_of("#$/! \t");
    if (select != std::string::npos && !trim(line).starts_with("#PBS") &&
        (small.substr(words).starts_with("pbs") || small.substr(words).starts_with("-l") || select == words))
      return {"prefix_wrong", {{"text", line}}};
  }
  return {"select_missing", {}};
}

/// What qsub would refuse the script for, although it has a select; nothing if it would take it.
std::optional<Finding> refused(const PbsDirectives& directives) {
  for (const PbsResource& resource : directives.resources) {
    if (std::find(chunk_resources.begin(), chunk_resources.end(), resource.name) != chunk_resources.end())
      return Finding{"resource_outside_select", {{"text", resource.name + '=' + resource.value}}};
    if (resource.name == "nodes") return Finding{"nodes_of_old", {{"text", "nodes=" + resource.value}}};
    if (!is_resource_name(resource.name)) return Finding{"resource_expected", {{"text", resource.name}}};
    if (!can_be_value(resource.name, resource.value))
      return Finding{"value_unreadable", {{"text", resource.name + '=' + resource.value}}};
  }
  if (directives.left_over.empty()) return {};
  const bool comment = directives.left_over.front().starts_with('#');
  return Finding{comment ? "comment_behind_select" : "space_in_select",
                 {{"text", fmt::format("{}", fmt::join(directives.left_over, " "))}}};
}

std::variant<SelectLine, Finding> read_chunks(const std::string& value) {
  if (value.find_first_of(" \t") != std::string::npos) return Finding{"space_in_select", {{"text", value}}};
  const auto wide = std::ranges::find_if(value, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (wide != value.end()) {
    const auto begin = static_cast<std::size_t>(wide - value.begin());
    return Finding{"not_ascii_in_select", {{"character", value.substr(begin, character_at(value, begin).second)}}};
  }
  SelectLine line;
  for (const std::string_view part : split(value, '+')) {
    auto chunk = read_chunk(part);
    if (const auto* finding = std::get_if<Finding>(&chunk)) return *finding;
    line.chunks.push_back(std::get<Chunk>(chunk));
  }
  return line;
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

/// What is asked for, for a message: nodes, processes in all and a node, threads a process. And what there is.
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

std::variant<SelectLine, Finding> read_select_line(const std::vector<std::string>& script) {
  const PbsDirectives directives = read_pbs_directives(script);
  const auto is_select = [](const PbsResource& resource) { return resource.name == "select"; };
  const auto& resources = directives.resources;
  const auto select = std::find_if(resources.begin(), resources.end(), is_select);
  if (select == resources.end()) return missing_select(script, directives);
  if (const auto finding = refused(directives)) return *finding;
  auto line = read_chunks(select->value);
  if (auto* read = std::get_if<SelectLine>(&line)) {
    read->repeated = std::find_if(select + 1, resources.end(), is_select) != resources.end();
    const auto place = std::find_if(resources.begin(), resources.end(),
                                    [](const PbsResource& resource) { return resource.name == "place"; });
    read->packed = place != resources.end() && place->value.starts_with("pack");
  }
  return line;
}

std::optional<Finding> find_in_job_script(const Task& task, int devices, const std::vector<std::string>& script) {
  auto line = read_select_line(script);
  if (auto* finding = std::get_if<Finding>(&line)) {
    for (auto& [name, value] : finding->values) value = bounded(value, most_shown);
    return std::move(*finding);
  }
  const auto& read = std::get<SelectLine>(line);
  const auto finding = task.under_mpi ? find_for_two_nodes(read, devices) : find_for_one_process(read, devices);
  if (finding && read.repeated) return Finding{"second_select_ignored", finding->values};
  return finding;
}

}  // namespace odori::grader
