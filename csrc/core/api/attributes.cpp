#include "core/api/attributes.h"

#include "core/api/handles.h"

#include <cstddef>
#include <cstring>

namespace ferrule {
namespace {

// Rejects counts that no caller can have: so many items would reach beyond the caller's memory.
void check_count(const char* op, const char* what, std::size_t count) {
  if (count > INT32_MAX) fail_argument("{}: {} {} are more than there can be", op, count, what);
}

template <class List>
auto elements_of(const ops::Row& op, const char* name, const List& list) {
  if (list.count > 0 && !list.data) fail_argument("{}: the list of attribute '{}' is null", op.name, name);
  check_count(op.name, "elements of a list", list.count);
  return std::vector(list.data, list.data + list.count);
}

ops::Attribute value_of(const ops::Row& op, const fe_attribute& attribute) {
  switch (attribute.kind) {
    case FE_ATTRIBUTE_INT64:
      return attribute.integer;
    case FE_ATTRIBUTE_FLOAT64:
      return attribute.real;
    case FE_ATTRIBUTE_BOOL:
      return attribute.integer != 0;
    case FE_ATTRIBUTE_STRING:
      if (!attribute.string) fail_argument("{}: the string of attribute '{}' is null", op.name, attribute.name);
      return std::string(attribute.string);
    case FE_ATTRIBUTE_DTYPE: {
      const DTypeRow* const dtype = find_dtype(attribute.dtype);
      if (!dtype) fail_argument("{}: {} is the id of no dtype", op.name, attribute.dtype);
      return dtype->dtype;
    }
    case FE_ATTRIBUTE_INT64_LIST:
      return elements_of(op, attribute.name, attribute.integers);
    case FE_ATTRIBUTE_FLOAT64_LIST:
      return elements_of(op, attribute.name, attribute.reals);
  }
  fail_argument("{}: attribute '{}' has no kind {}", op.name, attribute.name, static_cast<int>(attribute.kind));
}

}  // namespace

std::optional<ops::Number> number_of(const char* op, const fe_number& number) {
  switch (number.kind) {
    case FE_NUMBER_NONE:
    case FE_NUMBER_WEAK:
      return std::nullopt;
    case FE_NUMBER_BOOL:
      return number.integer != 0;
    case FE_NUMBER_INT64:
      return number.integer;
    case FE_NUMBER_UINT64:
      if (number.integer < 0) return static_cast<uint64_t>(number.integer);
      return number.integer;
    case FE_NUMBER_WIDE_INTEGER:
      return ops::WideInteger{number.real};
    case FE_NUMBER_FLOAT64:
      return number.real;
    case FE_NUMBER_COMPLEX128:
      return std::complex<double>(number.real, number.imaginary);
  }
  fail_argument("{}: a number has no kind {}", op, static_cast<int>(number.kind));
}

std::vector<ops::OperandNumber> numbers_of(const ops::Row& op, const fe_number* numbers, std::size_t count) {
  check_count(op.name, "inputs", count);
  std::vector<ops::OperandNumber> given;
  if (!numbers) return given;
  given.reserve(count);
  bool is_any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool weak = numbers[i].kind == FE_NUMBER_WEAK;
    given.push_back({number_of(op.name, numbers[i]), weak});
    is_any = is_any || weak || given.back().number;
  }
  if (!is_any) given.clear();
  return given;
}

std::vector<ops::NamedAttribute> attributes_of(const ops::Row& op, const fe_attribute* attributes, std::size_t count) {
  check_count(op.name, "attributes", count);
  std::vector<ops::NamedAttribute> given;
  if (count == 0) return given;
  if (!attributes) fail_argument("{}: the list of attributes is null", op.name);
  const std::size_t stride = attributes->struct_size, known = known_size(op.name, attributes, "an attribute");
  given.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(attributes) + i * stride;
    fe_attribute attribute{};
    std::memcpy(&attribute, bytes, known);
    if (!attribute.name) fail_argument("{}: the name of attribute {} is null", op.name, i);
    given.push_back({attribute.name, value_of(op, attribute)});
  }
  return given;
}

}  // namespace ferrule
