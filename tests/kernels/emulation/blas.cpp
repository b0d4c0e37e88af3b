// SPDX-License-Identifier: Apache-2.0
// Products of matrices on the host, with the rules that cuBLASLt has for its arguments (its
// documentation, cublasLtMatrixLayoutCreate and cublasLtMatmul).
#include "kernels/cuda/wrappers/blas.h"

#include "kernels/numbers.h"
#include "kernels/op.h"
#include "tests/kernels/emulation/machine.h"
#include "tests/kernels/emulation/product_ways.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft::kernels::cuda {
namespace {

/// An 8-bit number as the OCP's specification of them says it (OFP8, revision 1.0, table 1).
double eight_bits(unsigned char code, int fraction_bits, int bias, unsigned char first_special) {
    const int magnitude = code & 0x7f;
    if (magnitude >= first_special) {
        return std::numeric_limits<double>::quiet_NaN(); // nobody writes infinity
    }
    const int fraction = magnitude & ((1 << fraction_bits) - 1);
    const int exponent = magnitude >> fraction_bits;
    const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                       : std::ldexp((1 << fraction_bits) + fraction,
                                                    exponent - bias - fraction_bits);
    return (code & 0x80) != 0 ? -value : value;
}

double element(const void* data, Numbers numbers, std::int64_t i) {
    switch (numbers) {
    case Numbers::f32:
    case Numbers::tf32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case Numbers::bf16: return static_cast<double>(to_float(static_cast<const bf16*>(data)[i]));
    case Numbers::f16: return static_cast<double>(to_float(static_cast<const f16*>(data)[i]));
    case Numbers::e4m3: return eight_bits(static_cast<const unsigned char*>(data)[i], 3, 7, 0x7f);
    default: return eight_bits(static_cast<const unsigned char*>(data)[i], 2, 15, 0x7c);
    }
}

class HostProduct final : public Product {
public:
    explicit HostProduct(const ProductShape& shape) : s_(shape) {
        require(s_.m > 0 && s_.n > 0 && s_.k > 0 && s_.batch > 0, "a matrix is empty");
        require(is_allowed(), "no such types of a product");
        require(s_.leading_a >= (s_.turn_a ? s_.k : s_.m), "a column of a is longer than lda");
        require(s_.leading_b >= (s_.turn_b ? s_.n : s_.k), "a column of b is longer than ldb");
        require(s_.leading_c >= s_.m, "a column of c is longer than ldc");
        // "cublasLtEpilogue_t" and CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: what lies aside has
        // columns of a multiple of 8 elements; sums of rows are of the result's type, of one
        // product.
        const bool aside = s_.after == After::gelu || s_.after == After::gelu_grad;
        if (aside && s_.leading_c % 8 != 0) {
            unsupported("an array aside of such columns");
        }
        require(s_.after == After::nothing || !narrow(), "nothing is done after 8-bit products");
        require(s_.after != After::sums || (s_.batch == 1 && !s_.bias),
                "sums of a batch, or a bias");
        require(!s_.adds || (!s_.bias && s_.after == After::nothing),
                "a product is added, and nothing else");
        require(s_.batch == 1 || s_.stride_c >= s_.leading_c * s_.n, "results of a batch overlap");
    }

    std::int64_t workspace_bytes() const override { return 64; }

    /// They differ in what product_ways.h says of them.
    const std::vector<std::string>& ways() const override {
        static const std::vector<std::string> both = {"the first way", "the second way"};
        return both;
    }
    const std::string& ground() const override {
        static const std::string emulation = "the emulation";
        return emulation;
    }
    std::optional<double> seconds(weft_stream*, const ProductArrays&,
                                  std::size_t way) const override {
        return test::seconds_of_product(way);
    }

    void run(weft_stream* stream, const ProductArrays& of, std::size_t way) const override {
        test::note_product(way);
        for (const void* pointer :
             {of.a, of.b, of.bias, static_cast<const void*>(of.c), static_cast<const void*>(of.aside),
              static_cast<const void*>(of.sums), static_cast<const void*>(of.workspace)}) {
            require(reinterpret_cast<std::uintptr_t>(pointer) % kProductAlignment == 0,
                    "an operand is not aligned to 16 bytes");
        }
        require((of.bias != nullptr) == s_.bias, "the bias is not where it was announced");
        require((of.aside != nullptr) == (s_.after == After::gelu || s_.after == After::gelu_grad),
                "what lies aside is not where it was announced");
        require((of.sums != nullptr) == (s_.after == After::sums),
                "the sums are not where they were announced");
        require((of.scale_a != nullptr) == narrow() && (of.scale_b != nullptr) == narrow(),
                "8-bit numbers, and only they, are scaled");
        test::queue_work(stream, [this, of] {
            multiply(of);
            sum_rows(of);
        });
    }

private:
    bool narrow() const { return s_.a == Numbers::e4m3 || s_.a == Numbers::e5m2; }

    bool is_allowed() const {
        if (narrow()) {
            return (s_.a == Numbers::e4m3 || s_.b == Numbers::e4m3) && s_.turn_a && !s_.turn_b &&
                   s_.leading_a % 16 == 0 && s_.leading_b % 16 == 0 && s_.m % 16 == 0 &&
                   (s_.result == WEFT_F32 || s_.result == WEFT_BF16);
        }
        return s_.a == s_.b && (s_.result == WEFT_F32 || s_.a == numbers_of_result());
    }

    Numbers numbers_of_result() const {
        return s_.result == WEFT_F32    ? Numbers::f32
               : s_.result == WEFT_BF16 ? Numbers::bf16
                                        : Numbers::f16;
    }

    void multiply(const ProductArrays& of) const {
        const double scale =
            narrow() ? static_cast<double>(*of.scale_a) * static_cast<double>(*of.scale_b) : 1.0;
        for (std::int64_t batch = 0; batch < s_.batch; ++batch) {
            for (std::int64_t j = 0; j < s_.n; ++j) {
                for (std::int64_t i = 0; i < s_.m; ++i) {
                    const std::int64_t at = batch * s_.stride_c + j * s_.leading_c + i;
                    const double start = s_.bias   ? element(of.bias, numbers_of_result(), i)
                                         : s_.adds ? element(of.c, numbers_of_result(), at)
                                                   : 0.0;
                    write(of.c, at, after(of, at, start + scale * dot(of.a, of.b, batch, i, j)));
                }
            }
        }
    }

    /// Hendrycks and Gimpel, the tanh approximation.
    double after(const ProductArrays& of, std::int64_t at, double value) const {
        const auto inner = [](double x) {
            return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
        };
        if (s_.after == After::gelu) {
            write(of.aside, at, value);
            return 0.5 * value * (1 + std::tanh(inner(value)));
        }
        if (s_.after == After::gelu_grad) {
            const double x = element(of.aside, numbers_of_result(), at);
            const double t = std::tanh(inner(x));
            const double slope = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
            return value * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope);
        }
        return value;
    }

    void sum_rows(const ProductArrays& of) const {
        for (std::int64_t i = 0; s_.after == After::sums && i < s_.m; ++i) {
            double sum = 0;
            for (std::int64_t k = 0; k < s_.k; ++k) {
                sum += element(of.a, s_.a, s_.turn_a ? i * s_.leading_a + k : k * s_.leading_a + i);
            }
            write(of.sums, i, sum);
        }
    }

    double dot(const void* a, const void* b, std::int64_t batch, std::int64_t i,
               std::int64_t j) const {
        double sum = 0.0;
        for (std::int64_t k = 0; k < s_.k; ++k) {
            const std::int64_t at = s_.turn_a ? i * s_.leading_a + k : k * s_.leading_a + i;
            const std::int64_t bt = s_.turn_b ? k * s_.leading_b + j : j * s_.leading_b + k;
            sum += element(a, s_.a, batch * s_.stride_a + at) *
                   element(b, s_.b, batch * s_.stride_b + bt);
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

std::unique_ptr<Product> library_product(const ProductShape& shape) {
    return std::make_unique<HostProduct>(shape);
}

} // namespace weft::kernels::cuda

namespace weft::test {
namespace {

std::atomic<const ProductTimes*> times{nullptr};
std::atomic<std::size_t> last_way{0};

} // namespace

void set_product_times(const ProductTimes* given) {
    times = given;
}
std::size_t last_product_way() {
    return last_way;
}

std::optional<double> seconds_of_product(std::size_t way) {
    const ProductTimes* given = times;
    return given != nullptr ? (*given)(way) : std::nullopt;
}
void note_product(std::size_t way) {
    last_way = way;
}

} // namespace weft::test
