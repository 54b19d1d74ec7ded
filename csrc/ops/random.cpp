// Random bits by counter and key: the Philox 4x32 generator with 10 rounds (Salmon et al. 2011).
#include "ops/rules.h"

#include <array>

namespace ferrule::ops {
namespace {

constexpr double high_word = 4294967296.0;  // 2^32

struct Product {
  Value high, low;
};

// The two words of the product of 32-bit words.
Product product(Builder& b, Value x, double factor) {
  const Value wide = b.multiply(b.astype(x, DType::uint64), b.scalar(factor, DType::uint64));
  const Value high = b.apply("bitwise_right_shift", {wide, b.scalar(32, DType::uint64)});
  return {b.astype(high, DType::uint32), b.astype(wide, DType::uint32)};
}

// The four words that Philox makes of a counter of four words.
std::array<Value, 4> philox(Builder& b, std::array<Value, 4> counter, std::array<Value, 2> key) {
  const auto exclusive_or = [&](Value x, Value y) { return b.apply("bitwise_xor", {x, y}); };
  for (int round = 0; round < 10; ++round) {
    const Product first = product(b, counter[0], 0xD2511F53), second = product(b, counter[2], 0xCD9E8D57);
    counter = {exclusive_or(exclusive_or(second.high, counter[1]), key[0]), second.low,
               exclusive_or(exclusive_or(first.high, counter[3]), key[1]), first.low};
    key = {b.add(key[0], b.scalar(0x9E3779B9, DType::uint32)), b.add(key[1], b.scalar(0xBB67AE85, DType::uint32))};
  }
  return counter;
}

// A word of the key for each of `count` blocks: what is computed of them is fused with the rest.
Value repeated_word(Builder& b, Value key, int64_t index, int64_t count) {
  const std::vector<int64_t> start{index}, one{1};
  const Value word = b.apply("slice", {key}, {{"starts", start}, {"sizes", one}, {"steps", one}});
  return b.apply("broadcast_to", {word}, {{"shape", std::vector<int64_t>{count}}});
}

}  // namespace

OP(random_bits)
    .doc(
        "`size` random words by Philox 4x32-10 (Salmon et al. 2011) from a key of 2 words. Word i is word i % 4 of the "
        "block whose counter is (i / 4, stream), 64 bits each.")
    .by_hand()
    .input("key", integer)
    .attribute("size", AttributeType::integer)
    .integer_attribute("stream", 0)
    .result([](Inference& i) {
      const TensorType& key = i.input(0);
      if (key.dtype != DType::uint32 || key.shape != Shape{2})
        i.fail("a key is an array of 2 uint32, not {}", to_string(key));
      const int64_t size = i.attribute().integer("size");
      if (size < 0) i.fail("size {} is negative", size);
      if (i.attribute().integer("stream") < 0) i.fail("stream {} is negative", i.attribute().integer("stream"));
      i.output({DType::uint32, Shape{size}});
    })
    .decompose([](Builder& b, const Call& c) {
      const int64_t size = c.attribute().integer("size"), stream = c.attribute().integer("stream");
      const int64_t blocks = size / 4 + (size % 4 != 0 ? 1 : 0);
      const auto count = [&](DType dtype) { return b.apply("iota", {}, {{"size", blocks}, {"dtype", dtype}}); };
      const Value zero = b.scalar(0, DType::uint32);
      std::array<Value, 2> place{zero, zero};
      if (static_cast<double>(blocks) <= high_word) {
        place[0] = count(DType::uint32);
      } else {
        const Value wide = count(DType::uint64);
        place = {b.astype(wide, DType::uint32),
                 b.astype(b.apply("bitwise_right_shift", {wide, b.scalar(32, DType::uint64)}), DType::uint32)};
      }
      const std::array<Value, 4> words =
          philox(b,
                 {place[0], place[1], b.scalar(static_cast<double>(stream & 0xFFFFFFFF), DType::uint32),
                  b.scalar(static_cast<double>(stream >> 32), DType::uint32)},
                 {repeated_word(b, c.input(0), 0, blocks), repeated_word(b, c.input(0), 1, blocks)});
      std::vector<Value> columns;
      columns.reserve(words.size());
      for (const Value word : words) columns.push_back(b.reshape(word, Shape{blocks, 1}));
      const Value together =
          b.reshape(b.apply("concat", std::span<const Value>(columns), {{"axis", int64_t{1}}}), Shape{4 * blocks});
      return b.apply("slice", {together},
                     {{"starts", std::vector<int64_t>{0}},
                      {"sizes", std::vector<int64_t>{size}},
                      {"steps", std::vector<int64_t>{1}}});
    });

}  // namespace ferrule::ops
