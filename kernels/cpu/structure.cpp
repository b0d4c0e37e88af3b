// SPDX-License-Identifier: Apache-2.0
// Ops that move elements without computing.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/strided_copy.h"

#include <cstring>

namespace weft::kernels::cpu {
namespace {

void copy_bytes(const void* from, void* to, std::int64_t bytes, int threads) {
    constexpr std::int64_t kPiece = 1 << 16;
    parallel_each((bytes + kPiece - 1) / kPiece, bytes / 4, threads, [&](std::int64_t piece, int) {
        const std::int64_t start = piece * kPiece;
        std::memcpy(static_cast<unsigned char*>(to) + start,
                    static_cast<const unsigned char*>(from) + start,
                    static_cast<std::size_t>(std::min(kPiece, bytes - start)));
    });
}

class Copy final : public Kernel {
public:
    explicit Copy(std::int64_t bytes) : bytes_(bytes), threads_(team_size()) {}

    weft_status run(const weft_run_args& args) override {
        if (args.inputs[0] != args.outputs[0]) {
            copy_bytes(args.inputs[0], args.outputs[0], bytes_, threads_);
        }
        return WEFT_OK;
    }

private:
    std::int64_t bytes_;
    int threads_;
};

/// Fills the output with one element, if asked, then moves each input into its place.
class Rearrange final : public Kernel {
public:
    Rearrange(std::vector<StridedCopy> copies, std::int64_t size, std::int64_t fill_count,
              const unsigned char* value)
        : copies_(std::move(copies)), size_(size), fill_count_(fill_count), threads_(team_size()) {
        if (value != nullptr) {
            std::memcpy(value_, value, static_cast<std::size_t>(size));
        }
    }

    weft_status run(const weft_run_args& args) override {
        if (fill_count_ > 0) {
            fill(static_cast<unsigned char*>(args.outputs[0]));
        }
        for (std::size_t i = 0; i < copies_.size(); ++i) {
            copies_[i].run(args.inputs[i], args.outputs[0], threads_);
        }
        return WEFT_OK;
    }

private:
    void fill(unsigned char* out) const {
        parallel_ranges(fill_count_, fill_count_, threads_,
                        [&](std::int64_t begin, std::int64_t end, int) {
                            const std::int64_t bytes = (end - begin) * size_;
                            if (bytes == 0) {
                                return;
                            }
                            unsigned char* to = out + begin * size_;
                            std::memcpy(to, value_, static_cast<std::size_t>(size_));
                            for (std::int64_t done = size_; done < bytes; done *= 2) {
                                std::memcpy(to + done, to,
                                            static_cast<std::size_t>(std::min(done, bytes - done)));
                            }
                        });
    }

    std::vector<StridedCopy> copies_;
    std::int64_t size_;
    std::int64_t fill_count_;
    int threads_;
    unsigned char value_[8] = {};
};

Made move_one(const Op& op, const Dims& shape, const Dims& from, std::int64_t from_base,
              const Dims& to, std::int64_t to_base) {
    require(op.input(0).dtype == op.output(0).dtype, "input and output differ in dtype");
    const std::int64_t size = dtype_size(op.output(0).dtype);
    std::vector<StridedCopy> copies;
    copies.emplace_back(shape, from, from_base, to, to_base, size);
    return std::make_unique<Rearrange>(std::move(copies), size, 0, nullptr);
}

/// The bytes of `value` in the output's type.
void encode(double value, std::int32_t dtype, unsigned char* bytes) {
    const auto number = static_cast<float>(value);
    const bf16 brief = to_bf16(number);
    const auto word = static_cast<std::int32_t>(value);
    const auto quad = static_cast<std::int64_t>(value);
    const auto byte = static_cast<std::uint8_t>(value);
    const void* const sources[] = {&number, &brief, &value, &word, &quad, &byte};
    std::memcpy(bytes, sources[dtype], static_cast<std::size_t>(dtype_size(dtype)));
}

bool integer_fits(double value, std::int32_t dtype) {
    return dtype == WEFT_F32 || dtype == WEFT_BF16 || dtype == WEFT_F64 ||
           (value >= (dtype == WEFT_U8 ? 0.0 : -2147483648.0) &&
            value <= (dtype == WEFT_U8 ? 255.0 : 2147483647.0));
}

} // namespace

Made make_copy(const Op& op) {
    require(op.input(0).dtype == op.output(0).dtype &&
                element_count(op.input(0)) == element_count(op.output(0)),
            "input and output differ in dtype or size");
    return std::make_unique<Copy>(element_count(op.input(0)) * dtype_size(op.input(0).dtype));
}

Made make_constant(const Op& op) {
    const double value = op.real("value");
    if (!integer_fits(value, op.output(0).dtype)) {
        unsupported("a constant outside its type's range");
    }
    unsigned char bytes[8];
    encode(value, op.output(0).dtype, bytes);
    return std::make_unique<Rearrange>(std::vector<StridedCopy>(), dtype_size(op.output(0).dtype),
                                       element_count(op.output(0)), bytes);
}

Made make_transpose(const Op& op) {
    const Dims order = op.list("permutation");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(order.size() == from.size() && to.size() == from.size(),
            "the permutation's length is not the rank");
    const Dims dense = dense_strides(from);
    Dims strides(from.size());
    std::uint32_t seen = 0;
    for (std::size_t d = 0; d < order.size(); ++d) {
        require(order[d] >= 0 && order[d] < op.input(0).rank && (seen >> order[d] & 1u) == 0,
                "not a permutation");
        seen |= 1u << order[d];
        strides[d] = dense[static_cast<std::size_t>(order[d])];
        require(to[d] == from[static_cast<std::size_t>(order[d])],
                "the output's shape is not the permuted one");
    }
    return move_one(op, to, strides, 0, dense_strides(to), 0);
}

Made make_broadcast(const Op& op) {
    const Dims to = shape_of(op.output(0));
    return move_one(op, to, broadcast_strides(op.input(0), op.output(0)), 0, dense_strides(to), 0);
}

Made make_slice(const Op& op) {
    const Dims starts = op.list("starts");
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(starts.size() == from.size() && to.size() == from.size(),
            "starts, input and output differ in rank");
    const Dims dense = dense_strides(from);
    std::int64_t base = 0;
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(starts[d] >= 0 && starts[d] + to[d] <= from[d], "the slice leaves the input");
        base += starts[d] * dense[d];
    }
    return move_one(op, to, dense, base, dense_strides(to), 0);
}

Made make_pad(const Op& op) {
    const Dims low = op.list("low");
    const double value = op.real("value", 0.0);
    const Dims from = shape_of(op.input(0));
    const Dims to = shape_of(op.output(0));
    require(op.input(0).dtype == op.output(0).dtype, "input and output differ in dtype");
    require(low.size() == from.size() && to.size() == from.size(), "ranks differ");
    if (!integer_fits(value, op.output(0).dtype)) {
        unsupported("a pad value outside its type's range");
    }
    const Dims dense = dense_strides(to);
    std::int64_t base = 0;
    for (std::size_t d = 0; d < from.size(); ++d) {
        require(low[d] >= 0 && low[d] + from[d] <= to[d], "the input leaves the padded output");
        base += low[d] * dense[d];
    }
    const std::int64_t size = dtype_size(op.output(0).dtype);
    unsigned char bytes[8];
    encode(value, op.output(0).dtype, bytes);
    std::vector<StridedCopy> copies;
    copies.emplace_back(from, dense_strides(from), 0, dense, base, size);
    return std::make_unique<Rearrange>(std::move(copies), size, element_count(op.output(0)), bytes);
}

Made make_concat(const Op& op) {
    const std::int64_t dim = op.integer("dim");
    const Dims to = shape_of(op.output(0));
    require(dim >= 0 && dim < op.output(0).rank, "no such dimension to concatenate along");
    const std::int64_t size = dtype_size(op.output(0).dtype);
    const Dims dense = dense_strides(to);
    const auto along = static_cast<std::size_t>(dim);
    std::vector<StridedCopy> copies;
    std::int64_t start = 0;
    for (int i = 0; i < op.inputs(); ++i) {
        const Dims shape = shape_of(op.input(i));
        require(op.input(i).dtype == op.output(0).dtype && shape.size() == to.size(),
                "inputs differ in dtype or rank");
        for (std::size_t d = 0; d < to.size(); ++d) {
            require(shape[d] == to[d] || d == along,
                    "inputs differ outside the concatenated dimension");
        }
        copies.emplace_back(shape, dense_strides(shape), 0, dense, start * dense[along], size);
        start += shape[along];
    }
    require(start == to[along], "the parts do not fill the output");
    return std::make_unique<Rearrange>(std::move(copies), size, 0, nullptr);
}

} // namespace weft::kernels::cpu
