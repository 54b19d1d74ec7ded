#include "dtype_table.h"

#include "errors.h"
#include "module_parts.h"

#include <ferrule/dtypes.h>

#include <string_view>

namespace ferrule::python {
namespace {

struct DTypeRow {
  const char *id, *name;
  fe_dtype_class dtype_class;
  int block_elements, block_bytes;
  const char* computed;  // an id, or "none"
  int exponent_bits, mantissa_bits;
  bool has_infinity, is_encoded;
  const char* package;  // "" for block dtypes, which no other package has
  int dlpack;           // DLDataTypeCode; -1 if there is none
  const char* safetensors;
  int gguf;
};

// clang-format off
constexpr DTypeRow table[] = {
#define FERRULE_NUMBER(id, abbreviation, name, kind, stored, computed, exponent, mantissa, infinity, package, dlpack, \
                       safetensors, gguf)                                                                             \
  {#id, name, FE_CLASS_##kind, 1, FE_DTYPE_BYTES(kind, stored), #computed, exponent, mantissa, infinity != 0, false,  \
   package, dlpack, safetensors, gguf},
#define FERRULE_BLOCK(id, elements, bytes, encoded, gguf) \
  {#id, #id, FE_CLASS_BLOCK, elements, bytes, "none", 0, 0, false, encoded != 0, "", -1, "", gguf},
    FE_DTYPES(FERRULE_NUMBER, FERRULE_BLOCK)
#undef FERRULE_NUMBER
#undef FERRULE_BLOCK
};
// clang-format on

// The fields of _ferrule.DType, in the order of `values_of`.
PyStructSequence_Field fields[] = {
    {"dtype_class", R"("bool", "signed", "unsigned", "float", "complex" or "block")"},
    {"block_elements", "elements of a block; 1 of a plain dtype"},
    {"block_bytes", "bytes of a block, or of an element of a plain dtype"},
    {"computed", R"(the dtype in which ops compute it; "" if it is only moved, compared and cast)"},
    {"exponent_bits", "of a floating-point dtype"},
    {"mantissa_bits", "of a floating-point dtype"},
    {"has_infinity", "of a floating-point dtype"},
    {"is_encoded", "whether float32 can become this block dtype"},
    {"package", R"(the package that has the dtype for Python: "numpy", "ml_dtypes", or "": a block dtype)"},
    {"safetensors", R"(the name in safetensors files; "" if they cannot have it)"},
    {"gguf", "ggml_type, the number in GGUF files; -1 if they cannot have it"},
    {nullptr, nullptr}};
constexpr int field_count = static_cast<int>(sizeof fields / sizeof *fields) - 1;
PyStructSequence_Desc row_type = {"ferrule._ferrule.DType", "A row of the table of dtypes.", fields, field_count};

const char* class_name(fe_dtype_class kind) {
  constexpr const char* names[] = {"bool", "signed", "unsigned", "float", "complex", "block"};
  static_assert(sizeof names / sizeof *names == FE_CLASS_COUNT);
  return names[kind];
}

const char* name_of_id(std::string_view id) {
  for (const DTypeRow& row : table)
    if (id == row.id) return row.name;
  return "";
}

py::tuple values_of(const DTypeRow& row) {
  return py::make_tuple(class_name(row.dtype_class), row.block_elements, row.block_bytes, name_of_id(row.computed),
                        row.exponent_bits, row.mantissa_bits, row.has_infinity, row.is_encoded, row.package,
                        row.safetensors, row.gguf);
}

}  // namespace

int dlpack_code_of(const char* name) {
  for (const DTypeRow& row : table)
    if (std::string_view(name) == row.name) return row.dlpack;
  return -1;
}

void bind_dtype_table(py::module_& module) {
  const auto type = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&row_type)));
  if (!type) raise_python_error();
  py::dict rows;
  for (const DTypeRow& row : table) rows[row.name] = type(values_of(row));
  module.attr("DTYPES") = rows;  // by name, in the order of ids
}

}  // namespace ferrule::python
