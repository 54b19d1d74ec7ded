// MTLBinaryArchiveDescriptor and MTLBinaryArchive.
//
// An archive has the names of functions and checksums of their texts. That suffices to say which pipelines a program
// would have to compile; the log says so.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "metal/simulated/device.h"

namespace simulated {

class ArchiveDescriptor : public Object {
 public:
  static const objc::Class& own_class();
  ArchiveDescriptor() : Object(own_class()) {}
  objc::Url* url() const { return url_.get(); }

 private:
  void set_url(Object* url) { url_ = objc::checked<objc::Url>(url, "setUrl:"); }
  Owned<objc::Url> url_;
};

class Archive : public Object {
 public:
  static const objc::Class& own_class();
  // newBinaryArchiveWithDescriptor:error:
  static Archive* make(Device& device, Object* descriptor, Object** error);
  Archive(Device& device, std::set<std::string> keys) : Object(own_class()), device_(&device), keys_(std::move(keys)) {}
  bool has(const std::string& key) const;

 private:
  bool add(Object* descriptor, Object** error);
  bool serialize(Object* url, Object** error) const;
  const Owned<Device> device_;
  mutable std::mutex mutex_;
  std::set<std::string> keys_;
};

}  // namespace simulated
