// SPDX-License-Identifier: Apache-2.0
// Ops that move elements without computing.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/strided_copy.h"
#include "kernels/structure_shape.h"

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

/// The moves of each input into its place.
std::vector<StridedCopy> copies_of(const std::vector<MovedBox>& boxes, std::int64_t size) {
    std::vector<StridedCopy> copies;
    for (const MovedBox& box : boxes) {
        copies.emplace_back(box.shape, box.src, box.src_start, box.dst, box.dst_start, size);
    }
    return copies;
}

Made moved(const Op& op, const std::vector<MovedBox>& boxes) {
    const std::int64_t size = dtype_size(op.output(0).dtype);
    return std::make_unique<Rearrange>(copies_of(boxes, size), size, 0, nullptr);
}

/// The bytes of `value` in the output's type.
void encode(double value, std::int32_t dtype, unsigned char* bytes) {
    const auto number = static_cast<float>(value);
    const bf16 brief = to_bf16(number);
    const f16 half = to_f16(number);
    const auto word = static_cast<std::int32_t>(value);
    const auto quad = static_cast<std::int64_t>(value);
    const auto byte = static_cast<std::uint8_t>(value);
    const void* const sources[] = {&number, &brief, &value, &word, &quad, &byte, &half};
    std::memcpy(bytes, sources[dtype], static_cast<std::size_t>(dtype_size(dtype)));
}

bool integer_fits(double value, std::int32_t dtype) {
    return dtype == WEFT_F32 || dtype == WEFT_BF16 || dtype == WEFT_F16 || dtype == WEFT_F64 ||
           (value >= (dtype == WEFT_U8 ? 0.0 : -2147483648.0) &&
            value <= (dtype == WEFT_U8 ? 255.0 : 2147483647.0));
}

} // namespace

Made make_copy(const Op& op) {
    return std::make_unique<Copy>(copied_bytes(op));
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
    return moved(op, {transposed_box(op)});
}

Made make_broadcast(const Op& op) {
    return moved(op, {broadcast_box(op)});
}

Made make_slice(const Op& op) {
    return moved(op, {sliced_box(op)});
}

Made make_pad(const Op& op) {
    const MovedBox box = padded_box(op);
    const double value = op.real("value", 0.0);
    if (!integer_fits(value, op.output(0).dtype)) {
        unsupported("a pad value outside its type's range");
    }
    const std::int64_t size = dtype_size(op.output(0).dtype);
    unsigned char bytes[8];
    encode(value, op.output(0).dtype, bytes);
    return std::make_unique<Rearrange>(copies_of({box}, size), size, element_count(op.output(0)),
                                       bytes);
}

Made make_concat(const Op& op) {
    return moved(op, concatenated_boxes(op));
}

} // namespace weft::kernels::cpu
