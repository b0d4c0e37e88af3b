// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/groups/code_writer.h"

#include <cstdint>

namespace weft::kernels::cpu {

using namespace Xbyak::util;

enum CodeWriter::Constant : int {
    kZero,
    kHalf,
    kOne,
    kMinusOne,
    kTwo,
    kMinusHalf,
    kInfinity,
    kMinusInfinity,
    kNan,
    kSign,
    kMagnitude,
    kExpLow,
    kExpHigh,
    kLog2E,
    kLn2High,
    kLn2Low,
    kSeventh, // 1 / 7!, and so on
    kSixth,
    kFifth,
    kFourth,
    kThird,
    kRootHalfBits,
    kTwoElevenths,
    kTwoNinths,
    kTwoSevenths,
    kTwoFifths,
    kTwoThirds,
    kTanhNear,
    kGeluSlope, // 2 sqrt(2 / pi)
    kGeluCubic, // 0.044715 of it
    kGeluCubicThrice,
    kRootHalf,
    kErfT,
    kErf1, // Abramowitz and Stegun 7.1.26
    kErf2,
    kErf3,
    kErf4,
    kErf5,
    kDensity,
    kRoundBias,
    kConstants
};

namespace {

constexpr double kTwiceRoot = 1.5957691216057308; // 2 sqrt(2 / pi)

float from_bits(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

// In the order of CodeWriter::Constant.
const float kTable[] = {
    0.0f,
    0.5f,
    1.0f,
    -1.0f,
    2.0f,
    -0.5f,
    from_bits(0x7f800000u),
    from_bits(0xff800000u),
    from_bits(0x7fc00000u),
    from_bits(0x80000000u),
    from_bits(0x7fffffffu),
    -87.3f,
    89.0f,
    1.44269504f,
    0.693359375f,
    -2.12194440e-4f,
    1.0f / 5040.0f,
    1.0f / 720.0f,
    1.0f / 120.0f,
    1.0f / 24.0f,
    1.0f / 6.0f,
    from_bits(0x3f3504f3u),
    2.0f / 11.0f,
    2.0f / 9.0f,
    2.0f / 7.0f,
    2.0f / 5.0f,
    2.0f / 3.0f,
    0.34f,
    static_cast<float>(kTwiceRoot),
    static_cast<float>(kTwiceRoot * 0.044715),
    static_cast<float>(kTwiceRoot * 0.044715 * 3.0),
    0.707106781f,
    0.3275911f,
    0.254829592f,
    -0.284496736f,
    1.421413741f,
    -1.453152027f,
    1.061405429f,
    0.3989422804f,
    from_bits(0x7fffu),
};

// Relations of VCMPPS.
constexpr std::uint8_t kEqual = 0x00;
constexpr std::uint8_t kUnordered = 0x03;
constexpr std::uint8_t kNotEqual = 0x04; // or unordered
constexpr std::uint8_t kLess = 0x11;
constexpr std::uint8_t kLessOrEqual = 0x12;
constexpr std::uint8_t kNotLess = 0x15;    // or unordered
constexpr std::uint8_t kNotGreater = 0x1a; // or unordered
constexpr std::uint8_t kGreaterOrEqual = 0x1d;
constexpr std::uint8_t kGreater = 0x1e;

Xbyak::Ymm half_of(const Xbyak::Zmm& x) {
    return Xbyak::Ymm(x.getIdx());
}

} // namespace

CodeWriter::CodeWriter(std::size_t most_bytes)
    : Xbyak::CodeGenerator(most_bytes, Xbyak::DontSetProtectRWE),
      has_bf16_(__builtin_cpu_supports("avx512bf16")) {
    static_assert(std::size(kTable) == kConstants);
    for (int i = 31; i >= kValues; --i) {
        free_.push_back(i);
    }
}

CodeWriter::Temporary::Temporary(CodeWriter& writer) : writer_(writer) {
    if (writer_.free_.empty()) {
        unsupported("a group needs more registers than there are");
    }
    reg_ = Xbyak::Zmm(writer_.free_.back());
    writer_.free_.pop_back();
}

CodeWriter::Temporary::~Temporary() {
    writer_.free_.push_back(reg_.getIdx());
}

void CodeWriter::load_constants() {
    mov(r14, reinterpret_cast<std::size_t>(kTable));
}

Xbyak::Address CodeWriter::constant(Constant which) {
    return ptr_b[r14 + 4 * static_cast<int>(which)];
}

Xbyak::Address CodeWriter::number(Constant which) {
    return dword[r14 + 4 * static_cast<int>(which)];
}

void CodeWriter::polynomial(const Zmm& p, const Zmm& x,
                            std::initializer_list<Constant> coefficients) {
    bool first = true;
    for (const Constant c : coefficients) {
        if (first) {
            fill(p, c);
            first = false;
        } else {
            vfmadd213ps(p, x, constant(c));
        }
    }
}

void CodeWriter::one_where(const Zmm& out, const Zmm& a, const Xbyak::Operand& b,
                           std::uint8_t relation) {
    vcmpps(k2, a, b, relation);
    vbroadcastss(out | k2 | T_z, number(kOne));
}

/// By k2.
void CodeWriter::take_where(const Zmm& out, const Zmm& yes, const Zmm& no) {
    vblendmps(out | k2, no, yes);
}

void CodeWriter::exp_minus_one_small(const Zmm& out, const Zmm& r) {
    polynomial(out, r, {kSeventh, kSixth, kFifth, kFourth, kThird, kHalf});
    vmulps(out, out, r);
    vfmadd213ps(out, r, r);
}

void CodeWriter::exponential(const Zmm& out, const Zmm& x) {
    const Temporary r(*this);
    const Temporary n(*this);
    fill(r, kExpLow);
    vmaxps(r, r, x); // NaN, if it is the second
    fill(n, kExpHigh);
    vminps(r, n, r);
    vmulps(n, r, constant(kLog2E));
    vrndscaleps(n, n, 0);
    // ln(2) in two parts, the first with few bits, so that n * high is exact.
    vfnmadd231ps(r, n, constant(kLn2High));
    vfnmadd231ps(r, n, constant(kLn2Low));
    exp_minus_one_small(out, r);
    vaddps(out, out, constant(kOne));
    vscalefps(out, out, n);
    vcmpps(k2, x, constant(kExpLow), kLess);
    vxorps(out | k2, out, out);
}

/// ln(2^e m) = e ln 2 + 2 atanh((m - 1) / (m + 1)), m in [sqrt(1/2), sqrt(2)).
void CodeWriter::logarithm(const Zmm& out, const Zmm& x) {
    const Temporary e(*this);
    const Temporary s(*this);
    const Temporary z(*this);
    vpsubd(e, x, constant(kRootHalfBits));
    vpsrad(e, e, 23);
    vpslld(s, e, 23);
    vpsubd(s, x, s); // m
    vcvtdq2ps(e, e);
    vaddps(z, s, constant(kOne));
    vsubps(s, s, constant(kOne));
    vdivps(s, s, z);
    vmulps(z, s, s);
    polynomial(out, z, {kTwoElevenths, kTwoNinths, kTwoSevenths, kTwoFifths, kTwoThirds});
    vmulps(z, z, s);
    vmulps(out, out, z);
    vfmadd231ps(out, e, constant(kLn2Low));
    vfmadd231ps(out, s, constant(kTwo));
    vfmadd231ps(out, e, constant(kLn2High));
    vcmpps(k2, x, constant(kInfinity), kEqual);
    vbroadcastss(out | k2, number(kInfinity));
    vcmpps(k2, x, constant(kZero), kNotGreater);
    vbroadcastss(out | k2, number(kNan));
    vcmpps(k2, x, constant(kZero), kEqual);
    vbroadcastss(out | k2, number(kMinusInfinity));
}

void CodeWriter::tanh(const Zmm& out, const Zmm& x) {
    const Temporary y(*this); // 2 |x|
    const Temporary near(*this);
    const Temporary limited(*this);
    vandps(y, x, constant(kMagnitude));
    vaddps(y, y, y);
    vminps(limited, y, constant(kTanhNear)); // the limit for NaN, whose result is the other
    exp_minus_one_small(near, limited);
    vaddps(limited, near, constant(kTwo));
    vdivps(near, near, limited);
    exponential(out, y);
    vaddps(out, out, constant(kOne));
    fill(limited, kTwo);
    vdivps(limited, limited, out);
    fill(out, kOne);
    vsubps(out, out, limited);
    vcmpps(k2, y, constant(kTanhNear), kLess);
    vmovaps(out | k2, near);
    vandps(y, x, constant(kSign));
    vorps(out, out, y);
}

void CodeWriter::sigmoid(const Zmm& out, const Zmm& x) {
    const Temporary t(*this);
    vxorps(t, x, constant(kSign));
    exponential(out, t);
    vaddps(out, out, constant(kOne));
    fill(t, kOne);
    vdivps(out, t, out);
}

void CodeWriter::normal_distribution(const Zmm& out, const Zmm& x) {
    const Temporary z(*this);
    const Temporary t(*this);
    const Temporary p(*this);
    vandps(z, x, constant(kMagnitude));
    vmulps(z, z, constant(kRootHalf));
    fill(t, kOne);
    vmovaps(p, t);
    vfmadd231ps(p, z, constant(kErfT));
    vdivps(t, t, p);
    polynomial(p, t, {kErf5, kErf4, kErf3, kErf2, kErf1});
    vmulps(p, p, t);
    vmulps(p, p, constant(kHalf));
    vmulps(t, z, z);
    vxorps(t, t, constant(kSign));
    exponential(z, t);
    vmulps(p, p, z); // the tail
    fill(out, kOne);
    vsubps(out, out, p);
    vcmpps(k2, x, constant(kZero), kLess);
    vmovaps(out | k2, p);
}

void CodeWriter::gelu_argument(const Zmm& out, const Zmm& x) {
    const Temporary square(*this);
    vmulps(square, x, x);
    fill(out, kGeluCubic);
    vfmadd213ps(out, square, constant(kGeluSlope));
    vmulps(out, out, x);
}

void CodeWriter::gelu_grad(const Zmm& out, const Zmm& x, const Zmm& dy) {
    const Temporary s(*this);
    const Temporary t(*this);
    gelu_argument(t, x);
    sigmoid(s, t);
    vmulps(t, x, x);
    fill(out, kGeluCubicThrice);
    vfmadd213ps(out, t, constant(kGeluSlope)); // the slope of the argument
    vmulps(out, out, x);
    vmulps(out, out, s);
    fill(t, kOne);
    vsubps(t, t, s);
    vfmadd213ps(out, t, s); // s + x s (1 - s) slope
    vmulps(out, out, dy);
}

void CodeWriter::gelu_erf_grad(const Zmm& out, const Zmm& x, const Zmm& dy) {
    const Temporary t(*this);
    {
        const Temporary density(*this);
        vmulps(density, x, x);
        vmulps(density, density, constant(kMinusHalf));
        exponential(t, density);
    }
    vmulps(t, t, constant(kDensity));
    normal_distribution(out, x);
    vfmadd231ps(out, x, t);
    vmulps(out, out, dy);
}

void CodeWriter::silu_grad(const Zmm& out, const Zmm& x, const Zmm& dy) {
    const Temporary s(*this);
    sigmoid(s, x);
    fill(out, kOne);
    vsubps(out, out, s);
    vmulps(out, out, x);
    vaddps(out, out, constant(kOne));
    vmulps(out, out, s);
    vmulps(out, out, dy);
}

void CodeWriter::compute(const Step& step, int number_of_step, const Zmm& out, const Zmm& a,
                         const Zmm& b, const Zmm& c) {
    switch (step.opcode) {
    case WEFT_EW_CAST: vmovaps(out, a); return;
    case WEFT_EW_NEG: vxorps(out, a, constant(kSign)); return;
    case WEFT_EW_ABS: vandps(out, a, constant(kMagnitude)); return;
    case WEFT_EW_EXP: exponential(out, a); return;
    case WEFT_EW_LOG: logarithm(out, a); return;
    case WEFT_EW_SQRT: vsqrtps(out, a); return;
    case WEFT_EW_RSQRT: {
        const Temporary root(*this);
        vsqrtps(root, a);
        fill(out, kOne);
        vdivps(out, out, root);
        return;
    }
    case WEFT_EW_TANH: tanh(out, a); return;
    case WEFT_EW_SIGMOID: sigmoid(out, a); return;
    case WEFT_EW_SQUARE: vmulps(out, a, a); return;
    case WEFT_EW_SIGN:
        vmovaps(out, a);
        vcmpps(k2, a, constant(kZero), kGreater);
        vbroadcastss(out | k2, number(kOne));
        vcmpps(k2, a, constant(kZero), kLess);
        vbroadcastss(out | k2, number(kMinusOne));
        return;
    case WEFT_EW_IS_FINITE: {
        const Temporary t(*this);
        vsubps(t, a, a);
        one_where(out, t, constant(kZero), kEqual);
        return;
    }
    case WEFT_EW_RELU: // NaN survives
        vcmpps(k2, a, constant(kZero), kNotLess);
        vmovaps(out | k2 | T_z, a);
        return;
    case WEFT_EW_GELU: {
        const Temporary t(*this);
        gelu_argument(t, a);
        sigmoid(out, t);
        vmulps(out, out, a);
        return;
    }
    case WEFT_EW_GELU_ERF:
        normal_distribution(out, a);
        vmulps(out, out, a);
        return;
    case WEFT_EW_SILU:
        sigmoid(out, a);
        vmulps(out, out, a);
        return;
    case WEFT_EW_AFFINE:
        vbroadcastss(out, dword[r13 + 8 * number_of_step]);
        vfmadd213ps(out, a, ptr_b[r13 + 8 * number_of_step + 4]);
        return;
    case WEFT_EW_ADD: vaddps(out, a, b); return;
    case WEFT_EW_SUB: vsubps(out, a, b); return;
    case WEFT_EW_MUL: vmulps(out, a, b); return;
    case WEFT_EW_DIV: vdivps(out, a, b); return;
    case WEFT_EW_MAXIMUM:
    case WEFT_EW_MINIMUM: // NaN survives, from either side
        vcmpps(k2, a, b, step.opcode == WEFT_EW_MAXIMUM ? kGreaterOrEqual : kLessOrEqual);
        vcmpps(k3, a, a, kUnordered);
        korw(k2, k2, k3);
        take_where(out, a, b);
        return;
    case WEFT_EW_LESS: one_where(out, a, b, kLess); return;
    case WEFT_EW_EQUAL: one_where(out, a, b, kEqual); return;
    case WEFT_EW_RELU_GRAD:
        vcmpps(k2, a, constant(kZero), kGreater);
        vmovaps(out | k2 | T_z, b);
        return;
    case WEFT_EW_GELU_GRAD: gelu_grad(out, a, b); return;
    case WEFT_EW_GELU_ERF_GRAD: gelu_erf_grad(out, a, b); return;
    case WEFT_EW_SILU_GRAD: silu_grad(out, a, b); return;
    case WEFT_EW_TANH_GRAD:
        fill(out, kOne);
        vfnmadd231ps(out, a, a);
        vmulps(out, out, b);
        return;
    case WEFT_EW_SIGMOID_GRAD:
        fill(out, kOne);
        vsubps(out, out, a);
        vmulps(out, out, a);
        vmulps(out, out, b);
        return;
    case WEFT_EW_SELECT:
        vcmpps(k2, a, constant(kZero), kNotEqual);
        take_where(out, b, c);
        return;
    default: unsupported("an opcode without machine code");
    }
}

/// Rounds to nearest even on the bits; NaN becomes the quiet one.
void CodeWriter::to_bf16_emulated(const Zmm& x) {
    const Temporary t(*this);
    vcmpps(k2, x, x, kUnordered);
    vpslld(t, x, 15); // the last bit that stays, as the highest
    vpsrld(t, t, 31);
    vpaddd(t, t, constant(kRoundBias));
    vpaddd(x, x, t);
    vbroadcastss(x | k2, number(kNan));
    vpsrld(x, x, 16);
}

void CodeWriter::round(std::int32_t dtype, const Zmm& x) {
    if (dtype == WEFT_BF16) {
        if (has_bf16_) {
            vcvtneps2bf16(half_of(x), x);
            vpmovzxwd(x, half_of(x));
        } else {
            to_bf16_emulated(x);
        }
        vpslld(x, x, 16);
    } else if (dtype == WEFT_F16) {
        vcvtps2ph(half_of(x), x, 0);
        vcvtph2ps(x, half_of(x));
    }
}

void CodeWriter::load(std::int32_t dtype, const Zmm& to, const Xbyak::RegExp& address,
                      bool masked) {
    const Zmm lanes = masked ? to | k1 | T_z : to;
    switch (dtype) {
    case WEFT_F32: vmovups(lanes, ptr[address]); return;
    case WEFT_BF16:
        vpmovzxwd(lanes, ptr[address]);
        vpslld(to, to, 16);
        return;
    case WEFT_F16: vcvtph2ps(lanes, ptr[address]); return;
    case WEFT_I32: vcvtdq2ps(lanes, ptr[address]); return;
    case WEFT_U8:
        vpmovzxbd(lanes, ptr[address]);
        vcvtdq2ps(to, to);
        return;
    default: unsupported("a type that groups do not read");
    }
}

void CodeWriter::store(std::int32_t dtype, const Xbyak::RegExp& address, const Zmm& from,
                       bool masked) {
    const Xbyak::Address whole = ptr[address];
    const Xbyak::Address to = masked ? whole | k1 : whole;
    if (dtype == WEFT_F32) {
        vmovups(to, from);
    } else if (dtype == WEFT_F16) {
        vcvtps2ph(to, from, 0);
    } else if (has_bf16_) {
        const Temporary t(*this);
        vcvtneps2bf16(half_of(t), from);
        vmovdqu16(to, half_of(t));
    } else {
        const Temporary t(*this);
        vmovaps(t, from);
        to_bf16_emulated(t);
        vpmovdw(to, t);
    }
}

void CodeWriter::load_number(std::int32_t dtype, const Zmm& to, const Xbyak::RegExp& address) {
    switch (dtype) {
    case WEFT_F32: vbroadcastss(to, dword[address]); return;
    case WEFT_BF16:
        movzx(eax, word[address]);
        shl(eax, 16);
        vpbroadcastd(to, eax);
        return;
    case WEFT_F16:
        movzx(eax, word[address]);
        vmovd(Xbyak::Xmm(to.getIdx()), eax);
        vcvtph2ps(Xbyak::Xmm(to.getIdx()), Xbyak::Xmm(to.getIdx()));
        vbroadcastss(to, Xbyak::Xmm(to.getIdx()));
        return;
    case WEFT_I32:
        vpbroadcastd(to, dword[address]);
        vcvtdq2ps(to, to);
        return;
    case WEFT_U8:
        movzx(eax, byte[address]);
        vpbroadcastd(to, eax);
        vcvtdq2ps(to, to);
        return;
    default: unsupported("a type that groups do not read");
    }
}

} // namespace weft::kernels::cpu
