// The files and folders in a folder.
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>

namespace ferrule {

// Calls `visit` with the path of each entry, in no order, until it returns false. A folder that cannot be read is told
// of in the error code. Throws bad_alloc, where libstdc++'s directory_iterator ends the process: its increment is
// noexcept, in all of its forms, and takes memory for each name.
std::error_code visit_entries(const std::filesystem::path& folder,
                              const std::function<bool(const std::filesystem::path& path)>& visit);

}  // namespace ferrule
