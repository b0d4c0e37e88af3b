// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/ir/text.h"
#include "core/ir/verify.h"
#include "tests/support/random_program.h"
#include "tests/support/weft_test.h"

#include <limits>

using namespace weft;
using namespace weft::ir;

namespace {

const char* const kExample = R"(program train_step {
  in %0 state "layers.0.weight" : f32[784,512]
  in %1 batch "inputs" : f32[256,784] P('data', None)
  in %2 batch "stack" : f32[4,2]
  %5 = matmul(%1, %0) {transpose_b=false} : f32[256,512] P('data') partial('model') @ "layers.0" forward
  %6, %7 = repeat(%5, %2) {carried=1, count=4, reverse=false} : f32[256,512], f32[4,2] @ "" backward {
    in %8 : f32[256,512]
    in %9 : f32[2]
    %10 = affine(%9) {scale=1e-05, shift=-2.0} : f32[2] layout("tiles", 64) name("shift") @ "blocks.3" update
    yield %8, %10
  }
  out %6 state "layers.0.weight"
  out %7 output "loss"
}
)";

/// The error text of a parse that must fail; "" when it did not.
QString failure(const std::string& text) {
    try {
        parse(text);
    } catch (const Error& error) {
        return QString::fromStdString(error.message());
    }
    return {};
}

} // namespace

class ProgramText : public QObject {
    Q_OBJECT

private slots:
    void every_annotation_survives_printing_and_parsing() {
        QCOMPARE(QString::fromStdString(print(parse(kExample))), QString(kExample));
    }

    void parsing_fills_the_program() {
        const Program program = parse(kExample);
        QCOMPARE(program.name, std::string("train_step"));
        QCOMPARE(program.arguments.size(), 3U);
        QVERIFY(program.arguments[0].role == Role::state);
        QCOMPARE(program.value({0}).name, std::string("layers.0.weight"));
        QVERIFY((program.value({5}).spec() == Spec{{{"data"}}, {"model"}}));
        const Op& loop = program.body.ops[1];
        QCOMPARE(loop.attributes.integer("count"), 4);
        QVERIFY(loop.phase == Phase::backward);
        const Op& inner = loop.body[0].ops[0];
        QCOMPARE(inner.attributes.real("scale"), 1e-5);
        QCOMPARE(inner.path, std::string("blocks.3"));
        QVERIFY(verify_structure(program).empty());
    }

    void every_kind_of_attribute_survives() {
        Program program;
        program.name = "two words";
        Op op;
        op.kind = "anything";
        op.attributes = {{"flag", true},
                         {"lowest", std::numeric_limits<std::int64_t>::min()},
                         {"tenth", 0.1},
                         {"whole", 3.0},
                         {"tiny", std::numeric_limits<double>::denorm_min()},
                         {"infinite", -std::numeric_limits<double>::infinity()},
                         {"words", std::string("tab\t quote\" \x01 \xc3\xa9")},
                         {"list", std::vector<std::int64_t>{-1, 0, 7}},
                         {"empty", std::vector<std::int64_t>{}}};
        op.path = "a\"b\\c\n";
        op.outputs = {program.add_value({DType::bf16, {2, 0}})};
        program.body.ops.push_back(op);
        const Program back = parse(print(program));
        QCOMPARE(back.name, program.name);
        QVERIFY(back.body.ops[0].attributes == op.attributes);
        QCOMPARE(back.body.ops[0].path, op.path);
        QVERIFY(back.type({0}) == program.type({0}));
    }

    void random_programs_survive() {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            const Program program = test::RandomProgram(seed).make();
            const std::string text = print(program);
            const Program back = parse(text);
            QCOMPARE(QString::fromStdString(print(back)), QString::fromStdString(text));
            QCOMPARE(back.values.size(), program.values.size());
        }
    }

    void mistakes_name_line_and_column_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("place");
        QTest::addColumn<QString>("word");
        QTest::newRow("undefined") << "program p {\n  %1 = relu(%0) : f32[2] @ \"\" forward\n}"
                                   << "line 2, column 13"
                                   << "%0 is not defined here";
        QTest::newRow("twice")
            << "program p {\n  in %0 batch \"x\" : f32[2]\n  in %0 batch \"y\" : f32[2]\n}"
            << "line 3, column 6"
            << "defined twice";
        QTest::newRow("dtype") << "program p { in %0 batch \"x\" : f8[2] }"
                               << "line 1, column 31"
                               << "'f8'";
        QTest::newRow("rank") << "program p { in %0 batch \"x\" : f32[1,1,1,1,1,1,1,1,1] }"
                              << "line 1, column 51"
                              << "8 dimensions";
        QTest::newRow("huge extent")
            << "program p { in %0 batch \"x\" : f32[99999999999,99999999999] }"
            << "line 1, column 47"
            << "out of range";
        QTest::newRow("overflow") << "program p { in %0 batch \"x\" : f32[99999999999999999999] }"
                                  << "line 1, column 35"
                                  << "out of range";
        QTest::newRow("open text") << "program p { in %0 batch \"x : f32[2]\n}"
                                   << "line 1, column 25"
                                   << "not closed";
        QTest::newRow("role") << "program p { in %0 bach \"x\" : f32[2] }"
                              << "line 1, column 19"
                              << "role";
        QTest::newRow("missing brace") << "program p {"
                                       << "line 1, column 12"
                                       << "end of text";
        QTest::newRow("long spec") << "program p { in %0 batch \"x\" : f32[2] P('a', 'b') }"
                                   << "line 1, column 38"
                                   << "1 dimensions";
    }

    void mistakes_name_line_and_column() {
        QFETCH(QString, text);
        QFETCH(QString, place);
        QFETCH(QString, word);
        const QString message = failure(text.toStdString());
        QVERIFY2(message.startsWith(place), qPrintable(message));
        QVERIFY2(message.contains(word), qPrintable(message));
    }

    void deep_nesting_is_refused() {
        std::string text = "program p { in %0 batch \"x\" : f32[2]\n";
        for (int i = 0; i < 10000; ++i) {
            text += "repeat(%0) {carried=0, count=1} : @ \"\" forward {\n";
        }
        QVERIFY(failure(text).contains("nested deeper"));
    }

    void a_huge_value_number_is_refused() {
        QVERIFY(failure("program p { in %2000000000 batch \"x\" : f32[2] }").contains("too high"));
        QVERIFY(
            failure("program p { in %99999999999 batch \"x\" : f32[2] }").contains("2147483647"));
    }

    void damaged_text_never_does_more_than_throw() {
        std::mt19937 random(7);
        const std::string text = kExample;
        int refused = 0;
        for (int i = 0; i < 4000; ++i) {
            std::string damaged = text;
            for (int k = 0; k < 3; ++k) {
                const std::size_t at = random() % damaged.size();
                switch (random() % 3) {
                case 0: damaged.erase(at, 1 + random() % 5); break;
                case 1: damaged[at] = static_cast<char>(random() % 256); break;
                default:
                    damaged.insert(at, text.substr(random() % text.size(), random() % 9));
                    break;
                }
            }
            try {
                const Program program = parse(damaged);
                // What parses must print to something that parses to the same.
                QCOMPARE(print(parse(print(program))), print(program));
            } catch (const Error&) {
                ++refused;
            }
        }
        QVERIFY(refused > 1000);
    }

    void specs_read_like_partition_specs() {
        QVERIFY((parse_spec("P('data', None, ('fsdp', 'model'))") ==
                 Spec{{{"data"}, {}, {"fsdp", "model"}}, {}}));
        QCOMPARE(to_text(parse_spec("P(('x',), None)")), std::string("P('x', None)"));
        QCOMPARE(to_text(Spec{}), std::string("P()"));
    }

    void spec_mistakes_are_explained_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("word");
        QTest::newRow("twice") << "P('data', ('x', 'data'))"
                               << "'data' is used twice";
        QTest::newRow("twice, partial") << "P('data') partial('data')"
                                        << "'data' is used twice";
        QTest::newRow("number") << "P(3)"
                                << "number 3";
        QTest::newRow("bare name") << "P(data)"
                                   << "in quotes";
        QTest::newRow("rest") << "P() P()"
                              << "after the spec";
    }

    void spec_mistakes_are_explained() {
        QFETCH(QString, text);
        QFETCH(QString, word);
        try {
            parse_spec(text.toStdString());
            QFAIL("accepted");
        } catch (const Error& error) {
            QVERIFY2(QString::fromStdString(error.message()).contains(word), error.what());
        }
    }
};

WEFT_TEST(ProgramText)
#include "text_test.moc"
