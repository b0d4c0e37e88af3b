// SPDX-License-Identifier: Apache-2.0
// The CUDA back end against the reference over the case table, with kernels run by the emulation.
#include "core/ops/op_list.h"
#include "kernels/attention_shape.h"
#include "kernels/backend.h"
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/module.h"
#include "tests/kernels/cases/cases.h"
#include "tests/support/weft_test.h"

#include <map>
#include <set>
#include <string>
#include <utility>

using namespace weft::test;

class CudaKernels : public QObject {
    Q_OBJECT

private slots:
    void every_op_has_a_kernel_or_a_reason();
    void every_kernel_has_a_case();
    void every_kernel_matches_the_reference_at_any_address_data() { case_rows(); }
    void every_kernel_matches_the_reference_at_any_address();
    void attention_of_16_bits_is_the_librarys_where_it_has_it();
    void convolutions_that_no_library_takes_match_the_reference_data() { convolution_rows(); }
    void convolutions_that_no_library_takes_match_the_reference();

private:
    static bool has_kernel(const std::string& kind) {
        bool found = is_elementwise(kind);
        for (const auto& entry : weft::kernels::cuda::kCudaList) {
            found = found || kind == entry.op;
        }
        return found;
    }
    static void case_rows() {
        QTest::addColumn<int>("index");
        const auto& cases = kernel_cases();
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (has_kernel(cases[i].call.kind)) {
                QTest::addRow("%zu %s", i, cases[i].name.c_str()) << static_cast<int>(i);
            }
        }
    }
    static void convolution_rows() {
        QTest::addColumn<int>("index");
        const auto& cases = kernel_cases();
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (cases[i].call.kind.rfind("conv2d", 0) == 0) {
                QTest::addRow("%zu %s", i, cases[i].name.c_str()) << static_cast<int>(i);
            }
        }
    }
    static const Case& current() {
        QFETCH(int, index);
        return kernel_cases()[static_cast<std::size_t>(index)];
    }
};

namespace {

/// Ops that the back end has no kernel for, beside those that the mesh runs.
const std::map<std::string, std::string> kWithoutKernel = {
    {"repeat", "the executor runs its body"},
};

} // namespace

void CudaKernels::every_op_has_a_kernel_or_a_reason() {
    for (const weft::ops::OpDef* op : weft::ops::all_ops()) {
        const std::string name(op->name);
        const bool excused = op->collective || kWithoutKernel.count(name) == 1;
        QVERIFY2(has_kernel(name) != excused, name.c_str());
    }
}

void CudaKernels::every_kernel_has_a_case() {
    std::set<std::string> covered;
    for (const Case& c : kernel_cases()) {
        covered.insert(c.call.kind);
    }
    for (const auto& entry : weft::kernels::cuda::kCudaList) {
        QVERIFY2(covered.count(entry.op) == 1, entry.op);
    }
}

// Packs of elements and single ones are two ways through a kernel, of which addresses decide.
void CudaKernels::every_kernel_matches_the_reference_at_any_address() {
    const Case& c = current();
    const Result aligned = run(weft_cuda_backend(), c.call);
    const std::string text =
        difference(aligned, run(weft_reference_backend(), c.call), c.tolerance);
    QVERIFY2(text.empty(), text.c_str());
    const bool library = aligned.kernel.rfind("cuda ", 0) != 0; // libraries want 16 bytes
    const Result shifted = run(weft_cuda_backend(), c.call, library ? 16 : smallest_shift(c.call));
    QVERIFY2(shifted.status == WEFT_OK, shifted.error.c_str());
    QVERIFY(aligned.guards_intact && shifted.guards_intact);
    QVERIFY(all_bits_equal(aligned, shifted));
}

// With its matrix units; what it has not is ours, without.
void CudaKernels::attention_of_16_bits_is_the_librarys_where_it_has_it() {
    std::map<std::pair<std::string, std::int32_t>, int> taken; // by op and element type
    for (const Case& c : kernel_cases()) {
        if (c.call.kind != "attention" && c.call.kind != "attention_grad") {
            continue;
        }
        Description description(c.call);
        const weft::kernels::Op op(*description.get());
        const auto a = c.call.kind == "attention" ? weft::kernels::attention_op(op)
                                                  : weft::kernels::attention_grad_op(op);
        const std::int32_t dtype = op.input(0).dtype;
        const bool has_it = dtype != WEFT_F32 && !a.dropout && !a.ring && a.positions_operand < 0 &&
                            a.d % 8 == 0 && (!a.causal || a.t == a.s);
        weft_query found{};
        QCOMPARE(weft_cuda_backend()->query(description.get(), &found), WEFT_OK);
        QCOMPARE(std::string(found.kernel_name),
                 std::string(has_it ? "cudnn attention" : "cuda attention"));
        taken[{c.call.kind, dtype}] += has_it ? 1 : 0;
    }
    for (const char* kind : {"attention", "attention_grad"}) {
        QVERIFY((taken[{kind, WEFT_BF16}]) > 0);
        QCOMPARE((taken[{kind, WEFT_F16}]), (taken[{kind, WEFT_BF16}]));
    }
}

namespace {

std::span<const weft::kernels::KernelEntry> direct_convolutions() {
    using weft::kernels::cuda::make_direct_convolution;
    static constexpr weft::kernels::KernelEntry kList[] = {
        {"conv2d", "cuda convolution", 2, 2, 1, make_direct_convolution},
        {"conv2d_input_grad", "cuda convolution", 2, 2, 1, make_direct_convolution},
        {"conv2d_weight_grad", "cuda convolution", 2, 2, 1, make_direct_convolution},
    };
    return kList;
}

} // namespace

// Last in the list, so that few cases come to it there.
void CudaKernels::convolutions_that_no_library_takes_match_the_reference() {
    static constexpr weft_backend kDirect =
        weft::kernels::BackendOf<direct_convolutions>::named("direct");
    const Case& c = current();
    const std::string text = compare(&kDirect, c, smallest_shift(c.call));
    QVERIFY2(text.empty(), text.c_str());
}

WEFT_TEST(CudaKernels)
#include "cuda_test.moc"
