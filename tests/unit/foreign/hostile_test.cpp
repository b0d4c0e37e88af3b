// SPDX-License-Identifier: Apache-2.0
// An index and a config.json of a stranger: what is wrong is said, and nothing else is opened.
#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "core/foreign/arrays.h"
#include "core/foreign/describe.h"
#include "core/foreign/family_list.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

namespace {

using namespace weft;
using namespace weft::foreign;
namespace fs = std::filesystem;

void write_shard(const fs::path& file, std::initializer_list<const char*> names) {
    std::vector<checkpoint::ArrayToWrite> arrays;
    for (const char* name : names) {
        arrays.push_back({name, {ir::DType::f32, {2}}, [] { return std::vector<std::byte>(8); }});
    }
    checkpoint::write_safetensors(file, std::move(arrays), {});
}

} // namespace

class HostileForeignTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void an_index_that_is_wrong_is_refused_with_its_name_data() {
        QTest::addColumn<QString>("index");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* name, const char* index, const char* said) {
            QTest::newRow(name) << QString(index) << QString(said);
        };
        row("no JSON", "{", "cannot be read");
        row("no map", R"({"metadata": {}})", "no object 'weight_map'");
        row("a list", R"({"weight_map": ["a"]})", "no object 'weight_map'");
        row("twice", R"({"weight_map": {"a": "one.safetensors", "a": "one.safetensors"}})",
            "cannot be read");
        row("a number", R"({"weight_map": {"a": 1}})", "'a' lies in no file of this folder");
        row("above", R"({"weight_map": {"a": "../one.safetensors"}})", "'../one.safetensors'");
        row("below", R"({"weight_map": {"a": "x/one.safetensors"}})", "'x/one.safetensors'");
        row("absolute", R"({"weight_map": {"a": "/one.safetensors"}})", "'/one.safetensors'");
        row("hidden", R"({"weight_map": {"a": ".safetensors"}})", "'.safetensors'");
        row("another kind", R"({"weight_map": {"a": "one.pickle"}})", "'one.pickle'");
        row("a null", R"({"weight_map": {"a": "one\u0000.safetensors"}})",
            "no file of this folder");
        row("not there", R"({"weight_map": {"a": "three.safetensors"}})",
            "shard three.safetensors is not there");
        row("not in it", R"({"weight_map": {"b": "one.safetensors"}})",
            "'b' is not in its shard one.safetensors");
        row("in two", R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})",
            "'a' is in two shards");
    }

    void an_index_that_is_wrong_is_refused_with_its_name() {
        QFETCH(QString, index);
        QFETCH(QString, said);
        const fs::path folder = path("index");
        fs::create_directories(folder);
        write_shard(folder / "one.safetensors", {"a"});
        write_shard(folder / "two.safetensors", {"a", "b"});
        write_shard(path("one.safetensors"), {"a"}); // where "../" would lead
        std::ofstream(folder / "model.safetensors.index.json") << index.toStdString();
        try {
            open_weights(folder);
            QFAIL("it was opened");
        } catch (const Error& error) {
            QVERIFY2(error.text().find(said.toStdString()) != std::string::npos,
                     error.text().c_str());
            QVERIFY(error.kind() == ErrorKind::checkpoint && !error.hint().empty());
            QVERIFY(error.where().ends_with("index.json"));
        }
    }

    void a_sound_index_gives_the_arrays_of_all_shards() {
        const fs::path folder = path("sound");
        fs::create_directories(folder);
        write_shard(folder / "one.safetensors", {"b", "c"});
        write_shard(folder / "two.safetensors", {"a"});
        std::ofstream(folder / "model.safetensors.index.json")
            << R"({"weight_map": {"a": "two.safetensors", "b": "one.safetensors"}})";
        const Arrays arrays = open_weights(folder);
        QCOMPARE(arrays.list.size(), std::size_t{3});
        QVERIFY(arrays.find("a") != nullptr && arrays.find("c") != nullptr);
        QVERIFY(arrays.find("d") == nullptr);
        QCOMPARE(read_array(arrays, *arrays.find("a")).size(), std::size_t{8});
    }

    void a_configuration_that_cannot_be_had_says_which_member_data() {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("pointer");
        const auto row = [](const char* config, const char* pointer) {
            QTest::newRow(config) << QString(config) << QString(pointer);
        };
        row(R"({"model_type": "bert"})", "/model_type");
        row(R"({"model_type": 7})", "/model_type");
        row(R"({"model_type": "gpt2", "n_layer": "many"})", "/n_layer");
        row(R"({"model_type": "gpt2", "n_layer": -1})", "/n_layer");
        row(R"({"model_type": "gpt2", "n_embd": 1e30})", "/n_embd");
        row(R"({"model_type": "gpt2", "n_embd": 18446744073709551615})", "/n_embd");
        row(R"({"model_type": "gpt2", "n_inner": 10})", "/n_inner");
        row(R"({"model_type": "gpt2", "activation_function": "relu"})", "/activation_function");
        row(R"({"model_type": "gpt2", "tie_word_embeddings": 1})", "/tie_word_embeddings");
        row(R"({"model_type": "llama"})", "/hidden_size");
        row(R"({"model_type": "llama", "num_attention_heads": 0})", "/hidden_size");
        row(R"({"model_type": "llama", "rope_scaling": "x"})", "/rope_scaling");
        row(R"({"model_type": "vit", "id2label": [1]})", "/id2label");
        row(R"({"model_type": "vit", "qkv_bias": false})", "/qkv_bias");
        row(R"({"model_type": "resnet", "depths": [1]})", "/depths");
        row(R"({"model_type": "resnet", "depths": [2, -2, 2, 2]})", "/depths");
        row(R"({"model_type": "resnet", "hidden_sizes": [1, 2, 3, 4]})", "/hidden_sizes");
    }

    void a_configuration_that_cannot_be_had_says_which_member() {
        QFETCH(QString, config);
        QFETCH(QString, pointer);
        std::ofstream(path("config.json")) << config.toStdString();
        const auto found = foreign_config(path("config.json"));
        QVERIFY(found.has_value());
        const ForeignModel model = read_foreign_config(*found);
        QVERIFY(config::has_errors(model.problems));
        QVERIFY(std::any_of(model.problems.begin(), model.problems.end(), [&](const auto& one) {
            return one.pointer == pointer.toStdString() && !one.message.empty();
        }));
    }

    void a_configuration_of_ours_is_not_taken_for_somebody_elses() {
        std::ofstream(path("config.json"))
            << R"({"data": {}, "model": {"type": "gpt2"}, "model_type": "gpt2"})";
        QVERIFY(!foreign_config(path("config.json")));
        std::ofstream(path("other.json")) << R"({"model": {"type": "gpt2"}})";
        QVERIFY(!foreign_config(path("other.json")));
        QVERIFY(!foreign_config(path("absent")));
    }

    void a_model_that_a_family_cannot_hold_is_refused_with_the_reason() {
        const auto refused = [](const char* as, const char* model) {
            try {
                family_for(as, resolved(config::json_of(model)));
            } catch (const Error& error) {
                return error.text();
            }
            return std::string();
        };
        QVERIFY(refused("huggingface", R"({"type": "mlp", "hidden": [4]})").find("mlp") !=
                std::string::npos);
        QVERIFY(refused("huggingface", R"({"type": "gpt2", "experts": 4})").find("experts") !=
                std::string::npos);
        QVERIFY(refused("huggingface", R"({"type": "resnet", "stem": "cifar"})").find("stem") !=
                std::string::npos);
        QVERIFY(!refused("torchvision", R"({"type": "vit"})").empty());
        QCOMPARE(refused("huggingface", R"({"type": "llama"})"), std::string());
        QCOMPARE(std::string(
                     family_for("huggingface",
                                resolved(config::json_of(R"({"type": "llama", "qkv_bias": true})")))
                         .name),
                 std::string("qwen2"));
    }
};

WEFT_TEST(HostileForeignTest)
#include "hostile_test.moc"
