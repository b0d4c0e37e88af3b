// SPDX-License-Identifier: Apache-2.0
// Who shares memory, on small programs written as text.
#include "core/ir/text.h"
#include "core/memory/share_storage.h"
#include "core/ops/verify.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::memory;

namespace {

int count_copies(const ir::Block& block) {
    int count = 0;
    for (const ir::Op& op : block.ops) {
        count += op.kind == "copy" ? 1 : 0;
        for (const ir::Block& body : op.body) {
            count += count_copies(body);
        }
    }
    return count;
}

struct Shared {
    explicit Shared(std::string_view text) : program(ir::parse(text)) {
        const auto faults = ops::verify(program);
        WEFT_CHECK(faults.empty(), faults.front());
        storage = share_storage(program);
    }
    bool same(int a, int b) const {
        return storage.stretch_of[static_cast<std::size_t>(a)] ==
               storage.stretch_of[static_cast<std::size_t>(b)];
    }
    const Stretch& of(int value) const { return storage.of({value}); }
    int copies() const { return count_copies(program.body); }

    ir::Program program;
    Storage storage;
};

} // namespace

class Sharing : public QObject {
    Q_OBJECT

private slots:
    void an_elementwise_result_lies_over_an_operand_that_dies() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[8]
  %1 = exp(%0) : f32[8] @ "" forward
  %2 = relu(%1) : f32[8] @ "" forward
  %3 = add(%1, %2) : f32[8] @ "" forward
  out %3 output "y"
})");
        QVERIFY(!s.same(0, 1)); // the host's argument stays
        QVERIFY(!s.same(1, 2)); // %1 is read again
        QVERIFY(s.same(3, 1) || s.same(3, 2));
    }

    void a_matmul_never_lies_over_its_operand() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[4,4]
  %1 = exp(%0) : f32[4,4] @ "" forward
  %2 = matmul(%1, %0) {transpose_x=false, transpose_y=false} : f32[4,4] @ "" forward
  out %2 output "y"
})");
        QVERIFY(!s.same(1, 2));
    }

    void an_accumulator_has_one_place_and_no_copy() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[5,8]
  %1 = constant() {dtype="f32", shape=[8], value=0.0} : f32[8] @ "" forward
  %6 = repeat(%1, %0) {carried=1, count=5, reverse=false} : f32[8] @ "" forward {
    in %2 : f32[8]
    in %3 : f32[8]
    %4 = exp(%3) : f32[8] @ "" forward
    %5 = add(%2, %4) : f32[8] @ "" forward
    yield %5
  }
  out %6 output "sum"
})");
        QCOMPARE(s.copies(), 0);
        QVERIFY(s.same(1, 2) && s.same(2, 5) && s.same(5, 6));
        QVERIFY(!s.same(4, 5)); // %4 may not take the accumulator's place
        const Part& slice = s.storage.liveness.parts[3];
        QVERIFY(slice.of == ir::ValueId{0});
        QCOMPARE(slice.stride_bytes, 32);
    }

    void an_initial_value_that_is_read_later_is_copied() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[8]
  %1 = exp(%0) : f32[8] @ "" forward
  %4 = repeat(%1) {carried=1, count=3, reverse=false} : f32[8] @ "" forward {
    in %2 : f32[8]
    %3 = relu(%2) : f32[8] @ "" forward
    yield %3
  }
  %5 = add(%4, %1) : f32[8] @ "" forward
  out %5 output "y"
})");
        QCOMPARE(s.copies(), 1);
        QVERIFY(!s.same(1, 2));
    }

    void values_that_swap_places_go_through_a_third() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[8]
  in %1 batch "y" : f32[8]
  %4, %5 = repeat(%0, %1) {carried=2, count=3, reverse=false} : f32[8], f32[8] @ "" forward {
    in %2 : f32[8]
    in %3 : f32[8]
    yield %3, %2
  }
  out %4 output "a"
  out %5 output "b"
})");
        QCOMPARE(s.copies(), 3);
        QVERIFY(!s.same(2, 3));
        QVERIFY(s.same(2, 4) && s.same(3, 5));
    }

    void a_stacked_output_is_written_slice_by_slice() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[8]
  %3, %4 = repeat(%0) {carried=1, count=3, reverse=false} : f32[8], f32[3,8] @ "" forward {
    in %1 : f32[8]
    %5 = relu(%1) : f32[8] @ "" forward
    %2 = exp(%1) : f32[8] @ "" forward
    yield %2, %5
  }
  out %4 output "all"
})");
        QCOMPARE(s.copies(), 0);
        QVERIFY(s.storage.liveness.parts[5].of == ir::ValueId{4});
    }

    void a_state_slot_is_updated_in_place_when_its_old_value_is_dead() {
        const Shared s(R"(program p {
  in %0 state "w" : f32[8]
  in %1 batch "g" : f32[8]
  %2 = sub(%0, %1) : f32[8] @ "" update
  out %2 state "w"
})");
        QCOMPARE(s.copies(), 0);
        QVERIFY(s.same(0, 2));
        QCOMPARE(s.of(2).slot, std::string("w"));
    }

    void a_state_slot_is_overwritten_only_after_the_last_read_of_its_old_value() {
        const Shared s(R"(program p {
  in %0 state "w" : f32[8]
  in %1 batch "g" : f32[8]
  %2 = sub(%0, %1) : f32[8] @ "" update
  %3 = mul(%0, %2) : f32[8] @ "" update
  out %2 state "w"
  out %3 output "y"
})");
        QCOMPARE(s.copies(), 1);
        QCOMPARE(s.program.body.ops.back().kind, std::string("copy"));
        QVERIFY(!s.same(0, 2));
        QCOMPARE(s.of(s.program.results[0].value.index).slot, std::string("w"));
    }

    void the_old_value_of_a_slot_reaches_the_host_as_a_copy() {
        const Shared s(R"(program p {
  in %0 state "w" : f32[8]
  %1 = exp(%0) : f32[8] @ "" update
  out %1 state "w"
  out %0 output "before"
})");
        QVERIFY(s.copies() >= 1);
        QVERIFY(s.of(s.program.results[1].value.index).slot.empty());
    }

    void a_value_read_in_a_loop_lives_until_its_end() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[8]
  %1 = exp(%0) : f32[8] @ "" forward
  %5 = repeat(%0) {carried=1, count=3, reverse=false} : f32[8] @ "" forward {
    in %2 : f32[8]
    %3 = add(%2, %1) : f32[8] @ "" forward
    %4 = exp(%3) : f32[8] @ "" forward
    yield %4
  }
  out %5 output "y"
})");
        QVERIFY(!s.same(1, 3));
        QVERIFY(!s.same(1, 4));
        QCOMPARE(s.of(1).range.last, 3); // exp 0, loop 1, add 2, exp 3
    }

    void views_take_no_memory() {
        const Shared s(R"(program p {
  in %0 batch "x" : f32[2,4]
  %1 = exp(%0) : f32[2,4] @ "" forward
  %2 = reshape(%1) {shape=[8]} : f32[8] @ "" forward
  %3 = reduce_sum(%2) {dims=[0], keep=false} : f32[] @ "" forward
  out %3 output "y"
})");
        QVERIFY(s.same(1, 2));
        QCOMPARE(s.storage.liveness.positions, 2);
    }
};

WEFT_TEST(Sharing)
#include "sharing_test.moc"
