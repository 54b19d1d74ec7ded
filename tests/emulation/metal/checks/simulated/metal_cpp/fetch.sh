#!/usr/bin/env bash
# Prints the folder of metal-cpp, for -DFERRULE_METAL_CPP=<folder>. It is taken out of MLX's wheel for macOS (45 MB), once,
# and kept in the cache.
#
#   fetch.sh [python]   the Python whose pip downloads the wheel
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${1:-python3}
version=$(sed -n 's/^mlx-metal==\([0-9.]*\).*/\1/p' "$here/requirements.txt")
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/ferrule-build
folder=$cache/metal-cpp-$version
if [ ! -d "$folder" ]; then
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/metal-cpp-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  "$python" -m pip download -q --no-deps --only-binary=:all: --platform macosx_14_0_arm64 --require-hashes \
    -r "$here/requirements.txt" -d "$work" >&2
  "$python" -m zipfile -e "$work"/mlx_metal-*.whl "$work/wheel"
  mv -T "$work/wheel/mlx/include/metal_cpp" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
echo "$folder"
