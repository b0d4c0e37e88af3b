// SPDX-License-Identifier: Apache-2.0
// A device's place on the mesh, its part of a value, and the padding of a split dimension.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/loops/rows.h"
#include "kernels/cpu/loops/simd.h"
#include "kernels/shard_shape.h"

#include <cstring>

namespace weft::kernels::cpu {
namespace {

class MeshIndex final : public Kernel { // coordinates -> indices
public:
    explicit MeshIndex(const Op& op)
        : strides_(op.list("strides")), base_(op.list("base")),
          axes_(static_cast<std::size_t>(element_count(op.input(0)))) {
        require(op.input(0).dtype == WEFT_I64 && op.output(0).dtype == WEFT_I64,
                "coordinates and indices are not i64");
        require(strides_.size() == base_.size() * axes_ &&
                    element_count(op.output(0)) == static_cast<std::int64_t>(base_.size()),
                "strides do not fit coordinates and base");
    }

    weft_status run(const weft_run_args& args) override {
        const auto* place = static_cast<const std::int64_t*>(args.inputs[0]);
        auto* out = static_cast<std::int64_t*>(args.outputs[0]);
        for (std::size_t r = 0; r < base_.size(); ++r) {
            out[r] = base_[r];
            for (std::size_t a = 0; a < axes_; ++a) {
                out[r] += strides_[r * axes_ + a] * place[a];
            }
        }
        return WEFT_OK;
    }

private:
    Dims strides_, base_;
    std::size_t axes_;
};

class Pick final : public Kernel {
public:
    explicit Pick(const Op& op) : shape_(shard_shape(op)), threads_(team_size()) {}

    weft_status run(const weft_run_args& args) override {
        const std::int64_t index = *static_cast<const std::int64_t*>(args.inputs[1]);
        if (index < 0 || index >= shape_.extent) {
            return fail(WEFT_BAD_ARGUMENT, "pick: the index is outside the dimension");
        }
        const std::int64_t bytes = shape_.inner * shape_.size;
        const auto* from = static_cast<const unsigned char*>(args.inputs[0]) + index * bytes;
        auto* to = static_cast<unsigned char*>(args.outputs[0]);
        parallel_each(shape_.outer, shape_.outer * shape_.inner, threads_,
                      [&](std::int64_t o, int) {
                          std::memcpy(to + o * bytes, from + o * shape_.extent * bytes,
                                      static_cast<std::size_t>(bytes));
                      });
        return WEFT_OK;
    }

private:
    ShardShape shape_;
    int threads_;
};

class Mask final : public Kernel {
public:
    explicit Mask(const Op& op)
        : shape_(shard_shape(op)), end_(op.integer("extent")), threads_(team_size()) {
        const auto value = static_cast<float>(padding_value(op));
        const StoreRun store = store_run(op.input(0).dtype);
        if (store == nullptr) {
            unsupported("padding of f32, bf16 or f16 only");
        }
        store(&value, value_, 1);
    }

    weft_status run(const weft_run_args& args) override {
        const std::int64_t first = *static_cast<const std::int64_t*>(args.inputs[1]);
        const std::int64_t real = std::clamp<std::int64_t>(end_ - first, 0, shape_.extent);
        const std::int64_t row = shape_.inner * shape_.size;
        const auto* from = static_cast<const unsigned char*>(args.inputs[0]);
        auto* to = static_cast<unsigned char*>(args.outputs[0]);
        parallel_each(shape_.outer, shape_.outer * shape_.extent * shape_.inner, threads_,
                      [&](std::int64_t o, int) {
                          const std::int64_t at = o * shape_.extent * row;
                          if (from != to) {
                              std::memcpy(to + at, from + at, static_cast<std::size_t>(real * row));
                          }
                          for (std::int64_t i = real * shape_.inner;
                               i < shape_.extent * shape_.inner; ++i) {
                              std::memcpy(to + at + i * shape_.size, value_,
                                          static_cast<std::size_t>(shape_.size));
                          }
                      });
        return WEFT_OK;
    }

private:
    ShardShape shape_;
    std::int64_t end_;
    int threads_;
    alignas(4) unsigned char value_[4] = {};
};

} // namespace

Made make_mesh_index(const Op& op) {
    return std::make_unique<MeshIndex>(op);
}

Made make_pick(const Op& op) {
    return std::make_unique<Pick>(op);
}

Made make_mask(const Op& op) {
    return std::make_unique<Mask>(op);
}

} // namespace weft::kernels::cpu
