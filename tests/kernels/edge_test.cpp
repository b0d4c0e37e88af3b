// SPDX-License-Identifier: Apache-2.0
// The C edge: malformed descriptions and bad data give a status and a text, never a crash.
#include "kernels/cpu/cpu_list.h"
#include "tests/kernels/cases/cases.h"
#include "tests/support/weft_test.h"

#include <cstring>

using namespace weft::test;

class KernelEdge : public QObject {
    Q_OBJECT

private slots:
    void null_arguments_are_refused();
    void an_unknown_op_is_unsupported();
    void a_wrong_operand_count_is_refused_for_every_op();
    void broken_types_are_refused_for_every_op();
    void missing_attributes_never_crash();
    void wrong_shapes_never_crash();
    void unconnected_registers_are_refused();
    void out_of_range_indices_are_reported_at_run_time();
    void types_without_a_fast_kernel_go_to_the_reference();
    void threads_are_set_and_read_back();
    void denormals_are_zero_in_kernels_and_only_there();
};

namespace {

const weft_backend* const kBackends[] = {weft_reference_backend(), weft_cpu_backend()};

weft_status query(const weft_backend* backend, weft_op_desc* desc) {
    weft_query result{};
    return backend->query(desc, &result);
}

bool refused(weft_status status) {
    return status == WEFT_BAD_ARGUMENT || status == WEFT_UNSUPPORTED;
}

/// The first case of each op.
std::vector<Call> one_per_op() {
    std::vector<Call> calls;
    for (const Case& c : kernel_cases()) {
        const bool seen = std::any_of(calls.begin(), calls.end(),
                                      [&](const Call& call) { return call.kind == c.call.kind; });
        if (!seen) {
            calls.push_back(c.call);
        }
    }
    return calls;
}

} // namespace

void KernelEdge::null_arguments_are_refused() {
    for (const weft_backend* backend : kBackends) {
        weft_query result{};
        weft_kernel* kernel = nullptr;
        QCOMPARE(backend->query(nullptr, &result), WEFT_BAD_ARGUMENT);
        QCOMPARE(backend->prepare(nullptr, &kernel), WEFT_BAD_ARGUMENT);
        QCOMPARE(backend->run(nullptr, nullptr), WEFT_BAD_ARGUMENT);
        backend->release(nullptr);
        weft_op_desc empty{};
        QCOMPARE(query(backend, &empty), WEFT_BAD_ARGUMENT);
        QVERIFY(std::strlen(weft_last_error()) > 0);
    }
}

void KernelEdge::an_unknown_op_is_unsupported() {
    Call call{"no_such_op", {}, {}, {}, {}, {}};
    for (const weft_backend* backend : kBackends) {
        QCOMPARE(query(backend, Description(call).get()), WEFT_UNSUPPORTED);
        QVERIFY(QString(weft_last_error()).contains("no_such_op"));
    }
}

void KernelEdge::a_wrong_operand_count_is_refused_for_every_op() {
    for (Call call : one_per_op()) {
        call.outputs.clear();
        for (const weft_backend* backend : kBackends) {
            QVERIFY2(refused(query(backend, Description(call).get())), call.kind.c_str());
        }
    }
}

void KernelEdge::broken_types_are_refused_for_every_op() {
    for (const Call& call : one_per_op()) {
        for (const weft_backend* backend : kBackends) {
            for (const int fault : {0, 1, 2, 3}) {
                Call broken = call;
                weft_tensor_type& type = broken.outputs[0];
                if (fault == 0) {
                    type.dtype = 99;
                } else if (fault == 1) {
                    type.rank = 9;
                } else if (fault == 2) {
                    type.rank = 1;
                    type.shape[0] = -1;
                } else {
                    type.rank = 2;
                    type.shape[0] = type.shape[1] = std::int64_t{1} << 40;
                }
                QCOMPARE(query(backend, Description(broken).get()), WEFT_BAD_ARGUMENT);
            }
        }
    }
}

void KernelEdge::missing_attributes_never_crash() {
    for (const Call& call : one_per_op()) {
        for (const weft_backend* backend : kBackends) {
            for (std::size_t i = 0; i < call.attributes.size(); ++i) {
                Call without = call;
                without.attributes.erase(without.attributes.begin() +
                                         static_cast<std::ptrdiff_t>(i));
                const weft_status status = query(backend, Description(without).get());
                QVERIFY(status == WEFT_OK || refused(status)); // optional ones may go
                Call wrong = call;
                wrong.attributes[i].kind = WEFT_ATTRIBUTE_TEXT;
                QVERIFY(query(backend, Description(wrong).get()) != WEFT_LIBRARY_ERROR);
            }
        }
    }
}

void KernelEdge::wrong_shapes_never_crash() {
    for (const Call& call : one_per_op()) {
        for (const weft_backend* backend : kBackends) {
            for (std::size_t i = 0; i < call.inputs.size(); ++i) {
                for (const Shape& shape : {Shape{}, Shape{0}, Shape{13}, Shape{2, 3, 5, 7, 11}}) {
                    Call odd = call;
                    odd.inputs[i] = Tensor(
                        type_of(static_cast<weft_dtype>(call.inputs[i].type().dtype), shape));
                    const weft_status status = query(backend, Description(odd).get());
                    QVERIFY2(status == WEFT_OK || refused(status), call.kind.c_str());
                }
            }
        }
    }
}

void KernelEdge::unconnected_registers_are_refused() {
    const Tensor x = noise(WEFT_F32, {4}, 1);
    const weft_tensor_type type = type_of(WEFT_F32, {4});
    for (const weft_backend* backend : kBackends) {
        Call later{"fused", {x}, {type}, {}, {{WEFT_EW_ADD, WEFT_F32, {0, 1, -1}, 1, 0}}, {1}};
        QCOMPARE(query(backend, Description(later).get()), WEFT_BAD_ARGUMENT);
        Call absent{"fused", {x}, {type}, {}, {{WEFT_EW_NEG, WEFT_F32, {0, -1, -1}, 1, 0}}, {5}};
        QCOMPARE(query(backend, Description(absent).get()), WEFT_BAD_ARGUMENT);
        Call opcode{"fused", {x}, {type}, {}, {{1234, WEFT_F32, {0, -1, -1}, 1, 0}}, {1}};
        QCOMPARE(query(backend, Description(opcode).get()), WEFT_BAD_ARGUMENT);
    }
}

void KernelEdge::out_of_range_indices_are_reported_at_run_time() {
    const weft_tensor_type row = type_of(WEFT_F32, {2});
    const Tensor logits = noise(WEFT_F32, {2, 3}, 1);
    const Tensor labels = tensor(WEFT_I32, {2}, {0, 3});
    for (const weft_backend* backend : kBackends) {
        QCOMPARE(run(backend, {"cross_entropy", {logits, labels}, {row, row}, {}, {}, {}}).status,
                 WEFT_BAD_ARGUMENT);
        QCOMPARE(
            run(backend, {"embedding", {logits, labels}, {type_of(WEFT_F32, {2, 3})}, {}, {}, {}})
                .status,
            WEFT_BAD_ARGUMENT);
        QCOMPARE(run(backend, {"embedding_grad",
                               {labels, logits},
                               {type_of(WEFT_F32, {3, 3})},
                               {integer("rows", 3)},
                               {},
                               {}})
                     .status,
                 WEFT_BAD_ARGUMENT);
        QCOMPARE(
            run(backend, {"read_rows", {logits, labels}, {type_of(WEFT_F32, {2, 3})}, {}, {}, {}})
                .status,
            WEFT_BAD_ARGUMENT);
        const Tensor inside = tensor(WEFT_I32, {2}, {1, -1});
        QCOMPARE(run(backend, {"write_rows", {logits, inside, logits}, {logits.type()}, {}, {}, {}})
                     .status,
                 WEFT_OK);
        const Tensor outside = tensor(WEFT_I32, {2}, {0, 2});
        QCOMPARE(
            run(backend, {"write_rows", {logits, outside, logits}, {logits.type()}, {}, {}, {}})
                .status,
            WEFT_BAD_ARGUMENT);
        const Tensor cache = noise(WEFT_F32, {1, 4, 1, 2}, 2);
        const Tensor fresh = noise(WEFT_F32, {1, 2, 1, 2}, 3);
        QCOMPARE(run(backend,
                     {"cache_write", {cache, fresh, integers({}, {3})}, {cache.type()}, {}, {}, {}})
                     .status,
                 WEFT_BAD_ARGUMENT);
    }
}

void KernelEdge::types_without_a_fast_kernel_go_to_the_reference() {
    Call call{"softmax", {noise(WEFT_F64, {2, 3}, 1)}, {type_of(WEFT_F64, {2, 3})}, {}, {}, {}};
    QCOMPARE(query(weft_cpu_backend(), Description(call).get()), WEFT_UNSUPPORTED);
    QCOMPARE(query(weft_reference_backend(), Description(call).get()), WEFT_OK);
}

void KernelEdge::threads_are_set_and_read_back() {
    if (qEnvironmentVariableIsSet("OMP_THREAD_LIMIT")) {
        QSKIP("the team is limited from outside"); // as tests/sanitizers/run does it
    }
    weft_set_threads(3);
    QCOMPARE(weft_threads(), 3);
    weft_set_threads(0);
    QVERIFY(weft_threads() >= 1);
    QVERIFY(std::strncmp(weft_cpu_library_version(), "oneDNN 2.", 9) == 0);
    QVERIFY(std::strlen(weft_cpu_instruction_set()) > 0);
}

void KernelEdge::denormals_are_zero_in_kernels_and_only_there() {
    constexpr std::int64_t kCount = 1 << 18; // work for every thread of a team
    const volatile float tiny = 1e-20F;
    const weft_tensor_type type = type_of(WEFT_F32, {kCount});
    Tensor operand(type);
    Tensor denormal(type);
    Tensor zero(type);
    for (std::int64_t i = 0; i < kCount; ++i) {
        operand.set(i, 1e-20);
        denormal.set(i, 1e-40);
        zero.set(i, 0.0);
    }
    weft_set_threads(0);
    for (const weft_backend* backend : kBackends) {
        const Result product = run(backend, {"mul", {operand, operand}, {type}, {}, {}, {}});
        const Result sum = run(backend, {"add", {denormal, zero}, {type}, {}, {}, {}});
        QCOMPARE(product.status, WEFT_OK);
        QCOMPARE(sum.status, WEFT_OK);
        for (std::int64_t i = 0; i < kCount; ++i) {
            QVERIFY(product.outputs[0].get(i) == 0.0);
            QVERIFY(sum.outputs[0].get(i) == 0.0);
        }
        QVERIFY(tiny * tiny > 0.0F);
    }
}

WEFT_TEST(KernelEdge)
#include "edge_test.moc"
