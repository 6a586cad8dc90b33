# SPDX-License-Identifier: Apache-2.0
# Sourced, with $site, $MODULES and a function `stop CODE LINE...`: loads the site's modules in a job.

# Batch shells often haven't read the file that defines `module`.
define_module() {
  local file
  for file in "$LMOD_PKG/init/bash" "$MODULESHOME/init/bash" /etc/profile.d/{lmod,z00_lmod,modules,z00_modules}.sh \
    /usr/share/{lmod/lmod,modules}/init/bash; do
    ! type module >/dev/null 2>&1 || return 0
    [ ! -r "$file" ] || . "$file" >/dev/null 2>&1
  done
  type module >/dev/null 2>&1 || stop 20 "$site names modules (MODULES=), but this node has no command \`module\`." \
    "Ask the site which file defines it in a job, and source that file at the top of $site."
}

load_modules() {
  local name
  [ -z "$MODULES" ] || define_module
  for name in $MODULES; do
    module load "$name" || stop 20 "The module $name can't be loaded. \`module avail\` lists those that there are;" \
      "MODULES= in $site names those that a job loads."
  done
}
