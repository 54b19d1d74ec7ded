# sh compile_kernel.sh <-cubin or -both> <output> <tree> <ccache> <nvcc> <arguments>: compiles one kernel file for one
# architecture, with ccache unless that is empty. The output is <name>.cubin; with -both, <name>.ptx is written, too. Beside
# it are <output>.d, for the build, and <output>.txt, with what nvcc says; what is no resource usage is printed, too.
#
# It starts in the folder that the paths of the arguments are relative to, so that all builds of all copies of the tree
# share the cache's entries.
export FERRULE_NVCC_PHASE=$1 CCACHE_BASEDIR=$3 CCACHE_NAMESPACE="${CCACHE_NAMESPACE:-}$1"
phase=$1 output=$2 ccache=$4 compiled=$2
shift 4
[ $phase != -both ] || compiled=${output%.cubin}.tar
folder=$(cd "$(dirname "$0")" && pwd)
if [ -n "$ccache" ]; then
  # Depend mode takes the headers from nvcc's list: nvcc -E preprocesses the host's code, which may include others. The
  # contents of nvcc are in the key, not its time: each environment of Python has its own copy.
  export CCACHE_PREFIX=device_phase PATH="$folder:$PATH" CCACHE_DEPEND=1 CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content
  set -- "$ccache" "$@"
else
  set -- sh "$folder/device_phase" "$@"
fi
status=0
"$@" -c -MD -MF "$output.list" -o "$compiled" 2>"$output.txt" || status=$?
grep -vE '^(ptxas info|    [0-9]+ bytes )' "$output.txt" >&2
[ $status = 0 ] || exit $status
if [ $phase = -both ]; then
  tar -xOf "$compiled" code.cubin >"$output" && tar -xOf "$compiled" code.ptx >"${output%.cubin}.ptx" || exit
  rm "$compiled"
fi
# A list of the cache names the output of another build, and its relative paths are those of this folder.
escaped() { printf '%s' "$1" | sed 's/ /\\\\ /g; s/[&|]/\\&/g'; }
sed -e "1s|^.*: *|$(escaped "$output"): $(escaped "$PWD")/|" -e "2,\$s|^ *\([^ /]\)|  $(escaped "$PWD")/\1|" \
  -e 's|: .*/\(/.*\)|: \1|' "$output.list" >"$output.d"
rm "$output.list"
