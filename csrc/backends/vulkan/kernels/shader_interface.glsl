// Included by every shader. No function returns a reference: Debian 12's validation layer crashes on such functions
// when it checks addresses (docs/README.md).
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require

#define MAX_RANK 8

// The workgroup's size is in the specialisation constants 0 to 2 of the dispatch.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Addresses { uint64_t at[]; };

// The first invocation that finds bad data writes it here; the host reads it when the work is done.
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Fault {
  uint kind;                   // 0 for none
  uint what;                   // the value that the node writes; for a power: the dtype
  int64_t found, limit, axis;  // for an index or a start; else the first two
};
#define FAULT_INDEX 1u  // out of bounds
#define FAULT_POWER 2u  // an integer to a negative power
#define FAULT_LENGTH 3u  // more keys than there are
#define FAULT_CHOSEN 4u  // a mask chooses more or fewer slices than there are values
#define FAULT_START 5u  // of a slice, beyond the limit

layout(push_constant, scalar) uniform Push {
  Addresses addresses;  // of element (0, ..., 0) of each value of the view
  uint64_t parameters;  // of this dispatch
  // Entries of the address table: the node's scratch memory, and this execution's fault record.
  uint scratch, fault;
} push;

uint64_t scratch_address() { return push.addresses.at[push.scratch]; }

void report_fault(uint kind, uint what, int64_t found, int64_t limit, int64_t axis) {
  Fault fault = Fault(push.addresses.at[push.fault]);
  if (atomicCompSwap(fault.kind, 0u, kind) != 0u) return;
  fault.what = what;
  fault.found = found;
  fault.limit = limit;
  fault.axis = axis;
}

// Elements are read and written through references to one item, which only require the item's alignment.
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer RefU8 { uint8_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer RefU16 { uint16_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer RefU32 { uint at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer RefU64 { uint64_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 1) buffer RefI8 { int8_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer RefI16 { int16_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer RefI32 { int at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer RefI64 { int64_t at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer RefF32 { float at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer RefF64 { double at; };

// The number of an invocation in its workgroup. In a subgroup shader, invocations of adjacent numbers are adjacent in a
// subgroup.
#ifdef VARIANT_subgroup
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
uint own_index() { return gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID; }
#else
uint own_index() { return gl_LocalInvocationIndex; }
#endif

// The number of an invocation in the grid. The groups may extend in x, y and z; x varies fastest.
uint64_t invocation() {
  uint64_t group = (uint64_t(gl_WorkGroupID.z) * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x +
                   gl_WorkGroupID.x;
  return group * (gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z) + own_index();
}

// Shape and strides as in the host's Layout: sizes from the last axis backwards, strides in elements.
struct Layout {
  uint value;  // index of the address table
  uint rank;
  int64_t shape[MAX_RANK];
  int64_t strides[MAX_RANK];
};

// The offset of the index-th element in C order, in elements from (0, ..., 0).
int64_t offset_in(Layout layout_, uint64_t index) {
  int64_t offset = 0;
  for (uint axis = 0; axis < layout_.rank; ++axis) {
    uint64_t size = uint64_t(layout_.shape[axis]);
    uint64_t next = index / size;
    offset += int64_t(index - next * size) * layout_.strides[axis];
    index = next;
  }
  return offset;
}
