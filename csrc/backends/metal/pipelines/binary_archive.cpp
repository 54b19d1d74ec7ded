#include "pipelines/binary_archive.h"

#include <ferrule/cpp/cache.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "pipelines/embedded_texts.h"

namespace ferrule::metal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kind = "metal_pipelines";

// Identifies the texts of the kernels, the GPU and the system, whose compiler and driver are part of it.
std::string key_of(const PhysicalDevice& device) {
  uint64_t hash = sdk::hash_of("");
  for (const EmbeddedText& row : embedded_texts()) hash = sdk::hash_of(row.text, hash);
  const Id process = send<Id>(class_named("NSProcessInfo"), Message::process_info);
  return std::string("ferrule-metal ") + FERRULE_VERSION + "\ntexts " + std::to_string(hash) + "\ndevice " +
         device.description.name + "\n" + device.description.description + "\nsystem " +
         text_of(send<Id>(process, Message::operating_system_version_string));
}

// A new folder that only this user can access, for the file of an archive: Metal reads and writes archives by URL.
class ArchiveFile {
 public:
  ArchiveFile() {
    std::string pattern = (fs::temp_directory_path() / "ferrule-metal-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    folder_ = pattern;
  }
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;
  ~ArchiveFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path path() const { return folder_ / "pipelines.metalarchive"; }
  Id url() const {
    const Id text = string_of(path().string());
    if (text == nullptr) throw sdk::Error(FE_IO, "the name of the folder of temporary files is not UTF-8");
    return send<Id>(class_named("NSURL"), Message::file_url_with_path, text);
  }

 private:
  fs::path folder_;
};

void log(const std::string& sentence) { sdk::host->log(FE_LOG_DEBUG, ("metal: " + sentence).c_str()); }

}  // namespace

Owned BinaryArchive::empty_archive() const {
  Id error = nullptr;
  const Owned descriptor = new_object("MTLBinaryArchiveDescriptor");
  Owned made = Owned::taken(send<Id>(device_.device.get(), Message::new_binary_archive, descriptor.get(), &error));
  if (!made) log("there is no archive of pipelines: " + reason_of(error));
  return made;
}

Owned BinaryArchive::archive_of(const std::vector<uint8_t>& bytes) const {
  const ArchiveFile file;
  std::ofstream out(file.path(), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::system_error(std::make_error_code(std::errc::io_error), file.path().string());
  const Owned descriptor = new_object("MTLBinaryArchiveDescriptor");
  send<void>(descriptor.get(), Message::set_url, file.url());
  Id error = nullptr;
  Owned made = Owned::taken(send<Id>(device_.device.get(), Message::new_binary_archive, descriptor.get(), &error));
  if (!made) log("the archive of pipelines is not used: " + reason_of(error));
  return made;
}

void BinaryArchive::open() noexcept try {
  if (max_bytes_ == 0 || sdk::host_cache() == nullptr) return;
  const AutoreleasePool pool;
  key_ = key_of(device_);
  try {
    if (const auto bytes = sdk::kept(kind, key_)) archive_ = archive_of(*bytes);
  } catch (const std::exception& error) {
    log(std::string("the archive of pipelines cannot be read: ") + error.what());
  }
  if (!archive_) archive_ = empty_archive();
} catch (const std::exception&) {  // out of memory
}

Owned BinaryArchive::pipeline(Id descriptor, Id* error) {
  const auto make = [&](Unsigned options) {
    return Owned::taken(send<Id>(device_.device.get(), Message::new_pipeline_with_descriptor, descriptor, options,
                                 static_cast<void*>(nullptr), error));
  };
  std::call_once(opening_, [this] { open(); });
  {
    const std::shared_lock lock(mutex_);
    if (!archive_) return make(0);
    send<void>(descriptor, Message::set_binary_archives,
               send<Id>(class_named("NSArray"), Message::array_with_object, archive_.get()));
    if (Owned found = make(fail_on_archive_miss)) return found;
  }
  add(descriptor);
  *error = nullptr;
  const std::shared_lock lock(mutex_);
  return make(0);
}

// Metal compiles what is added. A pipeline that is made afterwards has that code.
void BinaryArchive::add(Id descriptor) {
  const std::lock_guard lock(mutex_);
  if (!archive_ || !is_kept_) return;
  Id error = nullptr;
  if (send<Boolean>(archive_.get(), Message::add_pipeline, descriptor, &error) != 0)
    ++added_;
  else
    log("a pipeline is not archived: " + reason_of(error));
}

std::vector<uint8_t> BinaryArchive::bytes_of_archive() const {
  const ArchiveFile file;
  Id error = nullptr;
  if (send<Boolean>(archive_.get(), Message::serialize_to_url, file.url(), &error) == 0)
    throw sdk::Error(FE_INTERNAL, reason_of(error));
  if (fs::file_size(file.path()) > max_bytes_) return {};
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void BinaryArchive::save() noexcept try {
  const std::lock_guard lock(mutex_);
  constexpr uint64_t unit = 1 << 20;
  if (added_ == 0 || !is_kept_ || added_ < written_bytes_ / unit) return;
  added_ = 0;
  is_kept_ = false;  // unless it is written
  const AutoreleasePool pool;
  try {
    const std::vector<uint8_t> bytes = bytes_of_archive();
    written_bytes_ = bytes.size();
    if (bytes.empty()) archive_ = empty_archive();
    is_kept_ = bytes.empty() || sdk::keep(kind, key_, bytes);
  } catch (const std::exception& error) {
    log(std::string("the archive of pipelines cannot be written: ") + error.what());
  }
} catch (const std::exception&) {  // out of memory
}

}  // namespace ferrule::metal
