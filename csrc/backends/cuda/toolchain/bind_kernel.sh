# sh bind_kernel.sh <fatbinary> <output> <architecture=file ...>: binds what compile_kernel.sh made, *.cubin and *.ptx,
# to one fat binary. Beside <name>.fatbin is <name>.resources.txt, with what ptxas says about all of them.
fatbinary=$1 output=$2
shift 2
: >"${output%.fatbin}.resources.txt"
for pair; do
  shift
  file=${pair#*=} kind=elf
  [ "${file%.ptx}" = "$file" ] || kind=ptx
  [ ! -e "$file.txt" ] || cat "$file.txt" >>"${output%.fatbin}.resources.txt"
  set -- "$@" "--image3=kind=$kind,sm=${pair%%=*},file=$file"
done
# The command line is for the driver, which compiles the PTX on newer GPUs.
exec "$fatbinary" --create="$output" -64 --cmdline="--fmad false" --compress-mode=size "$@"
