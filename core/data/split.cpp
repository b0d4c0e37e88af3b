// SPDX-License-Identifier: Apache-2.0
#include "core/data/split.h"

#include "core/base/error.h"
#include "core/base/philox.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weft::data {
namespace {

struct ClassShare {
    std::int32_t label;
    std::int64_t taken;
    double remainder;
};

/// How many validation samples each class gives; the sum is `total`.
std::map<std::int32_t, std::int64_t>
shares_by_class(const std::map<std::int32_t, std::vector<std::int64_t>>& classes,
                std::int64_t samples, std::int64_t total) {
    std::vector<ClassShare> shares;
    std::int64_t left = total;
    for (const auto& [label, members] : classes) {
        const double exact = static_cast<double>(members.size()) * static_cast<double>(total) /
                             static_cast<double>(samples);
        const auto whole = static_cast<std::int64_t>(exact);
        shares.push_back({label, whole, exact - static_cast<double>(whole)});
        left -= whole;
    }
    std::stable_sort(shares.begin(), shares.end(), [](const ClassShare& a, const ClassShare& b) {
        return a.remainder > b.remainder;
    });
    std::map<std::int32_t, std::int64_t> out;
    for (const ClassShare& share : shares) {
        out[share.label] = share.taken + (left-- > 0 ? 1 : 0);
    }
    return out;
}

} // namespace

std::vector<Run> runs_of(const std::vector<std::int64_t>& ascending) {
    std::vector<Run> out;
    for (const std::int64_t sample : ascending) {
        if (out.empty() || sample != out.back().first + out.back().samples) {
            out.push_back({sample, 0});
        }
        ++out.back().samples;
    }
    return out;
}

std::int64_t validation_count(std::int64_t samples, double share) {
    if (samples < 2) {
        throw Error(ErrorKind::data, "/data/validation", "a single training sample cannot be split",
                    "Use more data, a validation source of its own, or no validation.");
    }
    const std::int64_t wanted = std::llround(static_cast<double>(samples) * share);
    return std::clamp<std::int64_t>(wanted, 1, samples - 1);
}

Split split_by_class(const Source& source, double share, std::uint64_t seed) {
    const std::int64_t samples = source.samples();
    const std::int64_t total = validation_count(samples, share);
    std::map<std::int32_t, std::vector<std::int64_t>> classes;
    for (std::int64_t i = 0; i < samples; ++i) {
        classes[source.label(i)].push_back(i);
    }
    const RandomStream stream(seed, "data.validation");
    const auto rank = [&](std::int64_t index) {
        const PhiloxCounter words = stream.block(0, static_cast<std::uint64_t>(index));
        return std::pair(std::uint64_t{words[1]} << 32 | words[0], index);
    };
    Split split;
    split.train.reserve(static_cast<std::size_t>(samples - total));
    split.validation.reserve(static_cast<std::size_t>(total));
    for (const auto& [label, taken] : shares_by_class(classes, samples, total)) {
        std::vector<std::pair<std::uint64_t, std::int64_t>> ranked;
        for (const std::int64_t index : classes[label]) {
            ranked.push_back(rank(index));
        }
        std::nth_element(ranked.begin(), ranked.begin() + taken, ranked.end());
        for (std::size_t i = 0; i < ranked.size(); ++i) {
            const bool held_out = static_cast<std::int64_t>(i) < taken;
            (held_out ? split.validation : split.train).push_back(ranked[i].second);
        }
    }
    std::sort(split.train.begin(), split.train.end());
    std::sort(split.validation.begin(), split.validation.end());
    return split;
}

Split split_by_part(std::int64_t samples, double share) {
    const std::int64_t total = validation_count(samples, share);
    const std::int64_t parts = std::min<std::int64_t>(16, total);
    // The first `part` of `parts` shares of n, to within one.
    const auto up_to = [parts](std::int64_t n, std::int64_t part) {
        return n / parts * part + n % parts * part / parts;
    };
    Split split;
    split.train.reserve(static_cast<std::size_t>(samples - total));
    split.validation.reserve(static_cast<std::size_t>(total));
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t end = up_to(samples, part + 1);
        const std::int64_t held_out = up_to(total, part + 1) - up_to(total, part);
        for (std::int64_t i = up_to(samples, part); i < end; ++i) {
            (i < end - held_out ? split.train : split.validation).push_back(i);
        }
    }
    return split;
}

RunSplit split_by_block(std::span<const std::int64_t> blocks, double share, std::uint64_t seed) {
    std::int64_t left = validation_count(blocks.back(), share);
    const RandomStream stream(seed, "data.validation");
    std::vector<std::pair<std::uint64_t, std::size_t>> ranked;
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
        const PhiloxCounter words = stream.block(0, i);
        ranked.emplace_back(std::uint64_t{words[1]} << 32 | words[0], i);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::int64_t> held_out(ranked.size(), 0); // of every block
    for (const auto& [rank, block] : ranked) {
        held_out[block] = std::min(left, blocks[block + 1] - blocks[block]);
        left -= held_out[block];
    }
    RunSplit split;
    for (std::size_t i = 0; i < held_out.size(); ++i) {
        const std::int64_t cut = blocks[i + 1] - held_out[i];
        if (cut > blocks[i]) {
            split.train.push_back({blocks[i], cut - blocks[i]});
        }
        if (held_out[i] > 0) {
            split.validation.push_back({cut, held_out[i]});
        }
    }
    return split;
}

} // namespace weft::data
