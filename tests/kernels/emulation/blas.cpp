// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the host, with the rules that cuBLASLt has for its arguments (its
// documentation, cublasLtMatrixLayoutCreate and cublasLtMatmul).
#include "kernels/cuda/wrappers/blas.h"

#include "kernels/numbers.h"
#include "kernels/op.h"
#include "tests/kernels/emulation/machine.h"

namespace weft::kernels::cuda {
namespace {

double element(const void* data, std::int32_t dtype, std::int64_t i) {
    switch (dtype) {
    case WEFT_F32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case WEFT_BF16: return static_cast<double>(to_float(static_cast<const bf16*>(data)[i]));
    default: return static_cast<double>(to_float(static_cast<const f16*>(data)[i]));
    }
}

class HostProduct final : public Product {
public:
    explicit HostProduct(const ProductShape& shape) : s_(shape) {
        require(s_.m > 0 && s_.n > 0 && s_.k > 0 && s_.batch > 0, "a matrix is empty");
        require(s_.dtype == s_.result || s_.result == WEFT_F32, "no such types of a product");
        require(s_.leading_a >= (s_.turn_a ? s_.k : s_.m), "a column of a is longer than lda");
        require(s_.leading_b >= (s_.turn_b ? s_.n : s_.k), "a column of b is longer than ldb");
        require(s_.leading_c >= s_.m, "a column of c is longer than ldc");
        require(s_.batch == 1 || s_.stride_c >= s_.leading_c * s_.n, "results of a batch overlap");
    }

    std::int64_t workspace_bytes() const override { return 64; }

    void run(weft_stream* stream, const void* a, const void* b, const void* bias, void* c,
             void* workspace) const override {
        for (const void* pointer :
             {a, b, static_cast<const void*>(c), static_cast<const void*>(workspace)}) {
            require(reinterpret_cast<std::uintptr_t>(pointer) % kProductAlignment == 0,
                    "an operand is not aligned to 16 bytes");
        }
        require((bias != nullptr) == s_.bias, "the bias is not where it was announced");
        test::queue_work(stream, [=, this] { multiply(a, b, bias, c); });
    }

private:
    void multiply(const void* a, const void* b, const void* bias, void* c) const {
        for (std::int64_t batch = 0; batch < s_.batch; ++batch) {
            for (std::int64_t j = 0; j < s_.n; ++j) {
                for (std::int64_t i = 0; i < s_.m; ++i) {
                    const double start = s_.bias ? element(bias, s_.result, i) : 0.0;
                    write(c, batch * s_.stride_c + j * s_.leading_c + i,
                          start + dot(a, b, batch, i, j));
                }
            }
        }
    }

    double dot(const void* a, const void* b, std::int64_t batch, std::int64_t i,
               std::int64_t j) const {
        double sum = 0.0;
        for (std::int64_t k = 0; k < s_.k; ++k) {
            const std::int64_t at = s_.turn_a ? i * s_.leading_a + k : k * s_.leading_a + i;
            const std::int64_t bt = s_.turn_b ? k * s_.leading_b + j : j * s_.leading_b + k;
            sum += element(a, s_.dtype, batch * s_.stride_a + at) *
                   element(b, s_.dtype, batch * s_.stride_b + bt);
        }
        return sum;
    }

    void write(void* c, std::int64_t i, double value) const {
        const auto number = static_cast<float>(value);
        switch (s_.result) {
        case WEFT_F32: static_cast<float*>(c)[i] = number; break;
        case WEFT_BF16: static_cast<bf16*>(c)[i] = to_bf16(number); break;
        default: static_cast<f16*>(c)[i] = to_f16(number); break;
        }
    }

    ProductShape s_;
};

} // namespace

std::unique_ptr<Product> make_product(const ProductShape& shape) {
    return std::make_unique<HostProduct>(shape);
}

} // namespace weft::kernels::cuda
