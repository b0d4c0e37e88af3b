// SPDX-License-Identifier: Apache-2.0
// Machine code (AVX-512) for the elementwise opcodes, sixteen elements at a time, with Xbyak. The
// formulas are those of loops/simd.h.
#pragma once

#include "kernels/elementwise.h"

#include <xbyak/xbyak.h>

#include <vector>

namespace weft::kernels::cpu {

/// Registers: zmm0..19 are the caller's, zmm20..31 temporary, k1 the lanes of a last, shorter
/// vector, k2 and k3 temporary; r13 points to scale and shift of each step, r14 to constants.
class CodeWriter : public Xbyak::CodeGenerator {
public:
    using Zmm = Xbyak::Zmm;
    static constexpr int kValues = 20;

    explicit CodeWriter(std::size_t most_bytes);

    /// A temporary register for as long as it lives.
    class Temporary {
    public:
        explicit Temporary(CodeWriter& writer);
        ~Temporary();
        Temporary(const Temporary&) = delete;
        Temporary& operator=(const Temporary&) = delete;
        operator const Zmm&() const { return reg_; } // NOLINT: stands for its register

    private:
        CodeWriter& writer_;
        Zmm reg_;
    };

    /// Points r14 to the constants.
    void load_constants();
    /// out = the opcode of step number `number`; operands and out are different registers. Not of
    /// WEFT_EW_POW, WEFT_EW_ATAN2 and WEFT_EW_SYMLOG, which are calls.
    void compute(const Step& step, int number, const Zmm& out, const Zmm& a, const Zmm& b,
                 const Zmm& c);
    /// To bf16 or f16 and back; nothing for f32.
    void round(std::int32_t dtype, const Zmm& x);
    /// Sixteen elements (`masked`: the lanes of k1) from and to memory of a type.
    void load(std::int32_t dtype, const Zmm& to, const Xbyak::RegExp& address, bool masked);
    void store(std::int32_t dtype, const Xbyak::RegExp& address, const Zmm& from, bool masked);
    /// One element in all lanes; uses eax.
    void load_number(std::int32_t dtype, const Zmm& to, const Xbyak::RegExp& address);

private:
    enum Constant : int;

    Xbyak::Address constant(Constant which);
    void fill(const Zmm& to, Constant which) { vbroadcastss(to, number(which)); }
    Xbyak::Address number(Constant which);
    /// p = c0; p = p x + c1; ...
    void polynomial(const Zmm& p, const Zmm& x, std::initializer_list<Constant> coefficients);
    void one_where(const Zmm& out, const Zmm& a, const Xbyak::Operand& b, std::uint8_t relation);
    void take_where(const Zmm& out, const Zmm& yes, const Zmm& no);

    void exp_minus_one_small(const Zmm& out, const Zmm& r);
    void exponential(const Zmm& out, const Zmm& x);
    void logarithm(const Zmm& out, const Zmm& x);
    void tanh(const Zmm& out, const Zmm& x);
    void sigmoid(const Zmm& out, const Zmm& x);
    void normal_distribution(const Zmm& out, const Zmm& x);
    /// The argument of the sigmoid that GELU is x times: 2 sqrt(2 / pi) (x + 0.044715 x^3).
    void gelu_argument(const Zmm& out, const Zmm& x);
    void gelu_grad(const Zmm& out, const Zmm& x, const Zmm& dy);
    void gelu_erf_grad(const Zmm& out, const Zmm& x, const Zmm& dy);
    void silu_grad(const Zmm& out, const Zmm& x, const Zmm& dy);
    void to_bf16_emulated(const Zmm& x);

    std::vector<int> free_;
    bool has_bf16_;
};

} // namespace weft::kernels::cpu
