// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/inside/head_maps.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr std::int64_t kMostSmall = 96; // pixels of a side

} // namespace

std::optional<HeadMaps> headMaps(const train::AttentionLook& look, const std::stop_token& stop) {
    const std::int64_t rows = std::min(look.queries, kMostSmall);
    const std::int64_t columns = std::min(look.keys, kMostSmall);
    HeadMaps out{static_cast<int>(rows), static_cast<int>(columns), {}, {}};
    out.small.resize(static_cast<std::size_t>(rows * columns * look.heads));
    out.mean.resize(static_cast<std::size_t>(look.queries * look.keys));
    std::vector<float> counts(static_cast<std::size_t>(rows * columns));
    for (std::int64_t t = 0; t < look.queries; ++t) {
        for (std::int64_t s = 0; s < look.keys; ++s) {
            const std::int64_t cell = t * rows / look.queries * columns + s * columns / look.keys;
            counts[static_cast<std::size_t>(cell)] += 1;
        }
    }
    for (std::int64_t head = 0; head < look.heads; ++head) {
        if (stop.stop_requested()) {
            return std::nullopt;
        }
        const std::vector<float> weights = look.weights(head);
        for (std::int64_t t = 0; t < look.queries; ++t) {
            for (std::int64_t s = 0; s < look.keys; ++s) {
                const auto at = static_cast<std::size_t>(t * look.keys + s);
                const std::int64_t cell =
                    t * rows / look.queries * columns + s * columns / look.keys;
                out.small[static_cast<std::size_t>(cell * look.heads + head)] +=
                    weights[at] / counts[static_cast<std::size_t>(cell)];
                out.mean[at] += weights[at] / static_cast<float>(look.heads);
            }
        }
    }
    return out;
}

} // namespace weft::ui
