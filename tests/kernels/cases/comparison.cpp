// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "tests/kernels/cases/cases.h"

#include <cmath>
#include <cstdio>

namespace weft::test {
namespace {

std::string short_form(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

} // namespace

std::string difference(const Result& fast, const Result& slow, const Tolerance& tolerance) {
    if (slow.status != WEFT_OK || fast.status != WEFT_OK) {
        return slow.status != WEFT_OK ? "reference: " + slow.error : fast.error;
    }
    if (!slow.guards_intact || !fast.guards_intact) {
        return "a kernel wrote outside its buffers";
    }
    for (std::size_t o = 0; o < slow.outputs.size(); ++o) {
        const Tensor& a = fast.outputs[o];
        const Tensor& b = slow.outputs[o];
        for (std::int64_t i = 0; i < b.count(); ++i) {
            const double x = a.get(i);
            const double y = b.get(i);
            const double limit = tolerance.absolute + tolerance.relative * std::fabs(y);
            if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= limit) {
                continue;
            }
            return "output " + std::to_string(o) + " element " + std::to_string(i) + ": " +
                   short_form(x) + " instead of " + short_form(y) + ", off by " +
                   short_form(std::fabs(x - y)) + " where " + short_form(limit) + " is allowed";
        }
    }
    return {};
}

std::string compare(const weft_backend* backend, const Case& c, int shift) {
    return difference(run(backend, c.call, shift), run(weft_reference_backend(), c.call),
                      c.tolerance);
}

bool all_bits_equal(const Result& a, const Result& b) {
    for (std::size_t o = 0; o < a.outputs.size(); ++o) {
        if (!a.outputs[o].same_bytes(b.outputs[o])) {
            return false;
        }
    }
    return a.outputs.size() == b.outputs.size();
}

int smallest_shift(const Call& call) {
    int shift = 4;
    for (const Tensor& t : call.inputs) {
        shift = t.type().dtype == WEFT_I64 || t.type().dtype == WEFT_F64 ? 8 : shift;
    }
    for (const auto& type : call.outputs) {
        shift = type.dtype == WEFT_F64 ? 8 : shift;
    }
    return shift;
}

bool is_elementwise(const std::string& kind) {
    bool elementwise = kind == "fused" || kind == "sweep";
    for (const auto& name : kernels::kElementwiseNames) {
        elementwise = elementwise || kind == name.name;
    }
    return elementwise;
}

} // namespace weft::test
