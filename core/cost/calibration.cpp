// SPDX-License-Identifier: Apache-2.0
#include "core/cost/calibration.h"

#include "core/base/crc32c.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::cost {
namespace {

/// Operand bytes in powers of four: what level of cache they come from changes every step or two.
std::string size_class(double bytes) {
    const double exponent = std::floor(std::log2(std::max(bytes, 1.0)) / 2);
    return format_bytes(std::int64_t{1} << (2 * static_cast<int>(exponent)));
}

std::string bound_class(const Work& work, const Limits& limits) {
    switch (bound_of(work, limits)) {
    case Bound::products: return "products/" + std::string(ir::dtype_name(work.dtype));
    case Bound::arithmetic: return "arithmetic";
    case Bound::memory: break;
    }
    return "memory";
}

/// Sums over the measurements of one class.
struct Sums {
    double measured = 0;
    double modelled = 0;
    std::vector<std::pair<double, double>> ratios; // (measured over modelled, modelled time)
    std::string wider;                             // the class one level up; "" at the top
};

double deviation(const Sums& sums, double factor) {
    double square = 0;
    for (const auto& [ratio, weight] : sums.ratios) {
        square += weight * (ratio / factor - 1) * (ratio / factor - 1);
    }
    return std::sqrt(square / sums.modelled);
}

std::map<std::string, Sums> collect(std::span<const Measurement> measurements,
                                    const Limits& limits) {
    std::map<std::string, Sums> out;
    for (const Measurement& one : measurements) {
        const double modelled = roofline_s(one.work, limits);
        const std::vector<std::string> names = class_names(one.work, limits);
        for (std::size_t level = 0; level < names.size(); ++level) {
            Sums& sums = out[names[level]];
            sums.measured += one.seconds * one.work.times;
            sums.modelled += modelled * one.work.times;
            sums.ratios.emplace_back(one.seconds / modelled, modelled * one.work.times);
            sums.wider = level + 1 < names.size() ? names[level + 1] : "";
        }
    }
    return out;
}

} // namespace

std::vector<std::string> class_names(const Work& work, const Limits& limits) {
    if (work.kind.empty()) {
        return {"beside kernels/" + size_class(work.bytes), "beside kernels"};
    }
    const std::string& who = work.kernel.empty() ? work.kind : work.kernel;
    const std::string kernel = who + "/" + std::string(ir::dtype_name(work.dtype));
    return {kernel + "/" + size_class(work.bytes), kernel, bound_class(work, limits)};
}

std::string class_of(const Work& work, const Limits& limits) {
    return class_names(work, limits).front();
}

std::string program_key(std::string_view program_text) {
    char text[16];
    std::snprintf(text, sizeof text, "step/%08x", crc32c(program_text));
    return text;
}

std::map<std::string, Correction> learn(std::span<const Measurement> measurements,
                                        const Limits& limits) {
    const std::map<std::string, Sums> classes = collect(measurements, limits);
    std::map<std::string, Correction> out;
    std::map<std::string, double> own;
    for (const auto& [name, sums] : classes) {
        const double factor = sums.measured / sums.modelled;
        own[name] = std::max(deviation(sums, factor), kNoise);
        out[name] = {factor, own[name], static_cast<std::int64_t>(sums.ratios.size())};
    }
    // What a class has seen little of may deviate as much as its wider class does: that counts as
    // one more observation.
    for (auto& [name, correction] : out) {
        if (const std::string& wider = classes.at(name).wider; !wider.empty()) {
            const auto n = static_cast<double>(correction.samples);
            const double others = own.at(wider);
            correction.spread = std::sqrt((n * own[name] * own[name] + others * others) / (n + 1));
        }
    }
    return out;
}

void note_run(Calibration& calibration, const std::string& program_key, double measured_ms,
              double predicted_ms, double spread, std::int64_t steps) {
    calibration.classes[program_key] = {measured_ms / predicted_ms, std::max(spread, kNoise),
                                        steps};
}

} // namespace weft::cost
