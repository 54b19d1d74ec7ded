#include "metal/simulated/archive.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

#include "metal/objc/faults.h"
#include "metal/simulated/checksum.h"
#include "metal/simulated/pipeline.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

constexpr const char* domain = "MTLBinaryArchiveDomain";
constexpr long invalid_file = 1, compilation_failure = 3, internal_error = 4;  // of MTLBinaryArchiveError
constexpr std::string_view first_line = "archive of the simulated Metal 1\n";

// The lines of a file: the first one, the device, the system, a line for each key, and a checksum of all before it.
std::string text_of(const Device& device, const std::set<std::string>& keys) {
  std::string text = std::string(first_line) + device.title() + "\n" + settings().system + "\n";
  for (const std::string& key : keys) text += key + "\n";
  return text + checksum_of(text) + "\n";
}

// Why it is no archive of this device; empty if it is one.
std::string read(std::string_view text, const Device& device, std::set<std::string>& keys) {
  constexpr std::size_t checksum = 17;
  if (!text.starts_with(first_line) || text.size() < first_line.size() + checksum) return "is no binary archive";
  const std::string_view content = text.substr(0, text.size() - checksum);
  if (checksum_of(content) + "\n" != text.substr(content.size())) return "is damaged";
  std::string_view rest = content.substr(first_line.size());
  const auto next_line = [&] {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
  };
  if (next_line() != device.title()) return "is one of another device";
  if (next_line() != settings().system) return "is one of another system";
  while (!rest.empty()) keys.emplace(next_line());
  return "";
}

}  // namespace

const objc::Class& ArchiveDescriptor::own_class() {
  static const auto& one = *new objc::Class("MTLBinaryArchiveDescriptor", &objc::root_class(), objc::Class::Kind::named,
                                            [] { return static_cast<Object*>(create<ArchiveDescriptor>()); },
                                            {method<&ArchiveDescriptor::set_url>("setUrl:")});
  return one;
}

Archive* Archive::make(Device& device, Object* descriptor, Object** error) {
  const char* const selector = "newBinaryArchiveWithDescriptor:error:";
  if (fails(selector)) {
    objc::set_error(error, domain, internal_error, "the archive fails by request");
    return nullptr;
  }
  const auto* const own = objc::checked<ArchiveDescriptor>(descriptor, selector);
  if (own == nullptr) {
    if (descriptor == nullptr) objc::report_fault(std::string(selector) + ": the descriptor must not be nil");
    return nullptr;
  }
  std::set<std::string> keys;
  if (own->url() != nullptr) {
    const std::string& path = own->url()->path();
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::string refusal = file.is_open() ? read(text, device, keys) : "cannot be opened";
    if (!refusal.empty()) {
      objc::set_error(error, domain, invalid_file, path + " " + refusal);
      return nullptr;
    }
  }
  return create<Archive>(device, std::move(keys));
}

bool Archive::has(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  return keys_.contains(key);
}

bool Archive::add(Object* descriptor, Object** error) {
  const char* const selector = "addComputePipelineFunctionsWithDescriptor:error:";
  if (fails(selector)) {
    objc::set_error(error, domain, compilation_failure, "adding the pipeline fails by request");
    return false;
  }
  const auto* const own = objc::checked<PipelineDescriptor>(descriptor, selector);
  if (own == nullptr || own->function() == nullptr) {
    objc::report_fault(std::string(selector) + ": a descriptor with a function is needed");
    return false;
  }
  const std::scoped_lock lock(mutex_);
  keys_.insert(own->function()->key());
  log_line("pipeline " + own->function()->compiled().name() + " archived");
  return true;
}

bool Archive::serialize(Object* url, Object** error) const {
  const char* const selector = "serializeToURL:error:";
  if (fails(selector)) {
    objc::set_error(error, domain, internal_error, "the archive is not written, by request");
    return false;
  }
  const auto* const own = objc::checked<objc::Url>(url, selector);
  if (own == nullptr) {
    objc::report_fault(std::string(selector) + ": a URL is needed");
    return false;
  }
  std::string text;
  {
    const std::scoped_lock lock(mutex_);
    text = text_of(*device_, keys_);
  }
  const std::string& path = own->path();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return true;
  objc::set_error(error, domain, internal_error, path + " cannot be written");
  return false;
}

const objc::Class& Archive::own_class() {
  static const auto& one = *new objc::Class("MTLBinaryArchive", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                                            {method<&Archive::add>("addComputePipelineFunctionsWithDescriptor:error:"),
                                             method<&Archive::serialize>("serializeToURL:error:")});
  return one;
}

}  // namespace simulated
