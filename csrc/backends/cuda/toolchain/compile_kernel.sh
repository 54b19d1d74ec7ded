# sh compile_kernel.sh <text> <nvcc> <arguments>: runs nvcc. What it says goes to the file; only what is no resource
# usage is printed, too.
text=$1
shift
status=0
"$@" 2>"$text" || status=$?
grep -vE '^(ptxas info|    [0-9]+ bytes )' "$text" >&2
exit $status
