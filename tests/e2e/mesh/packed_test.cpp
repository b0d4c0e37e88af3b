// SPDX-License-Identifier: Apache-2.0
// Conversations packed into one window are learnt as each in a window of its own is, on one device
// and on meshes.
#include "core/config/field.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

using namespace weft;
using namespace weft::test;

namespace {

constexpr int kConversations = 40;
constexpr std::int64_t kContext = 48;

/// From 8 to 47 bytes each.
void write_conversations(const std::filesystem::path& to) {
    std::ofstream file(to);
    for (int i = 0; i < kConversations; ++i) {
        const std::string asked(static_cast<std::size_t>(1 + i * 7 % 20),
                                static_cast<char>('a' + i % 20));
        const std::string said(static_cast<std::size_t>(1 + i * 11 % 17),
                               static_cast<char>('k' + i % 13));
        file << config::Json{{"prompt", asked}, {"completion", said + "."}}.dump() << "\n";
    }
}

std::string document(const std::filesystem::path& file, const char* model) {
    config::Json out = config::json_of(R"({
  "data": {"train": {"type": "chat", "template": "own",
                     "own": {"user": "Q {content}? ", "assistant": "{content}"}},
           "validation": null},
  "metrics": [],
  "optimizer": {"type": "adamw", "learning_rate": 0.003},
  "lr_schedule": {"type": "constant"},
  "training": {"precision": "f32", "length": {"steps": 100}}})");
    out["data"]["train"]["path"] = file.string();
    out["model"] = config::json_of(model);
    out["model"]["context"] = kContext;
    return out.dump();
}

constexpr const char* kGpt2 =
    R"({"type": "gpt2", "layers": 2, "width": 24, "heads": 4, "dropout": 0})";
constexpr const char* kLlama = R"({"type": "llama", "layers": 2, "width": 24, "heads": 6,
                                   "kv_heads": 2, "ffn": 40})";

} // namespace

class PackedMeshTest : public QObject, private TestFolder {
    Q_OBJECT

    std::vector<double> losses(const char* model, Overrides overrides, int batch) const {
        overrides.push_back("training.global_batch_size=" + std::to_string(batch));
        return run_mesh(mesh_config(document(path("chat.jsonl"), model), overrides)).losses;
    }
    std::int64_t windows() const {
        const compile::RunConfig config =
            mesh_config(document(path("chat.jsonl"), kGpt2),
                        {"data.train.pack=true", "training.global_batch_size=1"});
        return train::open_run_data(config).train->samples();
    }

private slots:
    void initTestCase() { write_conversations(path("chat.jsonl")); }

    // Every step sees every conversation, so that losses differ in the order of sums alone; from
    // the second on they show the gradients.
    void packed_is_learnt_as_apart_data() {
        QTest::addColumn<QByteArray>("model");
        QTest::addRow("gpt2") << QByteArray(kGpt2);
        QTest::addRow("llama") << QByteArray(kLlama);
    }
    void packed_is_learnt_as_apart() {
        QFETCH(QByteArray, model);
        const auto packed = static_cast<int>(windows());
        QVERIFY2(packed < kConversations * 3 / 4, std::to_string(packed).c_str());
        const std::vector<double> apart = losses(model, {}, kConversations);
        const double off = losses_apart(apart, losses(model, {"data.train.pack=true"}, packed));
        QVERIFY2(off < 2e-5, std::to_string(off).c_str());
        QVERIFY(apart.back() < 0.9 * apart.front());
    }

    void every_strategy_learns_packed_samples_as_one_device_data() {
        QTest::addColumn<int>("variant");
        for (std::size_t i = 0; i < variants().size(); ++i) {
            if (!QByteArray(variants()[i].name).contains("expert")) {
                QTest::addRow("%s", variants()[i].name) << static_cast<int>(i);
            }
        }
    }
    void every_strategy_learns_packed_samples_as_one_device() {
        QFETCH(int, variant);
        const Overrides both = {"data.train.pack=true", "model.dropout=0.1"};
        static const std::vector<double> one = losses(kGpt2, both, 8);
        Overrides several = variants()[static_cast<std::size_t>(variant)].overrides;
        several.insert(several.end(), both.begin(), both.end());
        const double off = losses_apart(one, losses(kGpt2, several, 8));
        QVERIFY2(off < 2e-5, std::to_string(off).c_str());
    }
};

WEFT_TEST(PackedMeshTest)
#include "packed_test.moc"
