// SPDX-License-Identifier: Apache-2.0
// Products of matrices as BLAS has them: columns one after another. blas.cpp asks cuBLASLt;
// tests/kernels/emulation multiplies on the host.
#pragma once

#include "kernels/cuda/wrappers/runtime.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::kernels::cuda {

/// What is multiplied: an element type; f32 rounded to tf32; or 8-bit numbers
/// (kernels/operand_format.h), of which a is stored turned and b is not, and columns begin at
/// multiples of 16.
enum class Numbers { f32, tf32, bf16, f16, e4m3, e5m2 };

/// What is done to a product before it is stored. `aside` is as c and lies as c does.
enum class After {
    nothing,
    gelu,      // tanh approximation; what it was taken of goes to `aside`
    gelu_grad, // times the derivative of gelu at `aside`
    sums,      // nothing; m sums of a's rows go to `sums`
};

/// c [m,n] = a [m,k] b [k,n], f32-accumulating; column i of a matrix begins i times its leading
/// dimension behind the first. A turned matrix is stored transposed.
struct ProductShape {
    std::int64_t m, n, k;
    bool turn_a, turn_b;
    std::int64_t leading_a, leading_b, leading_c;
    std::int64_t batch;
    std::int64_t stride_a, stride_b, stride_c; // elements from one of the batch to the next; 0: one
    Numbers a, b;                              // the same, but for e4m3 and e5m2, which mix
    std::int32_t result; // of c and of the bias: WEFT_F32, WEFT_BF16 or WEFT_F16
    bool bias = false;   // m numbers that are added to every column
    After after = After::nothing;
    bool adds = false; // c += a b, without anything else
};

/// Where the operands of a product are. Of 8-bit numbers each is `scale` times what is stored.
struct ProductArrays {
    const void* a;
    const void* b;
    const void* bias; // null: none
    void* c;
    void* workspace;
    void* aside = nullptr;
    void* sums = nullptr;           // of the result's type
    const float* scale_a = nullptr; // in device memory; 8-bit numbers only
    const float* scale_b = nullptr;
};

/// Where operands must begin: at multiples of so many bytes.
inline constexpr int kProductAlignment = 16;

class Product {
public:
    Product() = default;
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;
    virtual ~Product() = default;
    virtual std::int64_t workspace_bytes() const = 0;
    /// How it can be computed in that workspace, each way known by its bytes: the one first that
    /// the library takes for the fastest. Each adds up in an order that does not change.
    virtual const std::vector<std::string>& ways() const = 0;
    /// What the speed of a way hangs on beside the shape: GPU, driver, library.
    virtual const std::string& ground() const = 0;
    /// Queues the product. Throws Failure.
    virtual void run(weft_stream* stream, const ProductArrays& arrays, std::size_t way) const = 0;
    /// Of one run, for which it waits; none where the stream is being made into a graph. Throws
    /// Failure.
    virtual std::optional<double> seconds(weft_stream* stream, const ProductArrays& arrays,
                                          std::size_t way) const = 0;
};

/// Throws Failure: UNSUPPORTED where the library has nothing.
std::unique_ptr<Product> library_product(const ProductShape& shape);

} // namespace weft::kernels::cuda
