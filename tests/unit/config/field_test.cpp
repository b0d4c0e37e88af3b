// SPDX-License-Identifier: Apache-2.0
#include "core/config/field.h"
#include "tests/support/weft_test.h"

using namespace weft::config;

namespace {

FieldTable sample_table() {
    Field precision = choice_field("precision", "f32", {"f32", "bf16"}, "Arithmetic.");
    precision.aliases = {"fp32=f32"};
    return {
        text_field("name", "run", "Name of the run."),
        record_field("model", nullptr,
                     {{"mlp",
                       "Dense layers.",
                       {list_field("hidden", Json::array({512}),
                                   integer_field("size", nullptr, "Width.").at_least(1), "Widths."),
                        real_field("dropout", 0.1, "Dropped share.").range(0, 1)}},
                      {"empty", "Nothing.", {}}},
                     "What is trained.")
            .must_be_given(),
        object_field(
            "training",
            {length_field("length", Json{{"epochs", 5}}, "How long."),
             integer_field("batch", 256, "Samples per update.").at_least(1).in("samples"),
             real_field("clip", 1.0, "Largest norm.").above(0).or_null(), precision,
             boolean_field("shuffle", true, "New order each epoch."),
             object_field("stopping", {integer_field("patience", 3, "Evaluations.").at_least(1)},
                          "Early stop.")
                 .or_null()},
            "How it is trained."),
        map_field("specs", Json::object(), text_field("spec", "", "A spec."), "Overrides."),
        path_field("data", nullptr, "A folder.").or_null(),
        any_field("axes", Json::array(), "Pairs."),
    };
}

Json minimal() {
    return {{"model", {{"type", "mlp"}}}};
}

} // namespace

class FieldTest : public QObject {
    Q_OBJECT
private slots:
    void every_default_is_filled_in_the_order_of_the_table() {
        const Checked checked = check_fields(minimal(), sample_table());
        QVERIFY(checked.ok());
        const Json expected = json_of(R"({
            "name": "run", "model": {"type": "mlp", "hidden": [512], "dropout": 0.1},
            "training": {"length": {"epochs": 5.0}, "batch": 256, "clip": 1.0, "precision": "f32",
                         "shuffle": true, "stopping": null},
            "specs": {}, "data": null, "axes": []})");
        QCOMPARE(checked.value.dump(), expected.dump());
    }

    void a_record_without_a_type_is_the_default_one() {
        const FieldTable table = {
            record_field("optimizer", Json{{"type", "adamw"}},
                         {{"sgd", "Plain.", {real_field("rate", 0.1, "Rate.")}},
                          {"adamw", "Adaptive.", {real_field("rate", 0.001, "Rate.")}}},
                         "What updates.")};
        const Checked checked = check_fields(Json{{"optimizer", {{"rate", 0.5}}}}, table);
        QVERIFY(checked.ok());
        QCOMPARE(checked.value.dump(), R"({"optimizer":{"type":"adamw","rate":0.5}})");
        // A record without a default must still be named.
        QVERIFY(!check_fields(Json{{"model", Json::object()}}, sample_table()).ok());
    }

    void a_checked_document_checks_to_itself() {
        const Checked once = check_fields(minimal(), sample_table());
        const Checked twice = check_fields(once.value, sample_table());
        QVERIFY(twice.ok());
        QCOMPARE(twice.value.dump(), once.value.dump());
    }

    void given_values_win_and_are_normalised() {
        Json document = minimal();
        document["training"] = {{"batch", 1e3},
                                {"clip", nullptr},
                                {"precision", "fp32"},
                                {"stopping", Json::object()},
                                {"length", {{"tokens", 1000}}}};
        const Checked checked = check_fields(document, sample_table());
        QVERIFY(checked.ok());
        const Json& training = checked.value["training"];
        QVERIFY(training["batch"].is_number_integer());
        QCOMPARE(training["batch"].get<int>(), 1000);
        QVERIFY(training["clip"].is_null());
        QCOMPARE(training["precision"].get<std::string>(), std::string("f32"));
        QCOMPARE(training["stopping"]["patience"].get<int>(), 3);
        QCOMPARE(training["length"].dump(), std::string(R"({"tokens":1000})"));
    }

    void a_schema_link_at_the_root_is_welcome() {
        Json document = minimal();
        document["$schema"] = "weft.schema.json";
        QVERIFY(check_fields(document, sample_table()).ok());
    }

    void fields_are_found_by_path() {
        const FieldTable table = sample_table();
        QCOMPARE(find_field(table, "training.batch")->unit, std::string("samples"));
        QCOMPARE(find_field(table, "training.length.steps")->name, std::string("steps"));
        QCOMPARE(find_field(table, "model.dropout")->maximum, 1.0);
        QCOMPARE(find_field(table, "model.hidden.0")->name, std::string("size"));
        QVERIFY(find_field(table, "training.none") == nullptr);
        QVERIFY(find_field(table, "") == nullptr);
    }

    void overrides_reach_every_kind_of_place() {
        Json document = {{"a", {{"b", 1}}}, {"list", {1, 2}}, {"none", nullptr}};
        const std::pair<const char*, const char*> cases[] = {
            {"a.b=2.5", R"({"a":{"b":2.5},"list":[1,2],"none":null})"},
            {"a.c.d=true", R"({"a":{"b":2.5,"c":{"d":true}},"list":[1,2],"none":null})"},
            {"list.1=x", R"({"a":{"b":2.5,"c":{"d":true}},"list":[1,"x"],"none":null})"},
            {"list.2=[]", R"({"a":{"b":2.5,"c":{"d":true}},"list":[1,"x",[]],"none":null})"},
            {"a=null", R"({"a":null,"list":[1,"x",[]],"none":null})"},
            {"none.k=a=b", R"({"a":null,"list":[1,"x",[]],"none":{"k":"a=b"}})"},
            {"/none/x.y~1z=1", R"({"a":null,"list":[1,"x",[]],"none":{"k":"a=b","x.y/z":1}})"},
        };
        for (const auto& [assignment, expected] : cases) {
            QVERIFY2(apply_override(document, assignment).empty(), assignment);
            QCOMPARE(document.dump(), std::string(expected));
        }
    }

    void the_schema_says_what_the_validator_enforces() {
        const Json schema = json_schema(sample_table(), "Run");
        QCOMPARE(schema["$schema"].get<std::string>(),
                 std::string("https://json-schema.org/draft/2020-12/schema"));
        QCOMPARE(schema["required"].dump(), std::string(R"(["model"])"));
        QVERIFY(!schema["additionalProperties"].get<bool>());
        const Json& training = schema["properties"]["training"]["properties"];
        QCOMPARE(training["batch"]["minimum"].dump(), std::string("1"));
        QCOMPARE(training["batch"]["default"].dump(), std::string("256"));
        QCOMPARE(training["clip"]["anyOf"][0]["exclusiveMinimum"].dump(), std::string("0"));
        QCOMPARE(training["clip"]["anyOf"][1]["type"].get<std::string>(), std::string("null"));
        QCOMPARE(training["precision"]["enum"].dump(), std::string(R"(["f32","bf16","fp32"])"));
        QCOMPARE(training["length"]["maxProperties"].dump(), std::string("1"));
        const Json& models = schema["properties"]["model"]["oneOf"];
        QCOMPARE(models.size(), size_t{2});
        QCOMPARE(models[0]["properties"]["type"]["const"].get<std::string>(), std::string("mlp"));
        QCOMPARE(models[0]["required"].dump(), std::string(R"(["type"])"));
    }

    void a_list_of_a_fixed_length_says_it_in_schema_and_reference() {
        const FieldTable table = {list_field("betas", Json::array({0.9, 0.999}),
                                             real_field("beta", nullptr, "A beta."), "Two of them.")
                                      .exactly(2)};
        const Json betas = json_schema(table, "Run")["properties"]["betas"];
        QCOMPARE(betas["minItems"].dump(), std::string("2"));
        QCOMPARE(betas["maxItems"].dump(), std::string("2"));
        QVERIFY(reference_page(table, "Run").find("list of 2 × number") != std::string::npos);
        QVERIFY(check_fields({{"betas", {0.5, 0.6}}}, table).ok());
        QVERIFY(!check_fields({{"betas", Json::array()}}, table).ok());
    }

    void the_reference_page_has_one_row_per_field() {
        const std::string page = reference_page(sample_table(), "Configuration");
        QVERIFY(page.starts_with("# Configuration\n"));
        for (const char* row :
             {"| `training.batch` | integer | `256` | at least 1 samples | Samples per update. |",
              "| `model` | typed object | *required* |", "## `model`: `mlp`",
              "| `model.dropout` | number | `0.1` | between 0 and 1 | Dropped share. |",
              "| `training.stopping` | object or null | `null` |"}) {
            QVERIFY2(page.find(row) != std::string::npos, row);
        }
    }
};

WEFT_TEST(FieldTest)
#include "field_test.moc"
