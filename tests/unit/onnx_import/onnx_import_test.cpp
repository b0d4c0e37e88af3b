// SPDX-License-Identifier: Apache-2.0
// ONNX files of PyTorch's exporters as model text, and files that no exporter writes. The models
// are those of tests/e2e/foreign/onnx_models.py, which wrote the files; that they train as
// PyTorch's do is asked of PyTorch: tests/e2e/foreign/onnx_import_test.py.
#include "core/base/file.h"
#include "core/foreign/onnx.h"
#include "core/nn/models/graph_text.h"
#include "core/onnx_import/to_model_text.h"
#include "tests/support/weft_test.h"
#include "tests/unit/onnx_import/onnx_folder.h"

using namespace weft;
using namespace weft::onnx_import;
using namespace weft::test;

namespace fs = std::filesystem;

class OnnxImportTest : public QObject, private test::OnnxFolder {
    Q_OBJECT

    /// y = x W with two weights that lie in another file.
    std::string outside(const std::string& location) const {
        Writer place;
        place.add_bytes(1, "location");
        place.add_bytes(2, location);
        Writer weight = tensor("w", {2, 2}, "");
        weight.add(13, place);
        weight.add_integer(14, 1);
        const fs::path file = written({{node("MatMul", {"x", "w"}, "y")}, {weight}});
        const auto error = test::error_of([&] { to_model_text(*read_onnx(file)); });
        return error ? error->message() : "";
    }

private slots:
    void models_of_pytorch_become_text_with_every_weight_data() {
        QTest::addColumn<int>("states");
        QTest::addColumn<int>("statistics");
        // As many as PyTorch's state_dict has, without its counters of batches and tied copies.
        QTest::newRow("mlp-script") << 8 << 0;
        QTest::newRow("mlp-dynamo") << 8 << 0;
        QTest::newRow("cnn-script") << 13 << 4;
        QTest::newRow("cnn-dynamo") << 13 << 4;
        QTest::newRow("gpt2-script") << 28 << 0;
        QTest::newRow("vit-script") << 32 << 0;
    }

    void models_of_pytorch_become_text_with_every_weight() {
        QFETCH(int, states);
        QFETCH(int, statistics);
        const fs::path file =
            fs::path(WEFT_ONNX_MODELS) / (std::string(QTest::currentDataTag()) + ".onnx");
        const foreign::ForeignModel model = foreign::read_onnx_model(file);
        QVERIFY2(model.problems.empty(),
                 model.problems.empty() ? "" : model.problems[0].message.c_str());
        const ir::ModelText text =
            ir::read_model_text(model.here.model.at("text").get<std::string>(), 4);
        nn::check_model_text(text);
        const foreign::Arrays arrays = foreign::open_onnx(file);
        int seen = 0;
        int kept = 0;
        for (const ir::WrittenPort& one : text.arguments) {
            if (one.role == ir::Role::state) {
                const foreign::Array* there = arrays.find(one.name);
                QVERIFY2(there != nullptr && there->type == one.value.type, one.name.c_str());
                ++seen;
                kept += nn::start_of(one).trained ? 0 : 1;
            }
        }
        QCOMPARE(seen, states);
        QCOMPARE(kept, statistics);
    }

    void sums_and_places_of_constants_are_numbers() {
        // The operators' specification: CumSum of [[1, 2], [3, 5]] down its rows, and two elements.
        const auto of_wholes = [](std::vector<Writer> nodes, std::vector<Writer> tensors) {
            nodes.push_back(node("CastLike", {"g", "one"}, "c"));
            tensors.push_back(numbers("one", {1}, {1}));
            return GraphParts{std::move(nodes), std::move(tensors)};
        };
        const GraphParts sums =
            of_wholes({node("CumSum", {"t", "axis"}, "s"), node("GatherND", {"s", "at"}, "g")},
                      {wholes("t", {2, 2}, {1, 2, 3, 5}), wholes("axis", {}, {0}),
                       wholes("at", {2, 2}, {1, 0, -1, -1})});
        QCOMPARE(added(sums), (std::vector<double>{4, 7}));
        const GraphParts row =
            of_wholes({node("GatherND", {"t", "at"}, "g")},
                      {wholes("t", {2, 2}, {1, 2, 3, 5}), wholes("at", {1}, {1})});
        QCOMPARE(added(row), (std::vector<double>{3, 5}));
        const std::string outside =
            refused(of_wholes({node("GatherND", {"t", "at"}, "g"), node("Add", {"x", "c"}, "y")},
                              {wholes("t", {2, 2}, {1, 2, 3, 5}), wholes("at", {1}, {2})}));
        QVERIFY2(outside.find("index 2 is outside of 2") != outside.npos, outside.c_str());
    }

    void a_choice_that_is_known_before_a_run_leaves_no_op() {
        const fs::path file =
            written({{node("Softmax", {"x"}, "s"), node("IsNaN", {"s"}, "n"),
                      node("Where", {"n", "zero", "s"}, "z"), node("MatMul", {"z", "w"}, "y")},
                     {numbers("zero", {1}, {0}), numbers("w", {2, 2}, {1, 2, 3, 4})}});
        const auto text = ir::read_model_text(to_model_text(*read_onnx(file)).text, 4);
        QCOMPARE(text.ops.size(), std::size_t{2});
        QCOMPARE(text.ops[1].kind, std::string("matmul"));
    }

    void a_mask_of_whole_rows_is_refused() {
        const float hidden = -std::numeric_limits<float>::infinity();
        const std::string text = refused(
            {{node("Add", {"x", "m"}, "y")}, {numbers("m", {2, 2}, {0, hidden, hidden, hidden})}});
        QVERIFY2(text.find("hides whole rows") != text.npos, text.c_str());
    }

    void tokens_of_any_number_of_positions_need_one() {
        const StoredPort open{"tokens", 7, {-1, -1}};
        StoredModel model;
        model.inputs = {open};
        model.outputs = {{"y", 1, {}}};
        model.initializers = {};
        const auto error = test::error_of([&] { to_model_text(model); });
        QVERIFY(error && error->message().find("set model.context") != std::string::npos);
        const auto other = [&] {
            model.inputs[0].shape[1] = 16;
            to_model_text(model, 12);
        };
        const auto unlike = test::error_of(other);
        QVERIFY(unlike && unlike->message().find("takes 16 positions; model.context is 12") !=
                              std::string::npos);
    }

    void everything_without_a_translation_is_listed_with_its_place() {
        const std::string text = refused(
            {{node("Bernoulli", {"x"}, "a"), node("Relu", {"a"}, "b"), node("NonZero", {"b"}, "c"),
              node("Erf", {"x"}, "d"), node("Add", {"c", "d"}, "y")},
             {}});
        QVERIFY2(text.find("Bernoulli at 'the Bernoulli'") != text.npos, text.c_str());
        QVERIFY2(text.find("NonZero at 'the NonZero'") != text.npos, text.c_str());
        QVERIFY2(text.find("Erf at 'the Erf'") != text.npos, text.c_str());
        QVERIFY2(text.find("Relu") == text.npos, text.c_str());
    }

    void a_graph_that_cannot_be_is_refused() {
        const std::string circle = refused(
            {{node("Relu", {"b"}, "a"), node("Relu", {"a"}, "b"), node("Add", {"x", "b"}, "y")},
             {}});
        QVERIFY2(circle.find("circle") != circle.npos, circle.c_str());
        const std::string missing = refused({{node("MatMul", {"x", "w"}, "y")}, {}});
        QVERIFY2(missing.find("'w', which nothing makes") != missing.npos, missing.c_str());
        const std::string negative =
            refused({{node("MatMul", {"x", "w"}, "y")}, {tensor("w", {2, -2}, "")}});
        QVERIFY2(negative.find("negative extent") != negative.npos, negative.c_str());
        const std::string huge = refused({{node("MatMul", {"x", "w"}, "y")},
                                          {tensor("w", {std::int64_t{1} << 40, 1 << 30}, "")}});
        QVERIFY2(huge.find("more elements than can be counted") != huge.npos, huge.c_str());
        const std::string large =
            refused({{node("MatMul", {"x", "w"}, "y")}, {tensor("w", {1 << 20, 1 << 20}, "")}});
        QVERIFY(!large.empty()); // 4 TiB that the file does not hold are never allocated
        const std::string old = refused({{node("Relu", {"x"}, "y")}, {}, 9});
        QVERIFY2(old.find("of set 9") != old.npos, old.c_str());
        const std::string symbolic = refused({{node("Relu", {"x"}, "y")}, {}, 17, 0});
        QVERIFY2(symbolic.find("has no number") != symbolic.npos, symbolic.c_str());
    }

    void other_files_are_opened_beside_the_model_alone() {
        std::ofstream(path("w.bin"), std::ios::binary) << std::string(16, '\0');
        QCOMPARE(outside("w.bin"), std::string());
        for (const char* elsewhere : {"../w.bin", "/etc/passwd", "a/../../w.bin"}) {
            const std::string text = outside(elsewhere);
            QVERIFY2(text.find("outside the folder") != text.npos, text.c_str());
        }
        fs::create_symlink("/etc/passwd", path("link.bin"));
        QVERIFY(outside("link.bin").find("outside the folder") != std::string::npos);
        QVERIFY(outside("none.bin").find("not there") != std::string::npos);
        QVERIFY(outside("none.bin").find("put the file beside the model") != std::string::npos);
    }

    void a_file_cut_anywhere_is_refused_or_read() {
        const std::string whole = read_file(fs::path(WEFT_ONNX_MODELS) / "mlp-script.onnx");
        int refusals = 0;
        for (std::size_t length = 0; length < whole.size(); length += 7) {
            std::ofstream(path("cut.onnx"), std::ios::binary) << whole.substr(0, length);
            const auto error = test::error_of([&] { to_model_text(*read_onnx(path("cut.onnx"))); });
            refusals += error ? 1 : 0;
        }
        QCOMPARE(refusals, static_cast<int>((whole.size() + 6) / 7));
    }

    void damaged_files_never_do_harm() {
        const std::string whole = read_file(fs::path(WEFT_ONNX_MODELS) / "gpt2-script.onnx");
        for (unsigned seed = 1; seed <= 300; ++seed) {
            std::string text = whole;
            for (unsigned i = 0; i < 4; ++i) { // mostly among the nodes, which stand first
                text[(seed * 7919U + i * 104729U) % (i < 3 ? 15000U : text.size())] ^=
                    static_cast<char>(1U << (seed + i) % 8);
            }
            std::ofstream(path("hurt.onnx"), std::ios::binary) << text;
            foreign::read_onnx_model(path("hurt.onnx")); // a problem or a model, never a fault
        }
    }
};

WEFT_TEST(OnnxImportTest)
#include "onnx_import_test.moc"
