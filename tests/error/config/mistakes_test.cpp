// SPDX-License-Identifier: Apache-2.0
#include "core/config/field.h"
#include "tests/support/weft_test.h"

#include <limits>

using namespace weft::config;

namespace {

FieldTable sample_table() {
    return {
        record_field("model", nullptr,
                     {{"mlp", "", {integer_field("width", 8, "Width.").at_least(1)}},
                      {"gpt2", "", {integer_field("layers", 12, "Layers.").at_least(1)}}},
                     "Give a model such as {\"type\": \"mlp\"}.")
            .must_be_given(),
        object_field("optimizer",
                     {real_field("learning_rate", 1e-3, "Step size.").above(0),
                      list_field("betas", Json::array({0.9, 0.999}),
                                 real_field("beta", nullptr, "").range(0, 1), "Decay rates.")
                          .exactly(2)},
                     ""),
        object_field("training",
                     {length_field("length", Json{{"epochs", 5}}, ""),
                      integer_field("batch", 256, "").at_least(1).in("samples"),
                      choice_field("precision", "f32", {"f32", "tf32", "bf16", "f16"}, ""),
                      boolean_field("shuffle", true, "")},
                     ""),
        path_field("data", "data", "A folder."),
        map_field("specs", Json::object(), text_field("spec", nullptr, ""), ""),
    };
}

/// One mistake in an otherwise right document: exactly one diagnostic, at this place, saying this.
struct Mistake {
    const char* name;
    const char* assignment; // applied to a right document
    const char* pointer;
    const char* message;
    const char* hint;
};

constexpr Mistake kMistakes[] = {
    {"unknown field", "training.epochs=5", "/training/epochs", "unknown field",
     "Known here: length, batch, precision, shuffle."},
    {"misspelled field", "training.bach=5", "/training/bach", "unknown field",
     "Did you mean 'batch'?"},
    {"unknown field at the root", "optimiser={}", "/optimiser", "unknown field",
     "Did you mean 'optimizer'?"},
    {"text for an integer", "training.batch=\"64\"", "/training/batch",
     "expected an integer, found the text \"64\"", "Remove the quotes."},
    {"too many items", "optimizer.betas=[0.9, 0.99, 0.999]", "/optimizer/betas",
     "expected 2 items, found 3", "Decay rates."},
    {"fraction for an integer", "training.batch=2.5", "/training/batch",
     "expected an integer, found the number 2.5", ""},
    {"boolean for an integer", "training.batch=true", "/training/batch",
     "expected an integer, found true", ""},
    {"integer over 64 bits", "training.batch=18446744073709551615", "/training/batch",
     "the number 18446744073709551615 does not fit into 64 bits", "It must be at least 1 samples."},
    {"below the range", "training.batch=0", "/training/batch", "the number 0 is out of range",
     "It must be at least 1 samples."},
    {"on an exclusive limit", "optimizer.learning_rate=0", "/optimizer/learning_rate",
     "the number 0 is out of range", "It must be above 0."},
    {"list item out of range", "optimizer.betas=[0.9, 2]", "/optimizer/betas/1",
     "the number 2 is out of range", "It must be between 0 and 1."},
    {"number for a list", "optimizer.betas=0.9", "/optimizer/betas",
     "expected a list, found the number 0.9", ""},
    {"unknown choice", "training.precision=bf32", "/training/precision", "unknown value 'bf32'",
     "Did you mean 'f32'?"},
    {"number for a choice", "training.precision=32", "/training/precision",
     "expected one of its names, found the number 32", "Known here: f32, tf32, bf16, f16."},
    {"text for a boolean", "training.shuffle=yes", "/training/shuffle",
     "expected true or false, found the text \"yes\"", "Write true or false without quotes."},
    {"null where none is allowed", "training.batch=null", "/training/batch",
     "expected an integer, found null", "Leave the field out to get its default."},
    {"missing model", "model=null", "/model", "expected an object with a \"type\", found null",
     "Give a model such as {\"type\": \"mlp\"}."},
    {"bare name for a record", "model=mlp", "/model",
     "expected an object with a \"type\", found the text \"mlp\"", "Write {\"type\": \"mlp\"}."},
    {"record without a type", "model={\"width\": 3}", "/model/type",
     "this field is missing and has no default", "Known here: mlp, gpt2."},
    {"unknown record type", "model={\"type\": \"gtp2\"}", "/model/type", "unknown type 'gtp2'",
     "Did you mean 'gpt2'?"},
    {"field of another record type", "model={\"type\": \"mlp\", \"layers\": 3}", "/model/layers",
     "unknown field", "Only known here: width."},
    {"two forms of a length", "training.length={\"epochs\": 1, \"steps\": 2}", "/training/length",
     "more than one is given",
     "Write one of {\"steps\": N}, {\"epochs\": N}, {\"minutes\": N}, {\"tokens\": N}."},
    {"number for a length", "training.length=5", "/training/length",
     "expected an object, found the number 5",
     "Write one of {\"steps\": N}, {\"epochs\": N}, {\"minutes\": N}, {\"tokens\": N}."},
    {"length of nothing", "training.length={\"steps\": 0}", "/training/length/steps",
     "the number 0 is out of range", "It must be at least 1 steps."},
    {"object for a path", "data={}", "/data", "expected a path, found an object", ""},
    {"empty path", "data=\"\"", "/data", "the path is empty", "A folder."},
    {"zero byte in a path", "data=\"a\\u0000b\"", "/data",
     "the text \"a\\x00b\" holds a zero byte and cannot be a path", ""},
    {"number in a map of texts", "/specs/a.b~1c=1", "/specs/a.b~1c",
     "expected a text, found the number 1", ""},
    {"list for a table", "optimizer=[]", "/optimizer", "expected an object, found a list", ""},
};

} // namespace

class MistakesTest : public QObject {
    Q_OBJECT
private slots:
    void each_mistake_gives_its_place_and_hint_data() {
        QTest::addColumn<const Mistake*>("mistake");
        for (const Mistake& mistake : kMistakes) {
            QTest::newRow(mistake.name) << &mistake;
        }
    }

    void each_mistake_gives_its_place_and_hint() {
        QFETCH(const Mistake*, mistake);
        Json document = {{"model", {{"type", "mlp"}}}};
        QVERIFY(apply_override(document, mistake->assignment).empty());
        const Checked checked = check_fields(document, sample_table());
        QCOMPARE(checked.diagnostics.size(), size_t{1});
        const Diagnostic& found = checked.diagnostics.front();
        QCOMPARE(found.pointer, std::string(mistake->pointer));
        QCOMPARE(found.message, std::string(mistake->message));
        QCOMPARE(found.hint, std::string(mistake->hint));
    }

    void seven_mistakes_give_seven_diagnostics() {
        const Json document = json_of(R"({
            "model": {"type": "mlpp"}, "nmae": 1,
            "optimizer": {"learning_rate": "fast", "betas": [0.9, 1.5]},
            "training": {"batch": -1, "precision": "int8", "epochs": 3}})");
        const Checked checked = check_fields(document, sample_table());
        QCOMPARE(checked.diagnostics.size(), size_t{7});
        QVERIFY(!checked.ok());
    }

    void a_missing_field_is_named() {
        const Checked checked = check_fields(Json::object(), sample_table());
        QCOMPARE(checked.diagnostics.size(), size_t{1});
        QCOMPARE(to_text(checked.diagnostics.front()),
                 std::string("error /model: this field is missing and has no default. "
                             "Give a model such as {\"type\": \"mlp\"}."));
    }

    void values_that_no_json_text_can_hold_are_refused() {
        Json document = {{"model", {{"type", "mlp"}}}};
        document["optimizer"]["learning_rate"] = std::numeric_limits<double>::quiet_NaN();
        document["data"] = "\xff\xfe";
        const Checked checked = check_fields(document, sample_table());
        QCOMPARE(checked.diagnostics.size(), size_t{2});
        // The result can be written out although the input cannot.
        QVERIFY(!checked.value.dump().empty());
    }

    void a_document_that_is_no_object_is_said() {
        for (const char* text : {"[]", "3", "null", "\"x\""}) {
            QVERIFY2(!check_fields(json_of(text), sample_table()).ok(), text);
        }
    }

    void unusable_overrides_change_nothing() {
        const Json before = {{"a", {{"b", 1}}}, {"list", {1, 2}}};
        const std::pair<const char*, const char*> cases[] = {
            {"a.b", "not of the form"},
            {"=1", "not of the form"},
            {"a..b=1", "empty part"},
            {"a.b.c=1", "has no fields"},
            {"list.3=1", "list of 2"},
            {"list.x=1", "list of 2"},
            {"list.-1=1", "list of 2"},
            {"a.b={\"x\":", "syntax error"},
            {"a.b={\"x\":1,\"x\":2}", "twice"},
            {"a.b=\xff", "UTF-8"},
            {"list.99999999999999999999=1", "list of 2"}};
        for (const auto& [assignment, message] : cases) {
            Json document = before;
            const Diagnostics found = apply_override(document, assignment);
            QVERIFY2(found.size() == 1, assignment);
            QVERIFY2(to_text(found.front()).find(message) != std::string::npos,
                     to_text(found.front()).c_str());
            QCOMPARE(document.dump(), before.dump());
        }
    }
};

WEFT_TEST(MistakesTest)
#include "mistakes_test.moc"
