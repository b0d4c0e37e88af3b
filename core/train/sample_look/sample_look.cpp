// SPDX-License-Identifier: Apache-2.0
#include "core/train/sample_look/sample_look.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>

namespace weft::train {
namespace {

/// Adds factor x the weights of a head to `to`, [T, S].
void add_weights(const AttentionLook& look, std::int64_t head, float factor,
                 std::vector<float>& to) {
    WEFT_CHECK(head >= 0 && head < look.heads, "the head is one of the layer's");
    const std::int64_t key_head = head / (look.heads / look.key_heads);
    std::vector<double> row(static_cast<std::size_t>(look.keys));
    for (std::int64_t t = 0; t < look.queries; ++t) {
        const std::int64_t first = look.first[static_cast<std::size_t>(t)];
        const std::int64_t end = look.end[static_cast<std::size_t>(t)];
        if (first >= end) {
            continue;
        }
        const float* const q = look.q.data() + (t * look.heads + head) * look.width;
        double most = -INFINITY;
        for (std::int64_t s = first; s < end; ++s) {
            const float* const k = look.k.data() + (s * look.key_heads + key_head) * look.width;
            float dot = 0;
            for (std::int64_t d = 0; d < look.width; ++d) {
                dot += q[d] * k[d];
            }
            row[static_cast<std::size_t>(s)] = static_cast<double>(dot) * look.scale;
            most = std::max(most, row[static_cast<std::size_t>(s)]);
        }
        double sum = 0;
        for (std::int64_t s = first; s < end; ++s) {
            double& score = row[static_cast<std::size_t>(s)];
            score = std::exp(score - most);
            sum += score;
        }
        float* const out = to.data() + t * look.keys;
        for (std::int64_t s = first; s < end; ++s) {
            out[s] += factor * static_cast<float>(row[static_cast<std::size_t>(s)] / sum);
        }
    }
}

/// The first `rows` of values whose rows have `width` numbers.
void keep_rows(std::vector<float>& values, std::int64_t rows, std::int64_t width) {
    values.resize(static_cast<std::size_t>(rows * width));
}

} // namespace

bool AttentionLook::is_masked() const {
    for (std::int64_t t = 0; t < queries; ++t) {
        if (first[static_cast<std::size_t>(t)] > 0 || end[static_cast<std::size_t>(t)] < keys) {
            return true;
        }
    }
    return false;
}

std::vector<float> AttentionLook::weights(std::int64_t head) const {
    std::vector<float> out(static_cast<std::size_t>(queries * keys));
    add_weights(*this, head, 1.0F, out);
    return out;
}

std::vector<float> AttentionLook::mean_weights() const {
    std::vector<float> out(static_cast<std::size_t>(queries * keys));
    for (std::int64_t head = 0; head < heads; ++head) {
        add_weights(*this, head, 1.0F / static_cast<float>(heads), out);
    }
    return out;
}

void SampleLook::cut(std::int64_t all, std::int64_t positions) {
    for (LayerLook& layer : layers) {
        if (layer.shape.rank() >= 2 && layer.shape[0] == all) {
            keep_rows(layer.values, positions, layer.shape.elements() / all);
            layer.shape[0] = positions;
        }
    }
    for (AttentionLook& one : attention) {
        WEFT_CHECK(one.queries == all && one.keys == all, "a text attends to itself");
        keep_rows(one.q, positions, one.heads * one.width);
        keep_rows(one.out, positions, one.heads * one.width);
        keep_rows(one.k, positions, one.key_heads * one.width);
        keep_rows(one.v, positions, one.key_heads * one.width);
        one.queries = one.keys = positions;
        one.first.resize(static_cast<std::size_t>(positions));
        one.end.resize(static_cast<std::size_t>(positions));
        for (std::int64_t& end : one.end) {
            end = std::min(end, positions);
        }
    }
}

} // namespace weft::train
