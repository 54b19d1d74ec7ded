// Files mapped into memory. Python's mmap keeps a descriptor open for each; a process may have few of them, and a
// checkpoint may have more files. On Windows there is no such limit, and Python's mmap is used.
#include "array_handle.h"
#include "bound_classes.h"

#include "module_parts.h"

#if !defined(_WIN32)
#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace ferrule::python {

#if defined(_WIN32)
void bind_mapped_file(py::module_&) {}
#else
namespace {

// A mapping of a whole file, with the buffer protocol, read-only.
struct MappedFileObject {
  PyObject_HEAD void* address;
  std::size_t size;
};

PyTypeObject* mapped_file_type = nullptr;

void unmap(PyObject* object) {
  const auto& mapped = *reinterpret_cast<MappedFileObject*>(object);
  if (mapped.address != nullptr) munmap(mapped.address, mapped.size);
  free_object(object);
}

int fill_buffer(PyObject* object, Py_buffer* view, int flags) {
  const auto& mapped = *reinterpret_cast<MappedFileObject*>(object);
  return PyBuffer_FillInfo(view, object, mapped.address, static_cast<Py_ssize_t>(mapped.size), 1, flags);
}

// `descriptor` may be closed afterwards.
py::object map_file(int descriptor, std::size_t size) {
  py::object object = new_object(mapped_file_type);
  auto& mapped = *reinterpret_cast<MappedFileObject*>(object.ptr());
  void* const address = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) {
    PyErr_SetFromErrno(PyExc_OSError);
    raise_python_error();
  }
  mapped.address = address;
  mapped.size = size;
  return object;
}

// Gives the memory of the pages that contain these bytes back. They are read from the file again when they are needed.
void drop_pages(const py::object& object, std::size_t begin, std::size_t end) {
  if (Py_TYPE(object.ptr()) != mapped_file_type) raise(FE_INVALID_ARGUMENT, "drop_pages: the file is not a MappedFile");
  const auto& mapped = *reinterpret_cast<MappedFileObject*>(object.ptr());
  if (begin > end || end > mapped.size) raise(FE_INVALID_ARGUMENT, "drop_pages: the bytes are not all in the file");
  begin -= begin % static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  madvise(static_cast<std::byte*>(mapped.address) + begin, end - begin, MADV_DONTNEED);  // a failure costs memory only
}

}  // namespace

void bind_mapped_file(py::module_& module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(unmap)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(fill_buffer)},
      {Py_tp_doc, const_cast<char*>("The bytes of a mapped file, by the buffer protocol.")},
      {0, nullptr},
  };
  const py::object type = class_of({"ferrule._ferrule.MappedFile", sizeof(MappedFileObject), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots});
  mapped_file_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("MappedFile") = type;
  py::object(type).release();  // the functions above use it until the process ends
  module.def("map_file", &map_file, argument("descriptor"), argument("size"));
  module.def("drop_pages", &drop_pages, argument("file"), argument("begin"), argument("end"));
}
#endif

}  // namespace ferrule::python
