// SPDX-License-Identifier: Apache-2.0
// Models that transformers saved: what they compute here, and that they leave as they came.
#include "core/base/file.h"
#include "core/foreign/family_list.h"
#include "core/foreign/write_model.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/foreign/peers.h"

#include <cmath>

namespace {

using namespace weft;
using namespace weft::foreign;
using namespace weft::test;
namespace fs = std::filesystem;

const fs::path kTokenizer = WEFT_SOURCE_DIR "/tests/unit/tokenizer/peers/gpt2.json";

/// A model of ours that has every kind of tensor that its type can have, and its samples.
struct FullModel {
    const char* model;
    data::SampleInfo sample;
};

data::SampleInfo text_samples() {
    data::SampleInfo out;
    out.input = out.target = {ir::DType::i32, {8}};
    out.classes = 16;
    return out;
}

data::SampleInfo image_samples() {
    data::SampleInfo out;
    out.input = {ir::DType::f32, {32, 32, 3}};
    out.target = {ir::DType::i32, {}};
    out.classes = 5;
    return out;
}

std::vector<FullModel> full_models() {
    return {
        {R"({"type": "gpt2", "layers": 2, "width": 8, "heads": 2, "context": 8, "tied": false})",
         text_samples()},
        {R"({"type": "llama", "layers": 2, "width": 8, "heads": 2, "kv_heads": 1, "ffn": 12,
                 "context": 8, "qkv_bias": true})",
         text_samples()},
        {R"({"type": "vit", "layers": 2, "width": 8, "heads": 2, "patch": 8})", image_samples()},
        {R"({"type": "resnet", "depth": 50, "width": 4})", image_samples()},
        {R"({"type": "resnet", "depth": 18, "width": 4})", image_samples()}};
}

std::vector<Tensor> tensors_of(const FullModel& full) {
    const bool text = full.sample.input.dtype == ir::DType::i32;
    const Json document = {
        {"data", {{"train", {{"type", "synthetic"}, {"kind", text ? "tokens" : "images"}}}}},
        {"model", config::json_of(full.model)}};
    return train::start_weights_of(compile::read_run_config(document, ".").config, full.sample);
}

} // namespace

class ForeignTest : public QObject, private test::TestFolder {
    Q_OBJECT

    static void add_peers() {
        QTest::addColumn<QString>("peer");
        for (const char* peer : {"gpt2", "llama", "qwen2", "vit", "resnet"}) {
            QTest::newRow(peer) << QString(peer);
        }
    }

    /// A GPT-2 without weights, and a tokenizer.json.
    fs::path with_tokenizer(const char* name, const std::string& document) {
        const fs::path folder = path(name);
        fs::create_directories(folder);
        fs::copy_file(kPeers / "gpt2" / "config.json", folder / "config.json",
                      fs::copy_options::overwrite_existing);
        write_file_atomically(folder / "tokenizer.json", document);
        return folder;
    }

private slots:
    void a_model_gives_the_logits_that_transformers_gives_data() { add_peers(); }
    void a_model_gives_the_logits_that_transformers_gives() {
        QFETCH(QString, peer);
        const std::string name = peer.toStdString();
        const auto executor = loaded(run_of_peer(name));
        const auto wanted =
            json_in(kPeers / name / "expected.json")["logits"].get<std::vector<double>>();
        const std::vector<float> got = logits_of(*executor);
        QCOMPARE(got.size(), wanted.size());
        const bool image = executor->plan().find("prefill") == nullptr;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double ours = image ? got[i] - got[0] : got[i];
            const double theirs = image ? wanted[i] - wanted[0] : wanted[i];
            QVERIFY2(std::abs(ours - theirs) < kLogitTolerance,
                     qPrintable(QString("%1: %2, transformers %3").arg(i).arg(ours).arg(theirs)));
        }
    }

    void what_came_in_goes_out_bit_for_bit_under_the_same_names_data() { add_peers(); }
    void what_came_in_goes_out_bit_for_bit_under_the_same_names() {
        QFETCH(QString, peer);
        const std::string name = peer.toStdString();
        const compile::RunConfig config = run_of_peer(name);
        const auto executor = loaded(config);
        Arrays ours;
        for (const plan::StateSlot& slot : executor->plan().state_slots) {
            if (slot.category == plan::Category::parameters ||
                slot.name.find("running") != std::string::npos) {
                ours.list.push_back({slot.name, slot.whole, ""});
            }
        }
        std::sort(ours.list.begin(), ours.list.end(),
                  [](const Array& a, const Array& b) { return a.name < b.name; });
        ours.read = [&](const std::string& slot, std::span<std::byte> into) {
            const std::vector<std::byte> bytes = executor->read_slot(slot);
            std::copy(bytes.begin(), bytes.end(), into.begin());
        };
        const Family& family = family_for("huggingface", resolved(config.section("model")));
        QCOMPARE(std::string(family.name), name);
        const fs::path folder = path("out") / name;
        write_huggingface(folder, family, ours, config.section("model"), StoredAs::f32);

        const Arrays wanted = open_weights(kPeers / name);
        const Arrays written = open_weights(folder);
        QCOMPARE(written.list.size(), wanted.list.size());
        for (const Array& array : wanted.list) {
            const Array* other = written.find(array.name);
            QVERIFY2(other != nullptr, array.name.c_str());
            QCOMPARE(other->text, array.text);
            if (!array.name.ends_with("num_batches_tracked")) {
                QVERIFY2(read_array(wanted, array) == read_array(written, *other),
                         array.name.c_str());
            }
        }
        // The configuration tells the same model.
        const ForeignModel before = read_foreign_config(*foreign_config(kPeers / name));
        const ForeignModel after = read_foreign_config(*foreign_config(folder));
        QVERIFY(after.problems.empty());
        QCOMPARE(resolved(after.here.model).dump(), resolved(before.here.model).dump());
    }

    void every_tensor_has_one_name_there_and_every_name_there_is_of_one_tensor() {
        for (const Family* family : kFamilies) {
            const TensorPairs pairs = family->tensors();
            int models = 0;
            std::set<const TensorPair*> used;
            for (const FullModel& full : full_models()) {
                if (config::json_of(full.model).at("type") != family->model) {
                    continue;
                }
                ++models;
                std::set<std::string> theirs;
                for (const Tensor& tensor : tensors_of(full)) {
                    const auto fits =
                        std::count_if(pairs.begin(), pairs.end(), [&](const TensorPair& pair) {
                            return numbers_in(pair.ours, tensor.name).has_value();
                        });
                    QVERIFY2(fits == 1, tensor.name.c_str());
                    const Named named = named_there(pairs, tensor.name);
                    used.insert(named.pair);
                    for (std::size_t i = 0; i < named.theirs.size(); ++i) {
                        QVERIFY2(theirs.insert(named.theirs[i]).second, named.theirs[i].c_str());
                        const auto back = numbers_in(named.pair->theirs[i], named.theirs[i]);
                        QVERIFY(back.has_value());
                        QCOMPARE(with_numbers(named.pair->ours, *back), tensor.name);
                    }
                }
            }
            QVERIFY2(models > 0, std::string(family->help).c_str());
            QCOMPARE(used.size(), pairs.size()); // none is of a tensor that no model has
        }
    }

    void a_tensor_changes_sides_and_comes_back() {
        const ir::Shape shape{2, 3, 4, 5};
        std::vector<float> values(static_cast<std::size_t>(shape.elements()));
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(i);
        }
        const ir::Shape there = shape_there(Layout::convolution, shape);
        QCOMPARE(ir::to_text(there), std::string("[5,4,2,3]"));
        const std::vector<float> turned = to_theirs(Layout::convolution, shape, values);
        // [kh, kw, in, out] = [1, 2, 3, 4] is [out, in, kh, kw] = [4, 3, 1, 2].
        QCOMPARE(turned[((4 * 4 + 3) * 2 + 1) * 3 + 2], values[((1 * 3 + 2) * 4 + 3) * 5 + 4]);
        QCOMPARE(to_ours(Layout::convolution, there, turned), values);
        const std::vector<std::vector<float>> parts = {{0, 1, 2, 3}, {4, 5, 6, 7}}; // [2, 2] each
        const std::vector<float> whole = joined(parts, 2);
        QCOMPARE(whole, (std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7}));
        QCOMPARE(part_of(whole, 2, 1, 2), parts[1]);
    }

    void a_file_of_part_of_a_model_is_told_name_by_name() {
        compile::RunConfig config =
            run_of_peer("gpt2", {"model.layers=3", "model.width=6", "model.tied=false"});
        const train::WarmStart start =
            train::match_start_weights(config, train::start_weights_of(config, text_samples()));
        QVERIFY(!start.match.complete());
        const auto named = [&](Fate fate) {
            std::set<std::string> out;
            for (const MatchRow* row : start.match.of(fate)) {
                out.insert(row->ours);
            }
            return out;
        };
        QVERIFY(named(Fate::missing).contains("blocks.2.mlp.up.weight"));
        QVERIFY(named(Fate::missing).contains("head.weight"));
        QVERIFY(named(Fate::misfit).contains("wte.weight"));
        const std::string table = table_of(start.match);
        QVERIFY2(table.find("mismatched  blocks.*.mlp.down.bias") != std::string::npos,
                 table.c_str());
        QVERIFY2(table.find("(2 times)") != std::string::npos, table.c_str());
        QVERIFY(train::refusal_of(start, true).has_value());
    }

    void settings_that_give_other_numbers_are_told() {
        for (const char* change :
             {"model.heads=2", "model.rope_theta=10000", "model.norm_eps=1e-5"}) {
            const compile::RunConfig config = run_of_peer("llama", {change});
            const train::WarmStart start =
                train::match_start_weights(config, train::start_weights_of(config, text_samples()));
            QVERIFY2(!start.differences.empty(), change);
            const std::string setting =
                std::string(change).substr(0, std::string(change).find('='));
            QVERIFY2(start.differences[0].starts_with(setting), start.differences[0].c_str());
            QVERIFY(train::refusal_of(start, true).has_value());
        }
    }

    void the_tokenizer_beside_a_model_reads_its_texts() {
        const fs::path folder = with_tokenizer("own", read_file(kTokenizer));
        const ForeignModel model = read_foreign_config(folder / "config.json");
        QCOMPARE(model.tokenizer, folder / "tokenizer.json");
        QCOMPARE(tokenizer_problem(model), std::string());
        const Json run = run_of(model, "own", {});
        QCOMPARE(run.at("data").at("tokenizer"), Json((folder / "tokenizer.json").string()));
        QVERIFY(compile::read_run_config(run, folder).ok()); // of made-up tokens
        fs::remove(folder / "tokenizer.json");
        const ForeignModel bare = read_foreign_config(folder / "config.json");
        QVERIFY(bare.tokenizer.empty());
        QVERIFY(!run_of(bare, "own", {}).at("data").contains("tokenizer"));
    }

    void a_tokenizer_that_cannot_be_read_is_told_and_text_is_refused_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("told");
        Json words = json_in(kTokenizer);
        words["pre_tokenizer"] = {{"type", "Metaspace"}};
        QTest::newRow("words") << "tokenizer.json" << QByteArray(words.dump().c_str())
                               << "Metaspace";
        QTest::newRow("SentencePiece")
            << "tokenizer.model" << QByteArray("\x0a\x0e\x0a\x05<unk>\x15", 10)
            << "tokenizer.model";
    }
    void a_tokenizer_that_cannot_be_read_is_told_and_text_is_refused() {
        QFETCH(QString, file);
        QFETCH(QByteArray, content);
        QFETCH(QString, told);
        const fs::path folder = with_tokenizer("strange", "");
        fs::remove(folder / "tokenizer.json");
        write_file_atomically(folder / file.toStdString(), content.toStdString());
        const ForeignModel model = read_foreign_config(folder / "config.json");
        const std::string problem = tokenizer_problem(model);
        QVERIFY2(problem.find(told.toStdString()) != std::string::npos, problem.c_str());
        data::OpenContext opening;
        opening.sequence_length = 8;
        Json data = run_of(model, "strange", {}).at("data");
        QVERIFY(data::outline_data(data, opening).samples > 0); // made up
        data["train"] = {{"type", "text"}, {"path", (kPeers / "gpt2" / "config.json").string()}};
        const auto error = test::error_of([&] { data::outline_data(data, opening); });
        QVERIFY(error && error->kind() == ErrorKind::data);
        QVERIFY2(error->where().find(told.toStdString()) != std::string::npos ||
                     error->text().find(told.toStdString()) != std::string::npos,
                 error->message().c_str());
    }

    void images_need_no_tokenizer() {
        const fs::path folder = with_tokenizer("images", read_file(kTokenizer));
        fs::copy_file(kPeers / "vit" / "config.json", folder / "config.json",
                      fs::copy_options::overwrite_existing);
        QVERIFY(read_foreign_config(folder / "config.json").tokenizer.empty());
    }

    void a_tokenizer_goes_out_byte_for_byte() {
        const Json model = read_foreign_config(kPeers / "gpt2" / "config.json").here.model;
        const fs::path folder = path("written");
        write_tokenizer(folder, read_file(kTokenizer), model);
        QCOMPARE(read_file(folder / "tokenizer.json"), read_file(kTokenizer));
        QCOMPARE(json_in(folder / "tokenizer_config.json").at("model_max_length"),
                 model.at("context"));
    }
};

WEFT_TEST(ForeignTest)
#include "foreign_test.moc"
