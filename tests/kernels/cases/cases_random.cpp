// SPDX-License-Identifier: Apache-2.0
#include "kernels/weft_kernels.h"
#include "tests/kernels/cases/cases.h"

namespace weft::test {

void add_random_cases(std::vector<Case>& cases) {
    // A seed and a position beyond 32 bits, so that every word of key and counter takes part.
    const Tensor random = integers({3}, {0x123456789abcdefLL, 0x100000007LL, 0x200000003LL});
    const Attribute stream = text("stream", "blocks.3.dropout");
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const Shape& shape : {Shape{1}, Shape{7, 5}, Shape{33, 129}, Shape{2500}}) {
            const weft_tensor_type out = type_of(dtype, shape);
            for (const double rate : {0.0, 0.1, 0.75}) {
                cases.push_back({"dropout",
                                 {"dropout",
                                  {noise(dtype, shape, 101), random},
                                  {out},
                                  {real("rate", rate), stream},
                                  {},
                                  {}},
                                 {relative_error(dtype, 2e-7), 0.0}}); // one product
            }
            // Both sides compute in double and round once.
            cases.push_back({"random_uniform",
                             {"random_uniform",
                              {random},
                              {out},
                              {list("shape", shape), real("low", -0.5), real("high", 2.0), stream},
                              {},
                              {}},
                             {0.0, 0.0}});
            cases.push_back(
                {"random_normal",
                 {"random_normal",
                  {random},
                  {out},
                  {list("shape", shape), real("mean", 0.5), real("stddev", 0.02), stream},
                  {},
                  {}},
                 {0.0, 0.0}});
            cases.push_back(
                {"random_truncated_normal",
                 {"random_truncated_normal",
                  {random},
                  {out},
                  {list("shape", shape), real("mean", 0.0), real("stddev", 0.02), stream},
                  {},
                  {}},
                 {0.0, 0.0}});
        }
    }
}

namespace {

/// Every sample ends a symbol earlier than the one before it; neighbours are alike now and then.
void add_ctc_cases(std::vector<Case>& cases) {
    struct Sizes {
        std::int64_t samples, positions, classes, symbols;
    };
    for (const Sizes& s :
         {Sizes{1, 1, 1, 0}, Sizes{3, 7, 4, 3}, Sizes{9, 60, 37, 20}, Sizes{2, 90, 5, 40}}) {
        Tensor labels(type_of(WEFT_I32, {s.samples, s.symbols}));
        for (std::int64_t b = 0; b < s.samples; ++b) {
            for (std::int64_t i = 0; i < s.symbols; ++i) {
                const std::int64_t at = b * s.symbols + i;
                const bool ended = i >= s.symbols - b % (s.symbols + 1);
                const auto symbol = static_cast<double>(1 + (i * i / 3 + b) % (s.classes - 1));
                labels.set(at, !ended ? symbol : b % 2 == 0 ? 0.0 : -1.0);
            }
        }
        const weft_tensor_type losses = type_of(WEFT_F32, {s.samples});
        const Call forward{
            "ctc",
            {noise(WEFT_F32, {s.samples, s.positions, s.classes}, 116, -6, -0.1), labels},
            {losses, type_of(WEFT_F32, {s.samples, s.positions, 2 * s.symbols + 1})},
            {},
            {},
            {}};
        // Logarithms up to some hundreds in f32, each of which errs by half a unit.
        const double off = 2e-6 * static_cast<double>(s.positions);
        cases.push_back({"ctc", forward, {1e-6, off}});
        const Result saved = run(weft_reference_backend(), forward);
        if (saved.status == WEFT_OK) {
            cases.push_back({"ctc_grad",
                             {"ctc_grad",
                              {forward.inputs[0], labels, saved.outputs[0], saved.outputs[1],
                               noise(WEFT_F32, {s.samples}, 117, 0.5, 1)},
                              {forward.inputs[0].type()},
                              {},
                              {},
                              {}},
                             {off * 10, off}});
        }
    }
}

} // namespace

void add_loss_cases(std::vector<Case>& cases) {
    add_ctc_cases(cases);
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const std::int64_t classes : {2, 10, 1003}) {
            for (const double smoothing : {0.0, 0.1}) {
                const std::int64_t rows = 131;
                const Shape shape{rows, classes};
                Tensor labels = indices({rows}, 111, classes);
                labels.set(3, -1.0); // padding
                const Tensor logits = noise(dtype, shape, 112, -5, 5);
                const std::vector<Attribute> attributes = {real("label_smoothing", smoothing)};
                const weft_tensor_type row = type_of(WEFT_F32, {rows});
                cases.push_back(
                    {"cross_entropy",
                     {"cross_entropy", {logits, labels}, {row, row}, attributes, {}, {}},
                     {4e-6, 4e-6}});
                // The label's entry is a difference of near numbers: absolute.
                cases.push_back({"cross_entropy_grad",
                                 {"cross_entropy_grad",
                                  {logits, labels, noise(WEFT_F32, {rows}, 113, 4, 8),
                                   noise(WEFT_F32, {rows}, 114, 0, 1)},
                                  {type_of(dtype, shape)},
                                  attributes,
                                  {},
                                  {}},
                                 {relative_error(dtype, 1e-5), 1e-6}});
                cases.push_back(
                    {"correct", {"correct", {logits, labels}, {row}, {}, {}, {}}, {0.0, 0.0}});
            }
        }
    }
}

} // namespace weft::test
