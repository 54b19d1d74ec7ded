// Attributes of a call: values in the order of the op's row, and their packed form as a struct of ferrule/ops.h.
#pragma once

#include "base/dtype.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ferrule::ops {

struct Row;
struct AttributeRow;

// The type of an attribute, in the order of Attribute's alternatives.
enum class AttributeType : uint8_t { integer, real, boolean, string, integers, dtype, reals };

using Attribute = std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, DType, std::vector<double>>;
using Attributes = std::vector<Attribute>;

// Attributes that nodes and arrays share. All calls without attributes share one object.
std::shared_ptr<const Attributes> shared(Attributes attributes);

const char* name_of(AttributeType type);
const char* description_of(AttributeType type);  // for messages: "one integer"
std::string to_string(const Attribute& value);

// Reads attributes by name. Throws FE_INTERNAL for a name that the row does not have.
class AttributeReader {
 public:
  AttributeReader(const Row& row, const Attributes& values) : row_(row), values_(values) {}
  int64_t integer(std::string_view name) const { return std::get<int64_t>(at(name)); }
  double real(std::string_view name) const { return std::get<double>(at(name)); }
  bool boolean(std::string_view name) const { return std::get<bool>(at(name)); }
  const std::string& string(std::string_view name) const { return std::get<std::string>(at(name)); }
  const std::vector<int64_t>& integers(std::string_view name) const { return std::get<std::vector<int64_t>>(at(name)); }
  const std::vector<double>& reals(std::string_view name) const { return std::get<std::vector<double>>(at(name)); }
  DType dtype(std::string_view name) const { return std::get<DType>(at(name)); }

 private:
  const Attribute& at(std::string_view name) const;
  const Row& row_;
  const Attributes& values_;
};

// The value of an attribute that is not given.
Attribute default_value_of(const AttributeRow& row);

// An attribute as a caller gives it.
struct NamedAttribute {
  std::string name;
  Attribute value;
};

// The row's attributes in order: the given values, else the defaults. Integers are accepted for reals, also in lists.
// Throws invalid_argument for an unknown name (listing the known ones), a wrong type or a missing value.
Attributes complete_attributes(const Row& row, const std::vector<NamedAttribute>& given);

// The attributes as the C struct of ops.h. Its layout: size_t struct_size, then the fields in order with natural
// alignment (int64_t, double, int32_t for bool, const char*, fe_int64_list, fe_float64_list, fe_dtype). Movable, not
// copyable.
class PackedAttributes {
 public:
  PackedAttributes() = default;
  PackedAttributes(const Row& row, Attributes values);
  // Null if the op has no attributes.
  const void* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<Attributes> values_;  // owns the strings and lists
  std::unique_ptr<std::byte[]> bytes_;
};

// Offset of each attribute in the packed struct, and the struct's size as the last element.
std::vector<std::size_t> packed_layout(const Row& row);

}  // namespace ferrule::ops
