# Runs at install time: writes `list`, the hashes of the modules that are installed with libferrule. `manifests` are
# the manifest files beside the modules.
set(entries "")
foreach(manifest IN LISTS manifests)
  file(READ ${manifest} text)
  string(JSON hash GET ${text} sha256)
  cmake_path(GET manifest STEM LAST_ONLY stem)
  list(APPEND entries "    \"${stem}\": \"${hash}\"")
endforeach()
list(JOIN entries ",\n" entries)
file(WRITE ${list} "{\n  \"sha256\": {\n${entries}\n  }\n}\n")
