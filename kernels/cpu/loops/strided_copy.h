// SPDX-License-Identifier: Apache-2.0
// Moves a box of elements between two strided arrangements: the engine behind transpose, slice,
// pad, concat and broadcast.
#pragma once

#include "kernels/op.h"

namespace weft::kernels::cpu {

class StridedCopy {
public:
    /// Strides and bases in elements; a source stride of 0 repeats. `size` is 1, 2, 4 or 8 bytes.
    StridedCopy(const Dims& shape, const Dims& from_strides, std::int64_t from_base,
                const Dims& to_strides, std::int64_t to_base, std::int64_t size);

    void run(const void* from, void* to, int threads) const;

private:
    struct Dim {
        std::int64_t size, from, to;
    };

    void move_runs(const unsigned char* from, unsigned char* to, std::int64_t begin,
                   std::int64_t end) const;
    void move_tiles(const unsigned char* from, unsigned char* to, std::int64_t begin,
                    std::int64_t end) const;
    void offsets(std::int64_t index, std::int64_t& from, std::int64_t& to) const;

    std::vector<Dim> outer_; // walked piece by piece
    Dim row_{1, 0, 0};       // dense in `to`
    Dim column_{1, 0, 0};    // dense in `from`; used when rows are not
    bool tiled_ = false;
    std::int64_t from_base_, to_base_, size_;
    std::int64_t count_ = 1;
    std::int64_t pieces_ = 1;
};

} // namespace weft::kernels::cpu
