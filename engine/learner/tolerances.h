// The error budget of a step against the float64 oracle: relative L2 errors, about four times what rounding alone makes
// of learner.py in that precision (measured; docs/testing.md has the table with its reasons).
#pragma once

#include "engine/device/product.h"

namespace foxhunt {

enum class Tolerance {
  exact,
  loss,
  q,
  sigma,
  spectral_vector,
  gradient,
  all_gradients,
  parameter,
  all_parameters,
  target,
  moment1,
  moment2,
  other
};

inline double tolerance(Tolerance kind, device::Precision precision) {
  const bool fp32 = precision == device::Precision::fp32;
  switch (kind) {
    case Tolerance::exact:
      return 0;
    case Tolerance::loss:
    case Tolerance::other:
      return fp32 ? 3e-6 : 3e-3;
    case Tolerance::q:
      return fp32 ? 4e-6 : 5e-3;
    case Tolerance::sigma:
      return fp32 ? 1e-5 : 1e-4;
    case Tolerance::spectral_vector:
      return fp32 ? 1e-4 : 3e-4;
    case Tolerance::gradient:
      return fp32 ? 4e-4 : 2e-1;
    case Tolerance::all_gradients:
      return fp32 ? 5e-6 : 3e-3;
    case Tolerance::parameter:
      return fp32 ? 2e-4 : 3e-1;
    case Tolerance::all_parameters:
      return fp32 ? 1e-5 : 2e-4;
    case Tolerance::target:
      return fp32 ? 3e-6 : 1e-4;
    case Tolerance::moment1:
      return fp32 ? 2e-4 : 3e-1;
    case Tolerance::moment2:
      return fp32 ? 3e-5 : 1e-1;
  }
  return 0;
}

}  // namespace foxhunt
