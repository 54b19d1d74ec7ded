// A minimal host for tests of a module without a core: errors, a few op ids, one thread.
#pragma once

#include <ferrule/backend.h>

#include <cstring>
#include <string>

struct fe_error {
  fe_code code;
  std::string message;
};

namespace ferrule::test {

inline const char* const op_names[] = {"", "add", "silu"};
inline const char* const dtype_names[] = {"", "float32", "int64"};
inline constexpr fe_dtype_info dtype_infos[] = {{},
                                                {sizeof(fe_dtype_info), "float32", FE_CLASS_FLOAT, 1, 4},
                                                {sizeof(fe_dtype_info), "int64", FE_CLASS_SIGNED, 1, 8}};

template <size_t count>
uint32_t id_of(const char* const (&names)[count], const char* name) {
  for (uint32_t id = 1; id < count; ++id)
    if (std::strcmp(names[id], name) == 0) return id;
  return 0;
}

inline const fe_host& fake_host() {
  static const fe_host host = [] {
    fe_host slots{};
    slots.struct_size = sizeof(slots);
    slots.error_create = [](fe_code code, const char* message) { return new fe_error{code, message}; };
    slots.error_code = [](const fe_error* error) { return error->code; };
    slots.error_message = [](const fe_error* error) { return error->message.c_str(); };
    slots.error_release = [](fe_error* error) { delete error; };
    slots.log = [](fe_log_level, const char*) {};
    slots.op_id = [](const char* name) { return id_of(op_names, name); };
    slots.op_name = [](fe_op op) { return op_names[op]; };
    slots.dtype_id = [](const char* name) { return id_of(dtype_names, name); };
    slots.dtype_name = [](fe_dtype dtype) { return dtype_names[dtype]; };
    slots.dtype_info = [](fe_dtype dtype) { return &dtype_infos[dtype]; };
    slots.thread_count = [] { return 1u; };
    slots.parallel_for = [](int64_t n, int64_t grain, uint32_t, fe_range_function function, void* argument) {
      fe_error* error = nullptr;
      for (int64_t begin = 0; begin < n && !error; begin += grain)
        error = function(argument, begin, begin + grain < n ? begin + grain : n, 0);
      return error;
    };
    return slots;
  }();
  return host;
}

// The code and message of an error, which is released; FE_OK if there is no error.
struct Outcome {
  fe_code code = FE_OK;
  std::string message;
};
inline Outcome outcome(fe_error* error) {
  if (!error) return {};
  Outcome copy{error->code, error->message};
  delete error;
  return copy;
}

// A graph of one node over vectors of `count` items. Each operand has its own binding: inputs first, then the output.
struct OneNode {
  OneNode(const char* op, uint32_t inputs, int64_t count, const char* dtype) : shape(count) {
    for (uint32_t i = 0; i <= inputs; ++i) {
      storages[i] = {sizeof(fe_storage),
                     static_cast<uint32_t>(i < inputs ? FE_STORAGE_INPUT : FE_STORAGE_OUTPUT),
                     i,
                     0,
                     static_cast<uint64_t>(fe_bytes_of(fake_host().dtype_info(fake_host().dtype_id(dtype)), count)),
                     64,
                     -1,
                     0};
      values[i] = {sizeof(fe_value), fake_host().dtype_id(dtype), 1, &shape, &stride, i, -1, 0};
      storage_pointers[i] = &storages[i];
      value_pointers[i] = &values[i];
    }
    output = inputs;
    node = {sizeof(fe_node), fake_host().op_id(op), 1, inputs, 1, operands, &output, nullptr, nullptr};
    view = {sizeof(fe_graph_view), inputs + 1,     inputs + 1,    1, inputs + 1, 0, 0,
            storage_pointers,      value_pointers, &node_pointer, 0, 64};
  }
  OneNode(const OneNode&) = delete;
  OneNode& operator=(const OneNode&) = delete;

  int64_t shape;
  int64_t stride = 1;
  uint32_t operands[3] = {0, 1, 2};
  uint32_t output;
  fe_storage storages[4];
  fe_value values[4];
  const fe_storage* storage_pointers[4];
  const fe_value* value_pointers[4];
  fe_node node;
  const fe_node* node_pointer = &node;
  fe_graph_view view;
};

}  // namespace ferrule::test
