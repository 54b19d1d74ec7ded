#include "body.h"

#include <ferrule/cpp/axes.hpp>
#include <ferrule/cpp/body.hpp>

#include "table.h"

namespace ferrule::cpu {
namespace {

constexpr int64_t cache_bytes = 24 << 10;  // part of the cache for the blocks of all values
constexpr int64_t max_block = 1024;
constexpr size_t few_values = 64;  // up to this number the addresses of values are on the stack
constexpr int64_t grain = 16384;   // fewest elements per thread

std::string name_of(DType dtype) {
  const char* name = dtype == DType::count ? nullptr : sdk::host->dtype_name(id_of(dtype));
  return name ? name : "an unknown dtype";
}

}  // namespace

const ElementwiseKernel* find_elementwise_kernel(std::string_view op, std::span<const DType> in, DType out,
                                                 uint32_t output) {
  const Kernel* kernel = find_elementwise(op);
  if (kernel == nullptr) return nullptr;
  for (uint32_t i = 0; i < kernel->elementwise_count; ++i) {
    const ElementwiseKernel& candidate = kernel->elementwise_kernels[i];
    if (candidate.out == out && candidate.output == output && candidate.in_count == in.size() &&
        std::equal(in.begin(), in.end(), candidate.in))
      return &candidate;
  }
  return nullptr;
}

uint32_t Body::input(DType dtype) {
  dtypes_.push_back(dtype);
  inputs_.emplace_back();
  return static_cast<uint32_t>(dtypes_.size() - 1);
}

uint32_t Body::cast(uint32_t value, DType dtype) {
  if (dtypes_[value] == dtype) return value;
  const auto [known, added] = casts_.try_emplace({value, dtype});
  if (added) known->second = apply("astype", std::span(&value, 1), dtype, nullptr);
  return known->second;
}

uint32_t Body::apply(std::string_view op, std::span<const uint32_t> in, DType dtype, const void* attributes,
                     uint32_t output) {
  std::array<DType, 3> given{};
  if (in.size() > given.size()) throw sdk::Error(FE_UNSUPPORTED, std::string(op) + ": more than three inputs");
  for (size_t i = 0; i < in.size(); ++i) given[i] = dtypes_[in[i]];
  const std::span<const DType> signature(given.data(), in.size());
  if (op == "astype" && given[0] == dtype) return in[0];
  const ElementwiseKernel* kernel = find_elementwise_kernel(op, signature, dtype, output);
  if (kernel == nullptr) {
    // Narrow floats are computed in float32 and rounded to the declared dtype.
    std::array<DType, 3> wide = given;
    bool any = false;
    for (DType& d : wide)
      if (is_narrow(d)) {
        d = DType::f32;
        any = true;
      }
    const DType result = is_narrow(dtype) ? DType::f32 : dtype;
    if (any || is_narrow(dtype))
      kernel = find_elementwise_kernel(op, std::span<const DType>(wide.data(), in.size()), result, output);
    if (kernel == nullptr) {
      std::string message = "no kernel for " + std::string(op) + "(";
      for (size_t i = 0; i < in.size(); ++i) message += (i ? ", " : "") + name_of(given[i]);
      throw sdk::Error(FE_UNSUPPORTED, message + ") -> " + name_of(dtype));
    }
    std::array<uint32_t, 3> widened{};
    for (size_t i = 0; i < in.size(); ++i) widened[i] = cast(in[i], wide[i]);
    return cast(apply(op, std::span<const uint32_t>(widened.data(), in.size()), result, attributes, output), dtype);
  }
  Step step{kernel->run,
            kernel->refusal,
            attributes,
            {},
            static_cast<uint32_t>(in.size()),
            static_cast<uint32_t>(dtypes_.size())};
  std::copy(in.begin(), in.end(), step.in);
  steps_.push_back(step);
  dtypes_.push_back(dtype);
  return step.out;
}

void Body::finish(std::span<const int64_t> shape, std::span<const Operand> inputs, bool own) {
  count_ = 1;
  for (const int64_t size : shape) count_ *= size;
  for (size_t i = own ? 1 : 0; i < inputs_.size(); ++i) choose_access(inputs_[i], shape, inputs[i]);
  choose_direct_output();
  assign_slots();
  choose_block_size();
}

// Merges axes if the strides allow it.
void Body::choose_access(Input& input, std::span<const int64_t> shape, const Operand& operand) const {
  const auto rank = static_cast<size_t>(operand.rank);
  const sdk::Strides strides = sdk::broadcast_strides({operand.shape, rank}, {operand.strides, rank}, shape.size());
  sdk::MergedAxes(shape, std::span(&strides, 1)).write_to(input);
  if (count_ == 1 || (input.rank == 1 && input.strides[0] == 1))
    input.access = Access::flat;
  else if (input.rank == 0 || (input.rank == 1 && input.strides[0] == 0))
    input.access = Access::repeated;
  else
    input.access = Access::strided;
}

// The last step may write to its output directly: no later step reads an input, which may be in the same memory.
void Body::choose_direct_output() {
  direct_.assign(dtypes_.size(), -1);
  if (steps_.empty()) return;
  const auto output = std::find(outputs_.begin(), outputs_.end(), steps_.back().out);
  if (output != outputs_.end()) direct_[*output] = static_cast<int32_t>(output - outputs_.begin());
}

// A buffer is free again after the last step that reads it; those of outputs are kept to the end.
void Body::assign_slots() {
  std::vector<size_t> last_use(dtypes_.size(), 0);
  for (size_t i = 0; i < steps_.size(); ++i)
    for (uint32_t k = 0; k < steps_[i].in_count; ++k) last_use[steps_[i].in[k]] = i;
  for (const uint32_t value : outputs_) last_use[value] = steps_.size();
  slots_.assign(dtypes_.size(), 0);
  for (Input& input : inputs_)
    if (input.access != Access::flat) input.slot = slot_count_++;
  sdk::ValueSlots results;
  for (size_t i = 0; i < steps_.size(); ++i)  // no step writes to a buffer that it reads
    if (const uint32_t value = steps_[i].out; direct_[value] < 0)
      slots_[value] = slot_count_ + results.take(i, last_use[value] + 1);
  slot_count_ += results.count();
}

void Body::choose_block_size() {
  size_t item = 1;
  for (const DType dtype : dtypes_) item = std::max(item, size_of(dtype));
  const auto slots = static_cast<int64_t>(std::max(slot_count_, 1u));
  // Up to one grain runs on a single thread, with little scratch memory.
  const int64_t bytes = count_ <= grain ? std::min(cache_bytes, little_scratch) : cache_bytes;
  const int64_t most = std::clamp((count_ + 63) / 64 * 64, int64_t{64}, max_block);
  block_ = std::clamp(bytes / (slots * static_cast<int64_t>(item)), int64_t{64}, most) / 64 * 64;
  slot_bytes_ = (block_ * static_cast<int64_t>(item) + 63) / 64 * 64;
}

// Points to the block of an input, or gathers it in `buffer`.
void Body::load(const Input& input, size_t item_size, const char* from, int64_t first, int64_t count, char* buffer,
                const void** pointer) const {
  const auto item = static_cast<int64_t>(item_size);
  const int64_t stride = input.strides[0], length = input.shape[0];
  std::array<int64_t, FE_MAX_RANK> index;  // from axis 1 on
  int64_t inner = first % length, rest = first / length, row = 0;
  for (uint32_t i = 1; i < input.rank; ++i) {
    index[i] = rest % input.shape[i];
    rest /= input.shape[i];
    row += index[i] * input.strides[i];
  }
  *pointer = buffer;
  if (stride == 1 && count <= length - inner) {  // the whole block is in one row
    *pointer = from + (row + inner) * item;
    return;
  }
  for (;;) {
    const int64_t run = std::min(count, length - inner);
    const char* const start = from + (row + inner * stride) * item;
    if (stride == 1)
      std::memcpy(buffer, start, static_cast<size_t>(run * item));
    else
      table().gather(buffer, start, stride, static_cast<size_t>(run), item_size);
    buffer += run * item;
    count -= run;
    if (count == 0) return;
    inner = 0;
    for (uint32_t i = 1; i < input.rank; ++i) {
      row += input.strides[i];
      if (++index[i] < input.shape[i]) break;
      row -= input.shape[i] * input.strides[i];
      index[i] = 0;
    }
  }
}

LocalScratch Body::local_scratch() const {
  const uint64_t addresses = dtypes_.size() <= few_values ? 0 : dtypes_.size() * sizeof(void*);
  return {slot_count_ * static_cast<uint64_t>(slot_bytes_) + addresses, (count_ + grain - 1) / grain};
}

fe_error* Body::run_range(const char* const* in, char* const* out, int64_t first, int64_t count, const void* own,
                          char* local, int64_t begin) const {
  const auto slot = [&](uint32_t index) { return local + index * slot_bytes_; };
  const void* few[few_values];
  const void** const pointers =  // pointer to the block of each value
      dtypes_.size() <= few_values ? few : reinterpret_cast<const void**>(slot(slot_count_));

  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].access == Access::repeated && !(own && i == 0)) {
      table().gather(slot(inputs_[i].slot), in[i], 0, static_cast<size_t>(std::min(block_, count)),
                     size_of(dtypes_[i]));
      pointers[i] = slot(inputs_[i].slot);
    }

  for (int64_t done = 0; done < count; done += block_) {
    const int64_t n = std::min(block_, count - done), at = first + done;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      const size_t item = size_of(dtypes_[i]);
      if (own && i == 0)
        pointers[0] = static_cast<const char*>(own) + done * static_cast<int64_t>(item);
      else if (input.access == Access::flat)
        pointers[i] = in[i] + at * static_cast<int64_t>(item);
      else if (input.access == Access::strided)
        load(input, item, in[i], at, n, slot(input.slot), &pointers[i]);
    }
    for (const Step& step : steps_) {
      const void* arguments[3];
      for (uint32_t k = 0; k < step.in_count; ++k) arguments[k] = pointers[step.in[k]];
      const int32_t direct = direct_[step.out];
      const auto item = static_cast<int64_t>(size_of(dtypes_[step.out]));
      char* to = direct >= 0 ? out[direct] + (at - begin) * item : slot(slots_[step.out]);
      if (step.refusal != nullptr)
        if (const char* const sentence = step.refusal(arguments, static_cast<size_t>(n)))
          return sdk::host->error_create(FE_INVALID_ARGUMENT, sentence);
      step.run(arguments, to, static_cast<size_t>(n), step.attributes);
      pointers[step.out] = to;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const uint32_t value = outputs_[i];
      const size_t item = size_of(dtypes_[value]);
      char* to = out[i] + (at - begin) * static_cast<int64_t>(item);
      if (pointers[value] == to) continue;
      std::memcpy(to, pointers[value], static_cast<size_t>(n) * item);
    }
  }
  return nullptr;
}

void Body::run(const char* const* in, char* const* out, uint32_t thread_limit, const LocalMemory& local) const {
  if (count_ == 0) return;
  if (count_ <= grain) return sdk::check(run_range(in, out, 0, count_, nullptr, local.part(0)));
  const uint32_t limit = thread_limit == 0 ? local.count : std::min(thread_limit, local.count);
  sdk::parallel_for(count_, grain, limit, [&](int64_t begin, int64_t end, uint32_t thread) {
    sdk::check(run_range(in, out, begin, end - begin, nullptr, local.part(thread)));
  });
}

}  // namespace ferrule::cpu
