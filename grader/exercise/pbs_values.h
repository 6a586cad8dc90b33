// What PBS takes for the name of a resource, and for its value.
#pragma once

#include <string_view>

namespace odori::grader {

/// A small letter, then small letters, digits, `_` and `-`.
bool is_resource_name(std::string_view text);

/// Has the whole job this resource, and no chunk of it? As its time, and how its chunks are placed.
bool is_of_whole_job(std::string_view resource);

/// Of a resource that PBS itself has, could this be a value? mem=4gb, walltime=0:10:00, place=scatter:excl, ngpus=2.
/// What a site has added may be anything. After OpenPBS 23.06 (Altair, 2023): attr_fn_size.c, attr_fn_time.c, and the
/// resources of master_resc_def_all.xml, of which a chunk has those with ATR_DFLAG_CVTSLT.
bool can_be_value(std::string_view resource, std::string_view value);

}  // namespace odori::grader
