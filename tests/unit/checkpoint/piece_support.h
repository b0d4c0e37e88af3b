// SPDX-License-Identifier: Apache-2.0
// A state that several writers hold in pieces, as devices of a mesh do: each piece within a memory
// of its own that has padding behind it.
#pragma once

#include "tests/unit/checkpoint/checkpoint_support.h"

namespace weft::checkpoint::test {

/// Fills a whole array with its elements' numbers, times `scale`, and hands out its blocks.
class PieceArrays {
public:
    /// `owners` says who writes each of the blocks, which tile the array.
    void add(std::string name, ir::Shape shape, const std::vector<Box>& blocks,
             const std::vector<int>& owners, float scale = 1) {
        auto& whole = wholes_.emplace_back(std::make_unique<std::vector<float>>());
        for (std::int64_t i = 0; i < shape.elements(); ++i) {
            whole->push_back(scale * static_cast<float>(i));
        }
        const auto whole_bytes = std::as_bytes(std::span(*whole));
        TensorView view{std::move(name), "parameters", {ir::DType::f32, shape}};
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            Placed place = dense(blocks[i]);
            for (int dim = 0; dim < shape.rank(); ++dim) {
                ++place.memory[dim];
            }
            auto& memory = memories_.emplace_back(std::make_unique<std::vector<float>>(
                static_cast<std::size_t>(place.memory.elements()), -1.0F));
            for_each_run(dense(whole_box(shape)), place, [&](const Run& run) {
                std::copy_n(whole->data() + run.from, run.count, memory->data() + run.to);
            });
            view.pieces.push_back({place, std::as_bytes(std::span(*memory)), owners[i]});
        }
        views_.push_back(std::move(view));
        whole_bytes_.emplace_back(whole_bytes);
    }

    const std::vector<TensorView>& views() const { return views_; }
    std::span<const std::byte> whole(std::size_t array) const { return whole_bytes_[array]; }

private:
    std::vector<std::unique_ptr<std::vector<float>>> wholes_;
    std::vector<std::unique_ptr<std::vector<float>>> memories_;
    std::vector<std::span<const std::byte>> whole_bytes_;
    std::vector<TensorView> views_;
};

/// A weight in columns of three writers, a bias in rows of two, an array that one of them has
/// whole.
inline PieceArrays state_of_three(float scale = 1) {
    PieceArrays out;
    out.add("weight", {40, 30}, {{{0, 0}, {40, 10}}, {{0, 10}, {40, 10}}, {{0, 20}, {40, 10}}},
            {0, 1, 2}, scale);
    out.add("bias", {7}, {{{0}, {4}}, {{4}, {3}}}, {0, 2}, scale);
    out.add("norm", {5}, {{{0}, {5}}}, {1}, scale);
    return out;
}

inline Record record_of_three(std::int64_t step, std::optional<double> metric = std::nullopt) {
    Record record = record_of(step, metric);
    record.mesh = {{"data", 1}, {"model", 3}};
    return record;
}

/// Whether every array comes back as it was.
inline bool comes_back(const Manifest& manifest, const PieceArrays& arrays) {
    for (std::size_t i = 0; i < arrays.views().size(); ++i) {
        std::vector<std::byte> bytes(arrays.whole(i).size());
        read_tensor(manifest, arrays.views()[i].name, bytes);
        if (!std::equal(bytes.begin(), bytes.end(), arrays.whole(i).begin())) {
            return false;
        }
    }
    return true;
}

} // namespace weft::checkpoint::test
