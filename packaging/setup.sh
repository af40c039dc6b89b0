# What packaging/run, packaging/test and packaging/test-long share: packages, configuration, build. Sourced by bash from
# the project's root folder.

# Everything the build and the tests need of Debian 12; a CUDA toolkit is used when it is there.
packages=(g++ cmake ninja-build ccache pkg-config
  libspdlog-dev libfmt-dev nlohmann-json3-dev libgtest-dev libopenblas-dev libzstd-dev libsqlite3-dev
  qt6-base-dev libqt6opengl6-dev qt6-charts-dev qt6-svg-dev fontconfig fonts-dejavu-core tzdata xvfb xauth)

say() { printf '%s\n' "== $*"; }

# apt-get as root, or through sudo; nothing is asked when nothing is missing.
install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing: ${missing[*]}. Run this as root, or install sudo." >&2
      exit 2
    fi
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# As many jobs as processors, each with 1.5 GiB of free memory; FOXHUNT_JOBS overrides.
jobs() {
  local by_memory
  by_memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  local count
  count=$(nproc)
  [ "$by_memory" -lt "$count" ] && count=$by_memory
  [ "$count" -lt 1 ] && count=1
  echo "${FOXHUNT_JOBS:-$count}"
}

# What the CUDA kernels are built for here: the GPUs of this machine, or one architecture, which proves that they compile.
# A package is built for all (the default of FOXHUNT_CUDA_ARCHITECTURES).
architectures() {
  local found
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -xE '[0-9]+' |
    sort -u | paste -sd ';' -) || true
  echo "${found:-90}"
}

# Configures build/release, the quick way unless it exists and says otherwise, and builds the targets given, all without any.
build_release() {
  # Precompiled headers are cacheable only so.
  export CCACHE_SLOPPINESS=pch_defines,time_macros
  say "configuring"
  if [ -e build/release/CMakeCache.txt ]; then
    cmake --preset release
  else
    cmake --preset release -DFOXHUNT_CUDA_ARCHITECTURES="$(architectures)" -DFOXHUNT_QUICK_BUILD=ON
  fi
  say "building with $(jobs) jobs"
  cmake --build --preset release --parallel "$(jobs)" ${1:+--target "$@"}
}
