// SPDX-License-Identifier: Apache-2.0
// The CPU back end against the reference over the case table.
#include "kernels/backend.h"
#include "kernels/cpu/cpu_list.h"
#include "kernels/elementwise.h"
#include "tests/kernels/cases/cases.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace weft::test;

class CpuKernels : public QObject {
    Q_OBJECT

private slots:
    void every_kernel_has_a_case();
    void every_kernel_matches_the_reference_data();
    void every_kernel_matches_the_reference();
    void kernels_behind_a_better_one_match_the_reference();
    void logsumexp_is_f32_however_brief_the_operands_are();
    void misaligned_buffers_change_nothing_data() { case_rows(); }
    void misaligned_buffers_change_nothing();
    void own_kernels_give_the_same_bits_with_every_team_size_data() { case_rows(); }
    void own_kernels_give_the_same_bits_with_every_team_size();
    void repeating_a_library_kernel_gives_the_same_bits_data() { case_rows(); }
    void repeating_a_library_kernel_gives_the_same_bits();
    void an_elementwise_output_may_lie_over_any_input_of_its_type();
    void what_may_write_over_an_input_gives_the_same_there();
    void a_fused_group_gives_the_bits_of_its_single_ops();
    void a_sweep_gives_the_bits_of_its_groups();
    void squares_of_several_have_the_bits_of_single_sums_added_in_order();

private:
    static void case_rows() {
        QTest::addColumn<int>("index");
        const auto& cases = kernel_cases();
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (!is_for_gpus(cases[i].call) ||
                run(weft_cpu_backend(), cases[i].call).status != WEFT_UNSUPPORTED) {
                QTest::addRow("%zu %s", i, cases[i].name.c_str()) << static_cast<int>(i);
            }
        }
    }
    static const Case& current() {
        QFETCH(int, index);
        return kernel_cases()[static_cast<std::size_t>(index)];
    }
};

void CpuKernels::every_kernel_has_a_case() {
    std::set<std::string> covered;
    for (const Case& c : kernel_cases()) {
        covered.insert(c.call.kind);
    }
    for (const auto& entry : weft::kernels::cpu::kCpuList) {
        QVERIFY2(covered.count(entry.op) == 1, entry.op);
    }
    for (const auto& name : weft::kernels::kElementwiseNames) {
        QVERIFY2(covered.count(name.name) == 1, name.name);
    }
}

namespace {

/// The rows of the list that another row of the same op stands before.
std::span<const weft::kernels::KernelEntry> later_rows() {
    static const auto rows = [] {
        std::set<std::string_view> seen;
        std::vector<weft::kernels::KernelEntry> out;
        for (const auto& entry : weft::kernels::cpu::kCpuList) {
            if (!seen.insert(entry.op).second) {
                out.push_back(entry);
            }
        }
        return weft::kernels::with_elementwise(out, "cpu elementwise",
                                               weft::kernels::cpu::make_interpreted_group);
    }();
    return rows;
}

constexpr weft_backend kLater = weft::kernels::BackendOf<later_rows>::named("cpu, second choice");

bool from_library(const Result& r) {
    return r.kernel.rfind("onednn", 0) == 0;
}

} // namespace

void CpuKernels::every_kernel_matches_the_reference_data() {
    case_rows();
}

void CpuKernels::every_kernel_matches_the_reference() {
    const std::string text = compare(weft_cpu_backend(), current(), 0);
    QVERIFY2(text.empty(), text.c_str());
}

void CpuKernels::kernels_behind_a_better_one_match_the_reference() {
    int checked = 0;
    for (const Case& c : kernel_cases()) {
        const auto rows = later_rows();
        const bool listed = std::any_of(rows.begin(), rows.end(),
                                        [&](const auto& row) { return c.call.kind == row.op; });
        if (!listed || run(&kLater, c.call).status == WEFT_UNSUPPORTED) {
            continue;
        }
        const std::string text = compare(&kLater, c, 0);
        QVERIFY2(text.empty(), (c.name + ": " + text).c_str());
        ++checked;
    }
    QVERIFY(checked >= 500);
}

void CpuKernels::logsumexp_is_f32_however_brief_the_operands_are() {
    int checked = 0;
    for (const Case& c : kernel_cases()) {
        if (c.call.kind != "attention") {
            continue;
        }
        const Result fast = run(weft_cpu_backend(), c.call);
        const Result slow = run(weft_reference_backend(), c.call);
        for (std::int64_t i = 0; i < slow.outputs[1].count(); ++i) {
            const double expected = slow.outputs[1].get(i);
            QVERIFY2(std::fabs(fast.outputs[1].get(i) - expected) <=
                         1e-5 + 1e-5 * std::fabs(expected),
                     c.name.c_str());
        }
        ++checked;
    }
    QVERIFY(checked >= 30);
}

void CpuKernels::misaligned_buffers_change_nothing() {
    const Case& c = current();
    const std::string text = compare(weft_cpu_backend(), c, smallest_shift(c.call));
    QVERIFY2(text.empty(), text.c_str());
}

void CpuKernels::own_kernels_give_the_same_bits_with_every_team_size() {
    weft_set_threads(1);
    const Result one = run(weft_cpu_backend(), current().call);
    bool equal = true;
    for (const int threads : {2, 3, 7}) {
        weft_set_threads(threads);
        const Result many = run(weft_cpu_backend(), current().call);
        equal = equal && (from_library(many) || all_bits_equal(one, many));
    }
    weft_set_threads(0);
    QVERIFY(equal);
}

void CpuKernels::repeating_a_library_kernel_gives_the_same_bits() {
    const Result first = run(weft_cpu_backend(), current().call);
    const Result second = run(weft_cpu_backend(), current().call);
    QVERIFY(all_bits_equal(first, second));
}

void CpuKernels::an_elementwise_output_may_lie_over_any_input_of_its_type() {
    for (const Case& c : kernel_cases()) {
        if (!is_elementwise(c.call.kind)) {
            continue;
        }
        const Result apart = run(weft_cpu_backend(), c.call);
        for (std::size_t i = 0; i < c.call.inputs.size(); ++i) {
            const weft_tensor_type& in = c.call.inputs[i].type();
            const weft_tensor_type& out = c.call.outputs[0];
            if (in.dtype != out.dtype || in.rank != out.rank ||
                !std::equal(in.shape, in.shape + in.rank, out.shape)) {
                continue;
            }
            const Result over = run(weft_cpu_backend(), c.call, 0, static_cast<int>(i));
            QVERIFY2(all_bits_equal(apart, over), c.name.c_str());
        }
    }
}

void CpuKernels::what_may_write_over_an_input_gives_the_same_there() {
    int checked = 0;
    for (const Case& c : kernel_cases()) {
        const bool first = c.call.kind == "rotary" || c.call.kind == "softmax" ||
                           c.call.kind == "cross_entropy_grad";
        if (first || c.call.kind == "matmul_add") {
            const Result apart = run(weft_cpu_backend(), c.call);
            QVERIFY2(all_bits_equal(apart, run(weft_cpu_backend(), c.call, 0, first ? 0 : 2)),
                     c.name.c_str());
            ++checked;
        }
    }
    QVERIFY(checked >= 40);
}

void CpuKernels::a_fused_group_gives_the_bits_of_its_single_ops() {
    const Shape shape{300, 17};
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        const Tensor x = noise(dtype, shape, 1);
        const Tensor bias = noise(dtype, {17}, 2);
        const weft_tensor_type type = type_of(dtype, shape);
        const Call fused{"fused",
                         {x, bias},
                         {type},
                         {},
                         {{WEFT_EW_ADD, dtype, {0, 1, -1}, 1, 0},
                          {WEFT_EW_SILU, dtype, {2, -1, -1}, 1, 0},
                          {WEFT_EW_MUL, dtype, {3, 0, -1}, 1, 0}},
                         {4}};
        const Result sum = run(weft_cpu_backend(), {"add", {x, bias}, {type}, {}, {}, {}});
        const Result silu = run(weft_cpu_backend(), {"silu", {sum.outputs[0]}, {type}, {}, {}, {}});
        const Result product =
            run(weft_cpu_backend(), {"mul", {silu.outputs[0], x}, {type}, {}, {}, {}});
        QVERIFY(all_bits_equal(run(weft_cpu_backend(), fused), product));
    }
}

void CpuKernels::a_sweep_gives_the_bits_of_its_groups() {
    const std::vector<Shape> shapes{{300, 17}, {1}, {70000}, {384}, {5, 3, 2}};
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        Call sweep{"sweep", {}, {}, {integer("tensors", 5)}, {}, {4, 2}};
        sweep.steps = {{WEFT_EW_MUL, dtype, {0, 1, -1}, 1, 0},
                       {WEFT_EW_TANH, WEFT_F32, {2, -1, -1}, 1, 0},
                       {WEFT_EW_AFFINE, dtype, {3, -1, -1}, 0.3, 0.1}};
        std::vector<Tensor> alone;
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            Call one = sweep;
            one.kind = "fused";
            one.attributes = {};
            one.inputs = {noise(dtype, shapes[i], static_cast<unsigned>(i)),
                          tensor(WEFT_F32, {}, {0.1 * static_cast<double>(i)})};
            one.outputs = {type_of(dtype, shapes[i]), type_of(WEFT_F32, shapes[i])};
            sweep.inputs.insert(sweep.inputs.end(), one.inputs.begin(), one.inputs.end());
            sweep.outputs.insert(sweep.outputs.end(), one.outputs.begin(), one.outputs.end());
            const Result result = run(weft_cpu_backend(), one);
            QCOMPARE(result.error, std::string());
            alone.insert(alone.end(), result.outputs.begin(), result.outputs.end());
        }
        const Result together = run(weft_cpu_backend(), sweep);
        QCOMPARE(together.error, std::string());
        QVERIFY(together.outputs.size() == alone.size());
        for (std::size_t i = 0; i < alone.size(); ++i) {
            QVERIFY2(together.outputs[i].same_bytes(alone[i]), qPrintable(QString::number(i)));
        }
    }
}

void CpuKernels::squares_of_several_have_the_bits_of_single_sums_added_in_order() {
    Call several{"sum_squares", {}, {type_of(WEFT_F32, {})}, {}, {}, {}};
    float sum = 0;
    for (const std::int64_t size : {100001, 1, 4096, 7, 33000}) {
        several.inputs.push_back(noise(WEFT_F32, {size}, static_cast<unsigned>(size)));
        Call one = several;
        one.inputs = {several.inputs.back()};
        sum += static_cast<float>(run(weft_cpu_backend(), one).outputs[0].get(0));
    }
    QVERIFY(run(weft_cpu_backend(), several)
                .outputs[0]
                .same_bytes(tensor(WEFT_F32, {}, {static_cast<double>(sum)})));
}

WEFT_TEST(CpuKernels)
#include "cpu_test.moc"
