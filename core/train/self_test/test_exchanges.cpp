// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/exec/trial/op_trial.h"
#include "core/train/self_test/self_test.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <cstring>

namespace weft::train {
namespace {

constexpr std::int64_t kElements = 1000;

struct ExchangeCase {
    const char* name;
    weft_collective kind;
    weft_reduction reduction;
    std::int32_t shift;
    ir::DType dtype;
};
constexpr ExchangeCase kExchanges[] = {
    {"all-reduce in f32", WEFT_ALL_REDUCE, WEFT_SUM, 0, ir::DType::f32},
    {"all-reduce in bf16", WEFT_ALL_REDUCE, WEFT_SUM, 0, ir::DType::bf16},
    {"all-reduce in f16", WEFT_ALL_REDUCE, WEFT_SUM, 0, ir::DType::f16},
    {"all-reduce of maxima", WEFT_ALL_REDUCE, WEFT_MAX, 0, ir::DType::f32},
    {"all-gather", WEFT_ALL_GATHER, WEFT_SUM, 0, ir::DType::bf16},
    {"reduce-scatter in f32", WEFT_REDUCE_SCATTER, WEFT_SUM, 0, ir::DType::f32},
    {"reduce-scatter in bf16", WEFT_REDUCE_SCATTER, WEFT_SUM, 0, ir::DType::bf16},
    {"all-to-all", WEFT_ALL_TO_ALL, WEFT_SUM, 0, ir::DType::f32},
    {"permute", WEFT_PERMUTE, WEFT_SUM, 1, ir::DType::f32},
    {"send and receive", WEFT_SEND, WEFT_SUM, 0, ir::DType::f32},
};

/// Whole numbers up to 3, so that sums over a hundred ranks are exact in every type.
float exchanged_number(std::int64_t rank, std::int64_t i) {
    return static_cast<float>((rank * 5 + i * 3) % 7 - 3);
}

void append(std::vector<std::byte>& to, ir::DType dtype, float value) {
    const auto add = [&](const auto& stored) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&stored);
        to.insert(to.end(), bytes, bytes + sizeof stored);
    };
    switch (dtype) {
    case ir::DType::f32: add(value); break;
    case ir::DType::bf16: add(kernels::to_bf16(value)); break;
    case ir::DType::f16: add(kernels::to_f16(value)); break;
    default: WEFT_CHECK(false, "no exchange is tried with such elements");
    }
}

float reduced(const ExchangeCase& one, std::int64_t ranks, std::int64_t i) {
    float out = exchanged_number(0, i);
    for (std::int64_t rank = 1; rank < ranks; ++rank) {
        out = one.reduction == WEFT_SUM ? out + exchanged_number(rank, i)
                                        : std::max(out, exchanged_number(rank, i));
    }
    return out;
}

/// What element `i` of a rank's result shall be, by the meaning of the call (weft_collectives.h).
float right_element(const ExchangeCase& one, std::int64_t ranks, std::int64_t rank,
                    std::int64_t i) {
    const std::int64_t before = (rank + ranks - 1) % ranks;
    switch (one.kind) {
    case WEFT_ALL_REDUCE: return reduced(one, ranks, i);
    case WEFT_ALL_GATHER: return exchanged_number(i / kElements, i % kElements);
    case WEFT_REDUCE_SCATTER: return reduced(one, ranks, rank * kElements + i);
    case WEFT_ALL_TO_ALL: return exchanged_number(i / kElements, rank * kElements + i % kElements);
    case WEFT_PERMUTE:
    case WEFT_SEND:
    case WEFT_RECEIVE: return exchanged_number(before, i);
    }
    WEFT_CHECK(false, "every collective means something");
}

bool gives_parts(weft_collective kind) {
    return kind == WEFT_REDUCE_SCATTER || kind == WEFT_ALL_TO_ALL;
}
bool takes_parts(weft_collective kind) {
    return kind == WEFT_ALL_GATHER || kind == WEFT_ALL_TO_ALL;
}

exec::ExchangeTrial trial_of(const ExchangeCase& one, std::int64_t ranks) {
    exec::ExchangeTrial out;
    out.call.kind = one.kind;
    out.call.reduction = one.reduction;
    out.call.shift = one.shift;
    out.dtype = one.dtype;
    out.count = kElements;
    const std::int64_t parts = takes_parts(one.kind) ? ranks : 1;
    out.result_bytes = parts * kElements * ir::dtype_bytes(one.dtype);
    const std::int64_t given = gives_parts(one.kind) ? ranks * kElements : kElements;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::byte>& input = out.inputs.emplace_back();
        for (std::int64_t i = 0; i < given; ++i) {
            append(input, one.dtype, exchanged_number(rank, i));
        }
    }
    return out;
}

/// What is wrong with a rank's result; empty: nothing.
std::string wrong_exchange(const ExchangeCase& one, std::int64_t ranks, std::int64_t rank,
                           const std::vector<std::byte>& result) {
    const auto size = static_cast<std::size_t>(ir::dtype_bytes(one.dtype));
    for (std::size_t i = 0; i * size < result.size(); ++i) {
        std::vector<std::byte> right;
        const float shall = right_element(one, ranks, rank, static_cast<std::int64_t>(i));
        append(right, one.dtype, shall);
        if (std::memcmp(right.data(), result.data() + i * size, size) != 0) {
            return std::string(one.name) + ": element " + std::to_string(i) + " of rank " +
                   std::to_string(rank) + " is not " + std::to_string(static_cast<int>(shall));
        }
    }
    return {};
}

} // namespace

SelfTestResult test_exchanges(const exec::Compute& compute, double patience_s) {
    const SystemClock clock;
    const double start_s = clock.steady_s();
    const auto ranks = std::ssize(compute.devices);
    std::vector<exec::ExchangeTrial> trials;
    for (const ExchangeCase& one : kExchanges) {
        trials.push_back(trial_of(one, ranks));
    }
    const auto results = exec::try_exchanges(compute, trials, patience_s);
    SelfTestResult out;
    for (std::size_t i = 0; i < results.size() && out.failure.empty(); ++i) {
        ++out.cases;
        for (std::int64_t rank = 0; rank < ranks && out.failure.empty(); ++rank) {
            out.failure = wrong_exchange(kExchanges[i], ranks, rank,
                                         results[i][static_cast<std::size_t>(rank)]);
        }
    }
    out.passed = out.failure.empty();
    out.seconds = clock.steady_s() - start_s;
    return out;
}

} // namespace weft::train
