// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/operation.h"

namespace odori::cpu {

void Steps::add_reorder(const std::string& name, const Setup& setup, const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::reorder::primitive_desc description(setup.engine, from.get_desc(), setup.engine, to.get_desc(),
                                                  user_scratchpad());
  add(name + ", other layout", setup, description, dnnl::reorder(description),
      {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

dnnl::memory Steps::in_layout(const std::string& name, const Setup& setup, const dnnl::memory& from,
                              const dnnl::memory::desc& wanted) {
  if (wanted == from.get_desc()) return from;
  const dnnl::memory copy = setup.plan.scratch(wanted);
  add_reorder(name, setup, from, copy);
  return copy;
}

}  // namespace odori::cpu
