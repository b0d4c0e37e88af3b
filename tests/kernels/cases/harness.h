// SPDX-License-Identifier: Apache-2.0
// Runs one op on one back end with owned, guarded and optionally misaligned buffers.
#pragma once

#include "kernels/weft_kernels.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test {

using Shape = std::vector<std::int64_t>;

weft_tensor_type type_of(weft_dtype dtype, const Shape& shape);
std::int64_t count_of(const weft_tensor_type& type);

/// A dense tensor between guard bytes.
class Tensor {
public:
    Tensor() = default;
    /// All bytes 0xff: NaN in every float type. `shift` bytes past a 64-byte boundary.
    explicit Tensor(const weft_tensor_type& type, int shift = 0);

    const weft_tensor_type& type() const { return type_; }
    std::int64_t count() const { return count_of(type_); }
    void* data() { return bytes_.data() + start_; }
    const void* data() const { return bytes_.data() + start_; }
    double get(std::int64_t i) const;
    void set(std::int64_t i, double value); // rounded to nearest even
    bool guards_intact() const;
    bool same_bytes(const Tensor& other) const;

private:
    std::int64_t size() const;

    weft_tensor_type type_{};
    std::vector<unsigned char> bytes_;
    std::size_t start_ = 0;
};

Tensor tensor(weft_dtype dtype, const Shape& shape, const std::vector<double>& values);
/// Numbers in [low, high) that depend only on the seed.
Tensor noise(weft_dtype dtype, const Shape& shape, unsigned seed, double low = -1.0,
             double high = 1.0);
/// Integers in [0, bound).
Tensor indices(const Shape& shape, unsigned seed, std::int64_t bound);
/// i64 values, exact.
Tensor integers(const Shape& shape, const std::vector<std::int64_t>& values);

struct Attribute {
    std::string name;
    weft_attribute_kind kind;
    std::int64_t integer = 0;
    double real = 0.0;
    std::string text;
    Shape list;
};
Attribute flag(std::string name, bool value = true);
Attribute integer(std::string name, std::int64_t value);
Attribute real(std::string name, double value);
Attribute text(std::string name, std::string value);
Attribute list(std::string name, Shape value);

struct Call {
    std::string kind;
    std::vector<Tensor> inputs;
    std::vector<weft_tensor_type> outputs;
    std::vector<Attribute> attributes;
    std::vector<weft_elementwise_step> steps;
    std::vector<std::int32_t> output_registers;
};

struct Result {
    weft_status status = WEFT_OK;
    std::string error;
    std::string kernel;          // name from query
    std::vector<Tensor> outputs; // empty unless status is WEFT_OK
    bool guards_intact = true;   // of outputs and workspace
};

/// Query, prepare, run twice (a kernel must not live on its first run's leftovers), release. The
/// workspace is full of NaN. `alias`: output 0 lies over that input (-1: none).
Result run(const weft_backend* backend, const Call& call, int shift = 0, int alias = -1);

/// The description of a call; valid while `call` and the returned object live.
class Description {
public:
    explicit Description(const Call& call);
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    weft_op_desc* get() { return &desc_; }

private:
    std::vector<weft_tensor_type> inputs_;
    std::vector<weft_attribute> attributes_;
    weft_op_desc desc_{};
};

} // namespace weft::test
