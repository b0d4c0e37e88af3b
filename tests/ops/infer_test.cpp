// SPDX-License-Identifier: Apache-2.0
// Records refuse wrong calls in the promised words; programs of each op print, parse and verify.
#include "core/base/error.h"
#include "core/ir/text.h"
#include "core/ops/op_def.h"
#include "core/ops/verify.h"
#include "tests/ops/op_case.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;
using namespace weft::test;

class OpRecordTest : public QObject {
    Q_OBJECT
private slots:
    void every_op_has_a_row_and_a_refusal() {
        std::set<std::string> with_row;
        std::set<std::string> with_refusal;
        for (const OpCase& row : op_cases()) {
            QVERIFY2(ops::find_op(row.kind) != nullptr, row.kind.c_str());
            with_row.insert(row.kind);
            if (!row.refused.empty()) {
                with_refusal.insert(row.kind);
            }
        }
        for (const ops::OpDef* def : ops::all_ops()) {
            const std::string name(def->name);
            QVERIFY2(with_row.contains(name), ("no row for " + name).c_str());
            QVERIFY2(with_refusal.contains(name), ("no refused call for " + name).c_str());
        }
    }

    void records_are_complete_and_named_once() {
        std::set<std::string_view> names;
        std::set<int> opcodes;
        for (const ops::OpDef* def : ops::all_ops()) {
            const std::string name(def->name);
            QVERIFY2(names.insert(def->name).second, name.c_str());
            QVERIFY2(!def->help.empty() && def->infer != nullptr && def->factors != nullptr,
                     name.c_str());
            QVERIFY2(def->elementwise < 0 || opcodes.insert(def->elementwise).second, name.c_str());
            for (const ops::AttributeDef& attribute : def->attributes) {
                QVERIFY2(!attribute.help.empty(), name.c_str());
            }
        }
        QCOMPARE(static_cast<int>(opcodes.size()), static_cast<int>(WEFT_EW_COUNT));
    }

    void wrong_calls_are_refused_in_words() {
        for (const OpCase& row : op_cases()) {
            for (const Refused& refused : row.refused) {
                std::string said = "accepted";
                try {
                    one_op_program({.kind = row.kind}, types_of(refused.operands),
                                   refused.attributes);
                } catch (const Error& error) {
                    QCOMPARE(error.kind(), ErrorKind::usage);
                    QCOMPARE(error.where(), std::string("layer"));
                    said = error.text();
                }
                QCOMPARE(QString::fromStdString(said),
                         QString::fromStdString(row.kind + ": " + refused.text));
            }
        }
    }

    void programs_verify_and_survive_print_and_parse() {
        for (const OpCase& row : op_cases()) {
            const ir::Program program = one_op_program(row, types_of(row.operands), row.attributes);
            const std::vector<std::string> violations = ops::verify(program);
            QVERIFY2(violations.empty(), violations.empty() ? "" : violations[0].c_str());
            const std::string text = ir::print(program);
            const ir::Program again = ir::parse(text);
            QCOMPARE(QString::fromStdString(ir::print(again)), QString::fromStdString(text));
            QVERIFY2(ops::verify(again).empty(), describe(row).c_str());
        }
    }

    void the_verifier_names_a_wrong_type() {
        ir::Program program = one_op_program({.kind = "neg"}, {parse_type("f32[2]")}, {});
        program.value(program.results[0].value).type = parse_type("f32[3]");
        const std::vector<std::string> violations = ops::verify(program);
        QCOMPARE(static_cast<int>(violations.size()), 1);
        QCOMPARE(QString::fromStdString(violations[0]),
                 QStringLiteral("%1 = neg at layer: output 0 is f32[3] instead of f32[2]"));
    }

    void mixed_bf16_and_f32_give_f32() {
        const ir::Program program =
            one_op_program({.kind = "add"}, {parse_type("bf16[2]"), parse_type("f32[2]")}, {});
        QCOMPARE(program.type(program.results[0].value).dtype, ir::DType::f32);
    }

    void wide_products_of_bf16_are_f32() {
        const std::vector<ir::Type> types = {parse_type("bf16[2,3]"), parse_type("bf16[3,2]")};
        const ir::Program narrow = one_op_program({.kind = "matmul"}, types, {});
        const ir::Program wide = one_op_program({.kind = "matmul"}, types, {{"wide", true}});
        QCOMPARE(narrow.type(narrow.results[0].value).dtype, ir::DType::bf16);
        QCOMPARE(wide.type(wide.results[0].value).dtype, ir::DType::f32);
    }

    void aliases_and_marks_name_operands_that_exist() {
        for (const OpCase& row : op_cases()) {
            const ops::OpDef& def = ops::op_def(row.kind);
            const ir::Program program = one_op_program(row, types_of(row.operands), row.attributes);
            const int outputs = static_cast<int>(program.results.size());
            for (const ops::Alias& alias : def.aliases) {
                QVERIFY(alias.input < def.max_inputs && alias.output < outputs);
            }
            for (const int input : def.full_inputs) {
                QVERIFY(input < def.max_inputs);
            }
            for (const int output : def.full_outputs) {
                QVERIFY(output < outputs);
                const ir::DType dtype =
                    program.type(program.results[static_cast<std::size_t>(output)].value).dtype;
                QVERIFY2(dtype == ir::DType::f64, describe(row).c_str()); // rows are f64
            }
        }
    }

    void every_op_but_a_view_costs_something() {
        for (const OpCase& row : op_cases()) {
            const ir::Program program = one_op_program(row, types_of(row.operands), row.attributes);
            const ops::OpCost cost = ops::cost_of({program, program.body.ops.back()});
            if (ops::op_def(row.kind).view) {
                QCOMPARE(cost.bytes, 0.0);
            } else {
                QVERIFY2(cost.bytes > 0 && cost.flops >= 0, describe(row).c_str());
            }
        }
    }
};

WEFT_TEST(OpRecordTest)
#include "infer_test.moc"
