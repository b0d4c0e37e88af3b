// SPDX-License-Identifier: Apache-2.0
#include "core/ir/text.h"
#include "core/ir/verify.h"
#include "tests/support/weft_test.h"

using namespace weft;
using namespace weft::ir;

namespace {

const char* const kLoops = R"(program p {
  in %0 batch "x" : f32[2]
  in %1 batch "y" : f32[2]
  %2 = repeat(%0) {carried=1, count=3, reverse=false} : f32[2] @ "" forward {
    in %3 : f32[2]
    %4 = repeat(%3) {carried=1, count=2, reverse=false} : f32[2] @ "" forward {
      in %5 : f32[2]
      %6 = add(%5, %1) : f32[2] @ "" forward
      yield %6
    }
    %7 = add(%4, %0) : f32[2] @ "" forward
    yield %7
  }
  out %2 output "out"
}
)";

} // namespace

class ProgramStructure : public QObject {
    Q_OBJECT

private slots:
    void captures_are_what_bodies_use_from_outside_in_order_of_use() {
        const Program program = parse(kLoops);
        const Op& outer = program.body.ops[0];
        QVERIFY((captures(outer) == ValueIds{{1}, {0}}));
        QVERIFY((captures(outer.body[0].ops[0]) == ValueIds{{1}}));
    }

    void replacing_uses_reaches_nested_bodies_and_leaves_definitions() {
        Program program = parse(kLoops);
        ValueIds replacement(program.values.size());
        replacement[1] = {0};
        replace_uses(program.body, replacement);
        const Op& inner = program.body.ops[0].body[0].ops[0].body[0].ops[0];
        QVERIFY((inner.inputs == ValueIds{{5}, {0}}));
        QVERIFY((program.body.arguments == ValueIds{{0}, {1}}));
    }

    void a_copy_of_attributes_is_changed_alone() {
        const Attributes attributes{{"a", std::int64_t{1}}};
        Attributes copy = attributes;
        QVERIFY(copy == attributes);
        copy.set("a", std::int64_t{2});
        QCOMPARE(attributes.integer("a"), 1);
        QCOMPARE(copy.integer("a"), 2);
        copy.set("a", std::int64_t{1});
        QVERIFY(copy == attributes);
        QVERIFY(Attributes() == Attributes(std::initializer_list<Attributes::Entry>{}));
    }

    void attributes_are_sorted_and_checked() {
        Attributes attributes{{"b", std::int64_t{2}}, {"a", 0.5}};
        attributes.set("b", std::int64_t{3});
        QCOMPARE(attributes.begin()->first, std::string("a"));
        QCOMPARE(attributes.integer("b"), 3);
        QCOMPARE(attributes.integer("missing", 7), 7);
        QVERIFY_THROWS_EXCEPTION(CheckFailure, attributes.integer("missing"));
        QVERIFY_THROWS_EXCEPTION(CheckFailure, attributes.real("b"));
    }

    void the_verifier_accepts_nested_loops() { QVERIFY(verify_structure(parse(kLoops)).empty()); }

    void the_verifier_finds_each_fault_data() {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QString>("word");
        QTest::newRow("use before definition") << 0 << "not defined before it";
        QTest::newRow("out of scope") << 1 << "not defined before it";
        QTest::newRow("defined twice") << 2 << "defined twice";
        QTest::newRow("port") << 3 << "disagree";
        QTest::newRow("carried type") << 4 << "asks for";
        QTest::newRow("count") << 5 << "count >= 1";
        QTest::newRow("no body") << 6 << "no body";
        QTest::newRow("unknown value") << 7 << "not a value";
        QTest::newRow("port name") << 8 << "appears twice";
        QTest::newRow("spec") << 9 << "more entries";
    }

    void the_verifier_finds_each_fault() {
        QFETCH(int, fault);
        QFETCH(QString, word);
        Program program = parse(kLoops);
        Op& outer = program.body.ops[0];
        Op& inner = outer.body[0].ops[0];
        switch (fault) {
        case 0: inner.body[0].ops[0].inputs[1] = {7}; break;
        case 1: outer.body[0].ops[1].inputs[1] = {6}; break;
        case 2: outer.body[0].ops[1].outputs[0] = {4}; break;
        case 3: program.results[0].value = {0}; break;
        case 4: program.value({7}).type.shape = {3}; break;
        case 5: outer.attributes.set("count", std::int64_t{0}); break;
        case 6: outer.body.clear(); break;
        case 7: outer.inputs[0] = {99}; break;
        case 8: program.arguments[1].name = std::string("x"); break;
        default: program.value({7}).set_spec({{{"a"}, {"b"}}, {}}); break;
        }
        const auto found = verify_structure(program);
        QVERIFY(!found.empty());
        const bool named = std::any_of(found.begin(), found.end(), [&](const std::string& text) {
            return QString::fromStdString(text).contains(word);
        });
        QVERIFY2(named, found.front().c_str());
    }
};

WEFT_TEST(ProgramStructure)
#include "program_test.moc"
