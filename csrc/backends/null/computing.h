// Another module whose kernels compute the work of a null device.
#pragma once

#include <ferrule/backend.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace ferrule::null {

// A module file, opened for this process.
class Library {
 public:
  explicit Library(const std::filesystem::path& path);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();
  void* symbol(const char* name) const;  // throws if it does not exist

 private:
  std::string name_;
  void* handle_;
};

// The first device of a module that has no queues and uses host memory.
class Computer : public std::enable_shared_from_this<Computer> {
 public:
  explicit Computer(const std::string& path);
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;
  ~Computer();

  struct FreeBuffer {
    std::shared_ptr<Computer> computer;
    void operator()(fe_module_buffer* buffer) const { computer->table_.buffer_free(buffer); }
  };
  using BufferPointer = std::unique_ptr<fe_module_buffer, FreeBuffer>;
  BufferPointer borrow(void* pointer, uint64_t size);

  sdk::Support supports(const sdk::Node& node);
  sdk::PreparedForm prepared_form(const sdk::Node& node, uint32_t input);
  void prepare(const sdk::Node& node, uint32_t input, const fe_binding& from, const fe_binding& to);

  class Program {
   public:
    Program(std::shared_ptr<Computer> computer, const fe_graph_view& view);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program();
    uint64_t scratch_size() const;
    // Runs it on buffers of the computing module.
    void execute(const fe_execution& execution) const;

   private:
    std::shared_ptr<Computer> computer_;
    fe_module_executable* executable_ = nullptr;
  };

 private:
  Library library_;
  fe_backend table_{};
  fe_module_device* device_ = nullptr;
};

}  // namespace ferrule::null
