#!/usr/bin/env bash
# Driver calls of one training step, seen from outside: two benches of unlike length under CUPTI, and the difference of
# their counts over the difference of their steps.
#   driver_calls.sh FOXHUNT_CLI LIBDRIVER_CALLS_SO [BATCH]
set -euo pipefail
cli=$1 library=$(realpath "$2") batch=${3:-256}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for steps in 600 2600; do
  CUDA_INJECTION64_PATH=$library FOXHUNT_DRIVER_CALLS=$scratch/$steps \
    "$cli" bench --device cuda --batch "$batch" --steps "$steps" --quiet >"$scratch/$steps.out"
done
echo "calls a step  name (2,000 steps at batch $batch)"
awk 'NR == FNR { before[$2] = $1; next } $1 != before[$2] { printf "%12.4f  %s\n", ($1 - before[$2]) / 2000, $2 }' \
  "$scratch/600" "$scratch/2600"
