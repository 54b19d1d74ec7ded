#include "pipelines/embedded_shaders.h"

#include <ferrule/cpp/error.hpp>

#include <cstddef>
#include <string>

#include "shader_table.h"  // generated

namespace ferrule::vulkan {

namespace {

const ShaderRow* row_of(std::string_view name) {
  for (const ShaderRow& row : shader_table)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

std::span<const uint32_t> find_shader(std::string_view name) {
  if (const ShaderRow* const row = row_of(name)) return {row->words, row->count};
  throw sdk::Error(FE_INTERNAL, "there is no shader " + std::string(name));
}

bool has_shader(std::string_view name) { return row_of(name) != nullptr; }

}  // namespace ferrule::vulkan
