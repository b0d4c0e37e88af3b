// SPDX-License-Identifier: Apache-2.0
// Passes do not change what a program computes: the interpreter, on the reference kernels, before
// and after. No pass that runs here reassociates, so the tolerance is zero.
#include "core/base/error.h"
#include "core/exec/interpreter.h"
#include "core/ir/text.h"
#include "core/ops/verify.h"
#include "core/passes/add_up_squares.h"
#include "core/passes/apply_precision.h"
#include "core/passes/fuse_elementwise.h"
#include "core/passes/join_updates.h"
#include "core/passes/run_passes.h"
#include "core/passes/shorten_lifetimes.h"
#include "core/passes/simplify.h"
#include "tests/support/random_program.h"
#include "tests/support/weft_test.h"

#include <array>
#include <cmath>
#include <functional>

using namespace weft;

namespace {

std::vector<exec::Tensor> arguments_of(const ir::Program& program, std::uint64_t seed) {
    std::vector<exec::Tensor> out;
    for (const ir::Port& port : program.arguments) {
        exec::Tensor& tensor = out.emplace_back(program.type(port.value));
        test::fill_random(tensor.span<float>(), seed + out.size());
    }
    return out;
}

bool same(const std::vector<exec::Tensor>& a, const std::vector<exec::Tensor>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!test::same_numbers(a[i].span<float>(), b[i].span<float>())) {
            return false;
        }
    }
    return a.size() == b.size();
}

QString faults_of(const ir::Program& program) {
    const auto faults = ops::verify(program);
    return faults.empty() ? QString() : QString::fromStdString(faults.front());
}

int count_ops(const ir::Block& block, std::string_view kind) {
    int count = 0;
    for (const ir::Op& op : block.ops) {
        count += op.kind == kind ? 1 : 0;
        for (const ir::Block& body : op.body) {
            count += count_ops(body, kind);
        }
    }
    return count;
}

} // namespace

class PassSemantics : public QObject {
    Q_OBJECT

private slots:
    void every_pass_keeps_the_results_of_random_programs_data() {
        QTest::addColumn<int>("pass");
        QTest::newRow("fold_identities") << 0;
        QTest::newRow("inline_single_loops") << 1;
        QTest::newRow("merge_duplicates") << 2;
        QTest::newRow("remove_dead_code") << 3;
        QTest::newRow("simplify") << 4;
        QTest::newRow("fuse_elementwise") << 5;
        QTest::newRow("renumber_values") << 6;
        QTest::newRow("merge_pads") << 7;
        QTest::newRow("shorten_lifetimes") << 8;
        QTest::newRow("join_updates") << 9;
        QTest::newRow("all") << 10;
    }

    void every_pass_keeps_the_results_of_random_programs() {
        QFETCH(int, pass);
        for (std::uint64_t seed = 0; seed < 150; ++seed) {
            ir::Program program = test::RandomProgram(seed).make();
            QCOMPARE(faults_of(program), QString());
            const auto arguments = arguments_of(program, seed);
            const auto before = exec::interpret(program, arguments);
            run(pass, program);
            QCOMPARE(faults_of(program), QString());
            const auto after = exec::interpret(program, arguments);
            QVERIFY2(same(before, after), qPrintable(QString("seed %1").arg(seed)));
        }
    }

    void fusion_finds_groups_and_keeps_within_its_limits() {
        int groups = 0;
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            ir::Program program = test::RandomProgram(seed).make();
            passes::fuse_elementwise(program);
            groups += count_ops(program.body, "fused");
            for (const ir::Op& op : program.body.ops) {
                if (op.kind == "fused") {
                    QVERIFY(op.inputs.size() <= 24);
                    QVERIFY(op.body[0].ops.size() >= 2 && op.body[0].ops.size() <= 64);
                }
            }
        }
        QVERIFY(groups > 50);
    }

    void joining_finds_updates_that_are_alike() {
        int sweeps = 0;
        for (std::uint64_t seed = 0; seed < 150; ++seed) {
            ir::Program program = test::RandomProgram(seed).make();
            passes::join_updates(program);
            sweeps += count_ops(program.body, "sweep");
        }
        QVERIFY(sweeps > 30);
    }

    // Of random programs none has two norms that are added up.
    void one_sum_of_squares_is_that_of_its_terms() {
        ir::Program program = ir::parse(R"(program p {
  in %0 batch "x" : f32[40]
  in %1 batch "y" : f32[3]
  in %2 batch "z" : f32[5,2]
  %3 = sum_squares(%0) : f32[] @ "" update
  %4 = sum_squares(%1) : f32[] @ "" update
  %5 = add(%3, %4) : f32[] @ "" update
  %6 = sum_squares(%2) : f32[] @ "" update
  %7 = add(%5, %6) : f32[] @ "" update
  out %7 output "sum"
})");
        const auto arguments = arguments_of(program, 7);
        const auto before = exec::interpret(program, arguments);
        passes::add_up_squares(program);
        QCOMPARE(faults_of(program), QString());
        QCOMPARE(count_ops(program.body, "add"), 0);
        const auto after = exec::interpret(program, arguments);
        // The reference adds up in f64 and rounds once: two roundings of 2^-24 apart.
        const float sum = before[0].span<float>()[0];
        QVERIFY(std::abs(after[0].span<float>()[0] - sum) <= 2.5e-7F * sum);
    }

    void simplifying_twice_changes_nothing_more() {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            ir::Program program = test::RandomProgram(seed).make();
            passes::simplify(program);
            const std::string once = ir::print(program);
            passes::simplify(program);
            QCOMPARE(QString::fromStdString(ir::print(program)), QString::fromStdString(once));
        }
    }

    void low_precision_keeps_ports_and_stays_legal() {
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            ir::Program program = test::RandomProgram(seed).make();
            const auto arguments = arguments_of(program, seed);
            passes::simplify(program);
            const auto before = program;
            passes::apply_precision(program, ir::DType::bf16);
            passes::simplify(program);
            passes::fuse_elementwise(program);
            QCOMPARE(faults_of(program), QString());
            for (std::size_t i = 0; i < before.results.size(); ++i) {
                QVERIFY(program.type(program.results[i].value) ==
                        before.type(before.results[i].value));
            }
            exec::interpret(program, arguments); // every kernel takes the mixed types
        }
    }

    void a_group_computes_f64_constants_in_f64() {
        ir::Program program = ir::parse(R"(program p {
  in %0 batch "x" : f64[4]
  %1 = affine(%0) {scale=0.1, shift=0.3} : f64[4] @ "" forward
  %2 = square(%1) : f64[4] @ "" forward
  out %2 output "y"
})");
        passes::fuse_elementwise(program);
        QCOMPARE(count_ops(program.body, "fused"), 1);
        std::vector<exec::Tensor> arguments(1, exec::Tensor({ir::DType::f64, {4}}));
        const std::array<double, 4> x = {1.0, 3.0, -7.0, 1e9};
        std::copy(x.begin(), x.end(), arguments[0].span<double>().begin());
        const auto y = exec::interpret(program, arguments);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double inner = x[i] * 0.1 + 0.3;
            QVERIFY(std::equal_to<>()(y[0].span<double>()[i], inner * inner));
        }
    }

    void the_runner_switches_off_times_dumps_and_stops() {
        ir::Program program = test::RandomProgram(1).make();
        QStringList dumped;
        std::stop_source source;
        passes::RunPassesOptions options;
        options.disabled = {"fuse"};
        options.stop = source.get_token();
        options.dump = [&](const std::string& name, const std::string& pass, const ir::Program&) {
            dumped << QString::fromStdString(name + "/" + pass);
        };
        const std::vector<passes::Pass> list{
            {"simplify", passes::simplify},
            {"fuse", [](ir::Program& p) { passes::fuse_elementwise(p); }},
            {"renumber", passes::renumber_values}};
        const auto times = passes::run_passes(program, list, options);
        QCOMPARE(dumped, (QStringList{"random/simplify", "random/renumber"}));
        QCOMPARE(times.size(), 2U);
        source.request_stop();
        QVERIFY_THROWS_EXCEPTION(Error, passes::run_passes(program, list, options));
    }

    void the_runner_refuses_an_illegal_program_and_a_pass_that_breaks_one() {
        ir::Program program = test::RandomProgram(1).make();
        const std::vector<passes::Pass> list{{"break", [](ir::Program& p) {
                                                  p.value(p.body.ops[0].outputs[0]).type.dtype =
                                                      ir::DType::f64;
                                              }}};
        QVERIFY_THROWS_EXCEPTION(CheckFailure, passes::run_passes(program, list, {}));
        QVERIFY_THROWS_EXCEPTION(Error, passes::run_passes(program, {}, {}));
    }

private:
    static void run(int pass, ir::Program& program) {
        switch (pass) {
        case 0: passes::fold_identities(program); break;
        case 1: passes::inline_single_loops(program); break;
        case 2: passes::merge_duplicates(program); break;
        case 3: passes::remove_dead_code(program); break;
        case 4: passes::simplify(program); break;
        case 5: passes::fuse_elementwise(program); break;
        case 6: passes::renumber_values(program); break;
        case 7: passes::merge_pads(program); break;
        case 8: passes::shorten_lifetimes(program); break;
        case 9: passes::join_updates(program); break;
        default:
            passes::simplify(program);
            passes::fuse_elementwise(program);
            passes::join_updates(program);
            passes::shorten_lifetimes(program);
            passes::renumber_values(program);
            break;
        }
    }
};

WEFT_TEST(PassSemantics)
#include "semantics_test.moc"
