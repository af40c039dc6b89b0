// The kernels' fatbins, embedded into the plugin: one a family of kernels/kernels.def.
#pragma once

#include <span>

namespace foxhunt::device {

struct Fatbin {
  const char* family;
  const unsigned char *begin, *end;
};

std::span<const Fatbin> fatbins();

}  // namespace foxhunt::device
