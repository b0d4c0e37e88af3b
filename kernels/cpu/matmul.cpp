// SPDX-License-Identifier: Apache-2.0
// matmul and linear on oneDNN. Transposition is a matter of strides.
#include "kernels/cpu/cpu_list.h"
#include "kernels/cpu/loops/parallel.h"
#include "kernels/cpu/onednn.h"
#include "kernels/matmul_shape.h"
#include "kernels/operand_format.h"

#include <cstring>

namespace weft::kernels::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;

enum class Start : std::uint8_t { zero, bias, sum };

Made multiply(const Op& op, const MatmulShape& s, Start start) {
    const bool bias = start == Start::bias;
    if (s.batch * s.m * s.n * s.k == 0) {
        unsupported("an empty matmul");
    }
    if (operand_formats(op).scaled()) { // tf32 is no less than f32 is asked for
        unsupported("products of 8-bit numbers");
    }
    const auto x_type = onednn_type(op.input(0).dtype);
    const auto y_type = onednn_type(op.input(1).dtype);
    const auto out_type = onednn_type(op.output(0).dtype);
    return with_onednn([&]() -> Made {
        const bool batched = s.batch > 1;
        auto desc = [&](std::int64_t rows, std::int64_t columns, bool transposed, bool shared,
                        dnnl::memory::data_type type) {
            const std::int64_t row = transposed ? 1 : columns;
            const std::int64_t column = transposed ? rows : 1;
            return batched ? Desc(Sizes{shared ? 1 : s.batch, rows, columns}, type,
                                  Sizes{rows * columns, row, column})
                           : Desc(Sizes{rows, columns}, type, Sizes{row, column});
        };
        const Desc x = desc(s.m, s.k, s.transpose_x, false, x_type);
        const Desc y = desc(s.k, s.n, s.transpose_y, s.shared_y, y_type);
        const Desc out = desc(s.m, s.n, false, false, out_type);
        auto kernel = std::make_unique<OneDnnKernel>();
        std::vector<OneDnnKernel::Argument> arguments = {
            {DNNL_ARG_SRC, x, Buffer::input(0)},
            {DNNL_ARG_WEIGHTS, y, Buffer::input(1)},
            {DNNL_ARG_DST, out, Buffer::output(0)},
        };
        Desc bias_desc;
        if (bias) {
            bias_desc =
                Desc(batched ? Sizes{1, 1, s.n} : Sizes{1, s.n}, onednn_type(op.input(2).dtype),
                     batched ? Sizes{s.n, s.n, 1} : Sizes{s.n, 1});
            arguments.push_back({DNNL_ARG_BIAS, bias_desc, Buffer::input(2)});
        }
        const auto description =
            bias ? dnnl::matmul::desc(x, y, bias_desc, out) : dnnl::matmul::desc(x, y, out);
        dnnl::primitive_attr attributes = onednn_attributes();
        if (start == Start::sum) { // to what the result's memory holds
            dnnl::post_ops after;
            after.append_sum();
            attributes.set_post_ops(after);
        }
        const dnnl::matmul::primitive_desc found(description, attributes, cpu_engine());
        kernel->add(dnnl::matmul(found), found.scratchpad_desc(), arguments);
        return kernel;
    });
}

/// The sum is brought to where the result goes, unless it lies there.
class MatmulAdd final : public Kernel {
public:
    MatmulAdd(const Op& op, Made product)
        : product_(std::move(product)),
          bytes_(element_count(op.output(0)) * dtype_size(op.output(0).dtype)),
          threads_(team_size()) {
        workspace_bytes_ = product_->workspace_bytes();
    }

    weft_status run(const weft_run_args& args) override {
        if (args.outputs[0] != args.inputs[2]) {
            parallel_ranges(bytes_, bytes_ / 4, threads_,
                            [&](std::int64_t begin, std::int64_t end, int) {
                                std::memcpy(static_cast<char*>(args.outputs[0]) + begin,
                                            static_cast<const char*>(args.inputs[2]) + begin,
                                            static_cast<std::size_t>(end - begin));
                            });
        }
        return product_->run(args);
    }

private:
    Made product_;
    std::int64_t bytes_;
    int threads_;
};

} // namespace

Made make_matmul(const Op& op) {
    return multiply(op, matmul_shape(op), Start::zero);
}

Made make_linear(const Op& op) {
    return multiply(op, linear_shape(op), op.inputs() == 3 ? Start::bias : Start::zero);
}

Made make_matmul_add(const Op& op) {
    require(same_shape(op.input(2), op.output(0)), "what is added to is not [..., M, N]");
    if (op.input(2).dtype != op.output(0).dtype) {
        unsupported("a sum of another type");
    }
    return std::make_unique<MatmulAdd>(op, multiply(op, matmul_shape(op), Start::sum));
}

} // namespace weft::kernels::cpu
