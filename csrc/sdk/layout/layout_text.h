// The layout of the binary interface as one string, from which the layout hashes are computed. FE_SINCE(n) in a list
// becomes "@n;" in the string.
#pragma once

#include <ferrule/backend.h>

#include <string_view>

namespace ferrule {

#undef FE_SINCE
#define FE_SINCE(minor) "@" #minor ";"
#define FE_LAYOUT_FIELD(type, name) #type " " #name ";"
#define FE_LAYOUT_SLOT(result, name, parameters) #result " " #name #parameters ";"

inline constexpr std::string_view layout_text =
    "fe_dtype_info{" FE_DTYPE_INFO_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_storage{" FE_STORAGE_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_value{" FE_VALUE_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_instruction{" FE_INSTRUCTION_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_body{" FE_BODY_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_node{" FE_NODE_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_graph_view{" FE_GRAPH_VIEW_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_device_properties{" FE_DEVICE_PROPERTIES_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_option{" FE_OPTION_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_option_info{" FE_OPTION_INFO_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_input_requirement{" FE_INPUT_REQUIREMENT_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_requirements{" FE_REQUIREMENTS_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_binding{" FE_BINDING_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_execution{" FE_EXECUTION_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_strided_copy{" FE_STRIDED_COPY_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_native_memory{" FE_NATIVE_MEMORY_FIELDS(FE_LAYOUT_FIELD) "}"
    "fe_host{" FE_HOST_SLOTS(FE_LAYOUT_SLOT) "}"
    "fe_backend{" FE_BACKEND_SLOTS(FE_LAYOUT_SLOT) "}";

#undef FE_LAYOUT_FIELD
#undef FE_LAYOUT_SLOT
#undef FE_SINCE
#define FE_SINCE(minor)

}  // namespace ferrule
