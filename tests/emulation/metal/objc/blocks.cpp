// The runtime of blocks (clang's "Block Implementation Specification").
#include "metal/objc/blocks.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "metal/objc/exports.h"
#include "metal/objc/object.h"

namespace {

enum Flags : int {
  reference_count_mask = 0xfffe,
  one_reference = 2,
  is_on_heap = 1 << 24,
  has_copy_and_dispose = 1 << 25,
  is_global = 1 << 28,
};
enum Field : int { object_field = 3, block_field = 7, byref_field = 8, weak_field = 16, byref_caller = 128 };

struct Descriptor {
  unsigned long reserved, size;
  void (*copy)(void* to, const void* from);  // these two only with has_copy_and_dispose
  void (*dispose)(const void* block);
};
struct Block {
  void* isa;
  std::atomic<int> flags;
  int reserved;
  void (*invoke)();
  Descriptor* descriptor;
};
// A variable that is declared with __block.
struct ByReference {
  void* isa;
  ByReference* forwarding;
  std::atomic<int> flags;
  int size;
  void (*keep)(void* to, void* from);  // these two only with has_copy_and_dispose
  void (*destroy)(void*);
};

ByReference* copy_variable(ByReference* from) {
  from = from->forwarding;
  if ((from->flags & is_on_heap) != 0) {
    from->flags += one_reference;
    return from;
  }
  auto* const made = static_cast<ByReference*>(std::malloc(static_cast<std::size_t>(from->size)));
  std::memcpy(static_cast<void*>(made), from, static_cast<std::size_t>(from->size));
  made->isa = nullptr;
  // One reference is the block's, the other one is the stack's.
  made->flags = (from->flags & ~reference_count_mask) | is_on_heap | 2 * one_reference;
  made->forwarding = made;
  from->forwarding = made;
  if ((from->flags & has_copy_and_dispose) != 0) from->keep(made, from);
  return made;
}

void release_variable(ByReference* variable) {
  variable = variable->forwarding;
  if ((variable->flags & is_on_heap) == 0) return;
  if ((variable->flags.fetch_sub(one_reference) & reference_count_mask) != one_reference) return;
  if ((variable->flags & has_copy_and_dispose) != 0) variable->destroy(variable);
  std::free(variable);
}

}  // namespace

SIMULATED_EXPORT void* _NSConcreteStackBlock[32];
SIMULATED_EXPORT void* _NSConcreteGlobalBlock[32];
SIMULATED_EXPORT void* _NSConcreteMallocBlock[32];
void* _NSConcreteStackBlock[32] = {};
void* _NSConcreteGlobalBlock[32] = {};
void* _NSConcreteMallocBlock[32] = {};

SIMULATED_EXPORT void* _Block_copy(const void* pointer) {
  auto* const block = static_cast<Block*>(const_cast<void*>(pointer));
  if (block == nullptr || (block->flags & is_global) != 0) return block;
  if ((block->flags & is_on_heap) != 0) {
    block->flags += one_reference;
    return block;
  }
  auto* const made = static_cast<Block*>(std::malloc(block->descriptor->size));
  std::memcpy(static_cast<void*>(made), block, block->descriptor->size);
  made->isa = _NSConcreteMallocBlock;
  made->flags = (block->flags & ~reference_count_mask) | is_on_heap | one_reference;
  if ((block->flags & has_copy_and_dispose) != 0) block->descriptor->copy(made, block);
  return made;
}

SIMULATED_EXPORT void _Block_release(const void* pointer) {
  auto* const block = static_cast<Block*>(const_cast<void*>(pointer));
  if (block == nullptr || (block->flags & is_on_heap) == 0) return;
  if ((block->flags.fetch_sub(one_reference) & reference_count_mask) != one_reference) return;
  if ((block->flags & has_copy_and_dispose) != 0) block->descriptor->dispose(block);
  std::free(block);
}

// These are called by the functions that clang makes for a block: to copy and to dispose of what it has captured.
SIMULATED_EXPORT void _Block_object_assign(void* to, const void* from, int flags) {
  void* kept = const_cast<void*>(from);
  if ((flags & byref_caller) == 0) {
    if ((flags & byref_field) != 0)
      kept = copy_variable(static_cast<ByReference*>(kept));
    else if ((flags & block_field) == block_field)
      kept = _Block_copy(from);
    else if ((flags & object_field) == object_field)
      objc::retain(static_cast<objc::Object*>(kept));
  }
  *static_cast<void**>(to) = kept;
}

SIMULATED_EXPORT void _Block_object_dispose(const void* from, int flags) {
  void* const kept = const_cast<void*>(from);
  if ((flags & byref_caller) != 0) return;
  if ((flags & byref_field) != 0)
    release_variable(static_cast<ByReference*>(kept));
  else if ((flags & block_field) == block_field)
    _Block_release(from);
  else if ((flags & object_field) == object_field)
    objc::release(static_cast<objc::Object*>(kept));
}

namespace objc {

KeptBlock::KeptBlock(void* block) : block_(_Block_copy(block)) {}
KeptBlock::~KeptBlock() { _Block_release(block_); }
void (*KeptBlock::invoke() const)() { return static_cast<const Block*>(block_)->invoke; }

}  // namespace objc
