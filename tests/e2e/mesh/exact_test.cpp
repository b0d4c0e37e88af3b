// SPDX-License-Identifier: Apache-2.0
// Every strategy is exact: twenty losses on simulated devices equal those of one device that takes
// the same microbatches, with dropout, batch norm over all devices, clipping and weight decay.
#include "core/base/error.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>

using namespace weft;
using namespace weft::test;

namespace {

// f32 sums in another order, over twenty updates of a model that does not diverge.
constexpr double kLossTolerance = 1e-5;

const char* model_named(const QString& name) {
    return name == "mlp"               ? kMlp
           : name == "cnn"             ? kCnn
           : name == "moe"             ? kMoe
           : name == "vae"             ? kVae
           : name == "gan"             ? kGan
           : name == "flow"            ? kFlow
           : name == "image layers"    ? kImageLayers
           : name == "sequence layers" ? kSequenceLayers
                                       : kGpt;
}

/// Models that no pipeline parts: those that make samples have no numbered layers on the way
/// through them, and recurrent layers are loops.
bool is_one_part(const char* model) {
    return model == kVae || model == kGan || model == kFlow || model == kSequenceLayers;
}

bool parts_layers(const Variant& variant) {
    return std::any_of(variant.overrides.begin(), variant.overrides.end(),
                       [](const std::string& one) {
                           return one == "mesh.strategy=pipeline" || one == "mesh.strategy=3d";
                       });
}

/// Losses of one device, by model and settings.
const std::vector<double>& one_device(const char* model, const Overrides& overrides = {}) {
    static std::map<std::string, std::vector<double>> known;
    std::string key = model;
    for (const std::string& text : overrides) {
        key += text;
    }
    const auto [found, is_new] = known.try_emplace(key);
    if (is_new) {
        found->second = run_mesh(mesh_config(model, overrides)).losses;
    }
    return found->second;
}

Overrides texts(const QStringList& list) {
    Overrides out;
    for (const QString& text : list) {
        out.push_back(text.toStdString());
    }
    return out;
}

std::string off_by(const char* model, const Overrides& mesh, const Overrides& both = {},
                   const Overrides& one = {}) {
    Overrides several = both;
    several.insert(several.end(), mesh.begin(), mesh.end());
    Overrides single = both;
    single.insert(single.end(), one.begin(), one.end());
    const double off =
        losses_apart(one_device(model, single), run_mesh(mesh_config(model, several)).losses);
    return off <= kLossTolerance ? "" : "off by " + std::to_string(off);
}

} // namespace

class ExactMeshTest : public QObject {
    Q_OBJECT
private slots:
    void every_strategy_has_the_losses_of_one_device_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("variant");
        for (const char* model : {"mlp", "cnn", "gpt", "moe", "vae", "gan", "flow", "image layers",
                                  "sequence layers"}) {
            for (std::size_t i = 0; i < variants().size(); ++i) {
                if (is_one_part(model_named(model)) && parts_layers(variants()[i])) {
                    continue;
                }
                QTest::addRow("%s, %s", model, variants()[i].name) << model << static_cast<int>(i);
            }
        }
    }

    void every_strategy_has_the_losses_of_one_device() {
        QFETCH(QString, model);
        QFETCH(int, variant);
        const std::string wrong =
            off_by(model_named(model), variants()[static_cast<std::size_t>(variant)].overrides);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void every_strategy_in_f16_skips_and_learns_as_one_device_data() {
        every_strategy_has_the_losses_of_one_device_data();
    }

    // Some sums have parts that are rounded to 11 bits each: losses near 2 differ by a few units of
    // 2^-10. The first two updates overflow by far; then the scale is 5,000, by which none does.
    void every_strategy_in_f16_skips_and_learns_as_one_device() {
        QFETCH(QString, model);
        QFETCH(int, variant);
        const Overrides f16 = {"training.precision=f16", "training.loss_scale.initial=1e30",
                               "training.loss_scale.maximum=1e30",
                               "training.loss_scale.backoff=5e-27"};
        static std::map<QString, MeshRun> known;
        const auto [one, is_new] = known.try_emplace(model);
        if (is_new) {
            one->second = run_mesh(mesh_config(model_named(model), f16));
        }
        Overrides overrides = variants()[static_cast<std::size_t>(variant)].overrides;
        overrides.insert(overrides.end(), f16.begin(), f16.end());
        const MeshRun several = run_mesh(mesh_config(model_named(model), overrides));
        std::vector<std::int64_t> skipped(20, 2);
        skipped.front() = 1;
        QCOMPARE(one->second.skipped, skipped);
        QCOMPARE(several.skipped, skipped);
        const double off = losses_apart(one->second.losses, several.losses);
        // A penalty on slopes is differentiated again, and rounds as often.
        QVERIFY2(off < (model == "gan" ? 2e-2 : 5e-3), std::to_string(off).c_str());
    }

    void optimizers_that_look_at_whole_parameters_are_exact_data() {
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<int>("variant");
        for (const char* optimizer : {R"({"type": "lamb", "learning_rate": 0.01})",
                                      R"({"type": "adafactor", "weight_decay": 0.1})",
                                      R"({"type": "adamw_8bit", "full_below": 0})",
                                      R"({"type": "schedule_free", "weight_decay": 0.1})",
                                      R"({"type": "adamw", "learning_rate": 0.001,
                  "groups": [{"match": "*.weight", "type": "muon", "learning_rate": 0.02}]})"}) {
            for (std::size_t i = 0; i < variants().size(); ++i) {
                QTest::addRow("%s, %s", optimizer, variants()[i].name)
                    << optimizer << static_cast<int>(i);
            }
        }
    }
    void optimizers_that_look_at_whole_parameters_are_exact() {
        QFETCH(QString, optimizer);
        QFETCH(int, variant);
        const std::string wrong =
            off_by(kMlp, variants()[static_cast<std::size_t>(variant)].overrides,
                   {"optimizer=" + optimizer.toStdString()});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_batch_that_does_not_divide_is_padded_exactly() {
        for (const char* strategy : {"data_parallel", "fsdp", "2d"}) {
            const std::string wrong =
                off_by(kMlp, {"mesh.devices=cpu:4", std::string("mesh.strategy=") + strategy},
                       {"training.global_batch_size=30"});
            QVERIFY2(wrong.empty(), (std::string(strategy) + " " + wrong).c_str());
        }
    }

    void a_vocabulary_that_does_not_divide_is_padded_exactly() {
        const std::string wrong =
            off_by(kGpt, {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"},
                   {"model.vocab=257", "loss.label_smoothing=0.1"});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void heads_that_do_not_divide_are_padded_exactly() {
        const std::string wrong = off_by(
            kGpt, {"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel"}, {"model.heads=6"});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void pipelines_have_the_losses_of_one_device_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("mesh");
        const std::pair<const char*, const char*> rows[] = {
            {"1F1B on 2", "mesh.devices=cpu:2"},
            {"GPipe on 2", "mesh.devices=cpu:2 mesh.pipeline.schedule=gpipe"},
            {"zero bubble on 2", "mesh.devices=cpu:2 mesh.pipeline.schedule=zero_bubble_h1"},
            {"1F1B on 4", "mesh.devices=cpu:4"},
            {"zero bubble on 4", "mesh.devices=cpu:4 mesh.pipeline.schedule=zero_bubble_h1"},
            {"two chunks on 2", "mesh.devices=cpu:2 mesh.pipeline.schedule=interleaved_1f1b"},
            {"1 and 4 layers", "mesh.devices=cpu:2 mesh.pipeline.stages=[1,4]"},
            {"ZeRO 3 on 2 x 2",
             "mesh.devices=cpu:4 mesh.zero_stage=3 mesh.axes=[[\"data\",2],[\"pipeline\",2]]"},
            {"3d on 2 x 2 x 2", "mesh.devices=cpu:8"},
            {"3d on 2 x 2 x 2, chunks",
             "mesh.devices=cpu:8 mesh.zero_stage=2 mesh.pipeline.schedule=interleaved_1f1b"}};
        for (const char* model : {"mlp", "cnn", "gpt"}) {
            for (const auto& [name, mesh] : rows) {
                const bool chosen = std::string_view(name) == "1 and 4 layers";
                if (model == std::string_view("gpt") || !chosen) {
                    QTest::addRow("%s, %s", model, name) << model << mesh;
                }
            }
        }
    }

    // Five layers, so that stages are uneven; GPT's embedding is tied to its head, so that it is on
    // the first stage and read by the last.
    void pipelines_have_the_losses_of_one_device() {
        QFETCH(QString, model);
        QFETCH(QString, mesh);
        Overrides overrides;
        for (const QString& word : mesh.split(' ')) {
            overrides.push_back(word.toStdString());
        }
        const bool data = mesh.contains("cpu:8") || mesh.contains("data");
        overrides.push_back(data ? "mesh.strategy=3d" : "mesh.strategy=pipeline");
        // The same microbatches: those of several data ranks together are one device's.
        overrides.push_back(data ? "training.micro_batch_size=2" : "training.micro_batch_size=4");
        Overrides both = {"training.global_batch_size=16"};
        if (model == "mlp") {
            both.emplace_back("model.hidden=[24,20,20,16]");
        } else if (model == "gpt") {
            both.emplace_back("model.layers=5");
        }
        const std::string wrong =
            off_by(model_named(model), overrides, both, {"training.micro_batch_size=4"});
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void low_rank_factors_have_the_losses_of_one_device_data() {
        QTest::addColumn<QString>("mesh");
        for (const Variant& variant : variants()) {
            QStringList words;
            for (const std::string& text : variant.overrides) {
                words << QString::fromStdString(text);
            }
            QTest::newRow(variant.name) << words.join(' ');
        }
    }

    // The factors are split with their layer: one of them holds a share, and what passes between
    // them is a sum over devices where the layer's own product is one. Adam would divide gradients
    // of nothing but rounding by their size.
    void low_rank_factors_have_the_losses_of_one_device() {
        QFETCH(QString, mesh);
        const std::string sgd = R"(optimizer={"type":"sgd","learning_rate":0.3,"momentum":0})";
        const Overrides both = {R"(init.lora={"rank":3,"alpha":12,"dropout":0.1})", sgd};
        const double learned = losses_apart(
            one_device(kGpt, both),
            one_device(kGpt, {R"(init.lora={"rank":3,"alpha":1e-6,"dropout":0.1})", sgd}));
        QVERIFY2(learned > 100 * kLossTolerance, std::to_string(learned).c_str());
        const std::string wrong = off_by(kGpt, texts(mesh.split(' ')), both);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void a_schedule_of_ones_own_is_run() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("own.txt").toStdString();
        std::ofstream(path) << "schedule depth_first\nmicrobatches 4\n"
                               "stage 0: F0 F1 I0 W0 F2 B1 F3 B2 B3\n"
                               "stage 1: F0 I0 F1 W0 B1 F2 B2 F3 I3 W3\n";
        const Overrides mesh = {"mesh.devices=cpu:2", "mesh.strategy=pipeline",
                                "mesh.pipeline.file=" + path};
        const Overrides micro = {"training.micro_batch_size=4"};
        const std::string wrong = off_by(kGpt, mesh, micro);
        QVERIFY2(wrong.empty(), wrong.c_str());
        Overrides all = mesh;
        all.push_back(micro.front());
        QCOMPARE(mesh_plan(mesh_config(kGpt, all))->pipeline->actions[1][3], std::string("W0"));
    }

    void accumulated_microbatches_are_those_of_one_device() {
        for (const char* strategy :
             {"mesh.zero_stage=0", "mesh.zero_stage=1", "mesh.zero_stage=2", "mesh.zero_stage=3"}) {
            const std::string wrong =
                off_by(kMlp, {"mesh.devices=cpu:4", strategy, "training.micro_batch_size=4"}, {},
                       {"training.micro_batch_size=16"});
            QVERIFY2(wrong.empty(), (std::string(strategy) + " " + wrong).c_str());
        }
    }

    void grouped_heads_of_llama_are_shared_exactly() {
        const std::string llama =
            R"(model={"type":"llama","layers":2,"width":24,"heads":4,"kv_heads":2,"context":12})";
        for (const char* devices : {"mesh.devices=cpu:2", "mesh.devices=cpu:4"}) {
            const std::string wrong =
                off_by(kGpt, {devices, "mesh.strategy=tensor_parallel"}, {llama});
            QVERIFY2(wrong.empty(), (std::string(devices) + " " + wrong).c_str());
        }
    }

    void experts_are_exact_on_every_mesh_data() {
        QTest::addColumn<QStringList>("mesh");
        QTest::addColumn<QStringList>("both");
        const QString strategy = "mesh.strategy=expert_parallel";
        QTest::newRow("one expert each")
            << QStringList{"mesh.devices=cpu:4", strategy} << QStringList{};
        QTest::newRow("with a model axis") << QStringList{"mesh.devices=cpu:4", strategy,
                                                          R"(mesh.axes=[["expert",2],["model",2]])"}
                                           << QStringList{};
        QTest::newRow("data, experts and model, all state split")
            << QStringList{"mesh.devices=cpu:8", strategy, "mesh.zero_stage=3",
                           R"(mesh.axes=[["data",2],["expert",2],["model",2]])"}
            << QStringList{};
        QTest::newRow("experts before data")
            << QStringList{"mesh.devices=cpu:4", strategy, R"(mesh.axes=[["expert",2],["data",2]])"}
            << QStringList{"training.recompute=blocks"};
        QTest::newRow("experts that are padded")
            << QStringList{"mesh.devices=cpu:4", strategy}
            << QStringList{"model.experts=6", "model.experts_per_token=1"};
        QTest::newRow("samples that are padded")
            << QStringList{"mesh.devices=cpu:4", strategy, R"(mesh.axes=[["data",2],["expert",2]])"}
            << QStringList{"training.global_batch_size=14"};
        QTest::newRow("samples that do not divide over the data axis")
            << QStringList{"mesh.devices=cpu:4", strategy, R"(mesh.axes=[["data",2],["expert",2]])"}
            << QStringList{"training.global_batch_size=15"};
        QTest::newRow("no token dropped, gated experts")
            << QStringList{"mesh.devices=cpu:2", strategy}
            << QStringList{R"(model={"type":"llama","layers":2,"width":24,"heads":4,"kv_heads":2,)"
                           R"("context":12,"ffn":16,"experts":4,"expert_capacity":null})"};
        QTest::newRow("experts on an axis that does not split the batch")
            << QStringList{"mesh.devices=cpu:2", "mesh.strategy=custom",
                           R"(mesh.axes=[["expert",2]])", R"(mesh.rules=[["expert","expert"]])"}
            << QStringList{};
        QTest::newRow("stages of experts")
            << QStringList{"mesh.devices=cpu:4", strategy, "training.micro_batch_size=4",
                           R"(mesh.axes=[["pipeline",2],["expert",2]])",
                           R"(mesh.rules=[["layers","pipeline"]])"}
            << QStringList{};
        QTest::newRow("positions split, experts whole")
            << QStringList{"mesh.devices=cpu:2", "mesh.strategy=context_parallel"} << QStringList{};
        QTest::newRow("experts and positions split")
            << QStringList{"mesh.devices=cpu:4", strategy,
                           R"(mesh.axes=[["context",2],["expert",2]])",
                           R"(mesh.rules=[["sequence","context"]])"}
            << QStringList{};
    }

    void experts_are_exact_on_every_mesh() {
        QFETCH(QStringList, mesh);
        QFETCH(QStringList, both);
        const std::string wrong = off_by(kMoe, texts(mesh), texts(both));
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    // T = 12 on five devices leaves padding, and one device with nothing else.
    void ring_attention_is_exact_on_every_mesh_data() {
        QTest::addColumn<QStringList>("mesh");
        QTest::addColumn<QStringList>("both");
        const QString strategy = "mesh.strategy=context_parallel";
        const QString llama =
            R"(model={"type":"llama","layers":2,"width":24,"heads":4,"kv_heads":2,"context":12})";
        for (const int devices : {3, 4, 5}) {
            const QString mesh = "mesh.devices=cpu:" + QString::number(devices);
            QTest::addRow("%d devices", devices) << QStringList{mesh, strategy} << QStringList{};
            QTest::addRow("%d devices without dropout", devices)
                << QStringList{mesh, strategy} << QStringList{"model.dropout=0"};
            QTest::addRow("%d devices, grouped heads and rotary positions", devices)
                << QStringList{mesh, strategy} << QStringList{llama};
        }
        QTest::newRow("data and context, all state split")
            << QStringList{"mesh.devices=cpu:4", strategy, "mesh.zero_stage=3",
                           R"(mesh.axes=[["data",2],["context",2]])"}
            << QStringList{"training.recompute=blocks"};
        for (const int stage : {1, 2, 3}) {
            QTest::addRow("ZeRO %d over the context", stage)
                << QStringList{"mesh.devices=cpu:4", strategy,
                               "mesh.zero_stage=" + QString::number(stage)}
                << QStringList{};
        }
        QTest::newRow("context and model")
            << QStringList{"mesh.devices=cpu:4", strategy,
                           R"(mesh.axes=[["context",2],["model",2]])",
                           R"(mesh.rules=[["heads","model"],["kv_heads","model"],["mlp","model"]])"}
            << QStringList{llama};
        QTest::newRow("positions over two axes")
            << QStringList{"mesh.devices=cpu:4", "mesh.strategy=custom",
                           R"(mesh.axes=[["a",2],["b",2]])",
                           R"(mesh.rules=[["sequence",["b","a"]]])"}
            << QStringList{};
    }

    void ring_attention_is_exact_on_every_mesh() {
        QFETCH(QStringList, mesh);
        QFETCH(QStringList, both);
        const std::string wrong = off_by(kGpt, texts(mesh), texts(both));
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void sequences_split_over_the_model_axis_are_exact_data() {
        QTest::addColumn<QStringList>("mesh");
        QTest::addColumn<QStringList>("both");
        const QString llama =
            R"(model={"type":"llama","layers":2,"width":24,"heads":4,"kv_heads":2,"context":12})";
        const QString rule = R"(mesh.rules=[["sequence","model"]])";
        for (const int devices : {2, 4}) {
            const QString mesh = "mesh.devices=cpu:" + QString::number(devices);
            const QString strategy = "mesh.strategy=tensor_parallel";
            QTest::addRow("%d devices", devices)
                << QStringList{mesh, strategy, rule} << QStringList{};
            QTest::addRow("llama on %d devices", devices)
                << QStringList{mesh, strategy, rule} << QStringList{llama};
            QTest::addRow("%d devices and padding", devices)
                << QStringList{mesh, strategy, rule}
                << QStringList{"model.context=11", "model.vocab=41"};
        }
        QTest::newRow("with data, all state split and recompute")
            << QStringList{"mesh.devices=cpu:4", "mesh.strategy=2d", "mesh.zero_stage=3", rule}
            << QStringList{"training.recompute=blocks"};
        QTest::newRow("with context")
            << QStringList{"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel",
                           R"(mesh.axes=[["context",2],["model",2]])",
                           R"(mesh.rules=[["sequence",["context","model"]]])"}
            << QStringList{};
        QTest::newRow("with experts")
            << QStringList{"mesh.devices=cpu:4", "mesh.strategy=expert_parallel",
                           R"(mesh.axes=[["expert",2],["model",2]])", rule}
            << QStringList{"model.experts=4"};
    }

    void sequences_split_over_the_model_axis_are_exact() {
        QFETCH(QStringList, mesh);
        QFETCH(QStringList, both);
        const std::string wrong = off_by(kGpt, texts(mesh), texts(both));
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    // Mixtures of data, model, context and pipeline axes with ZeRO stages, recompute, schedules and
    // accumulation.
    void mixtures_drawn_from_a_seed_are_exact() {
        std::mt19937 random(20260);
        const auto pick = [&](int count) { return static_cast<int>(random() % unsigned(count)); };
        int with_three_axes = 0;
        int with_pipeline = 0;
        for (int i = 0; i < 30; ++i) {
            const char* const model = i % 3 == 0 ? kMlp : i % 3 == 1 ? kCnn : kGpt;
            const int data = 1 + pick(2);
            const int model_axis = 1 + pick(2);
            const int third = i < 9 || pick(3) == 0 ? 2 : 1;
            const bool staged = i % 2 == 0;
            const std::string third_name = staged          ? "pipeline"
                                           : model == kGpt ? "context"
                                                           : "replica";
            with_three_axes += data > 1 && model_axis > 1 && third > 1 ? 1 : 0;
            with_pipeline += staged && third > 1 ? 1 : 0;
            const int devices = data * model_axis * third;
            const std::string batch = staged          ? R"(["batch","data"],["layers","pipeline"])"
                                      : model == kGpt ? R"(["batch","data"],["sequence","context"])"
                                                      : R"(["batch",["replica","data"]])";
            const char* const schedules[] = {"gpipe", "1f1b", "zero_bubble_h1"};
            // Four microbatches of the same samples, however many devices share each.
            const int ranks = data * (third_name == "replica" ? third : 1);
            const auto micro = [](int samples) {
                return "training.micro_batch_size=" + std::to_string(samples);
            };
            const Overrides mesh = {
                "mesh.devices=cpu:" + std::to_string(devices),
                "mesh.strategy=custom",
                "mesh.axes=[[\"" + third_name + "\"," + std::to_string(third) + "],[\"data\"," +
                    std::to_string(data) + "],[\"model\"," + std::to_string(model_axis) + "]]",
                "mesh.rules=[" + batch + R"(,["mlp","model"],["heads","model"],["vocab","model"]])",
                "mesh.zero_stage=" + std::to_string(pick(4)),
                std::string("mesh.pipeline.schedule=") + schedules[pick(3)],
                micro(4 / ranks)};
            const Overrides both = {std::string("training.recompute=") +
                                        (pick(2) == 0 ? "none" : "blocks"),
                                    "training.global_batch_size=16"};
            const std::string wrong = off_by(model, mesh, both, {micro(4)});
            QVERIFY2(wrong.empty(), ("mixture " + std::to_string(i) + ", " + mesh[2] + " " +
                                     mesh[4] + " " + both[0] + ": " + wrong)
                                        .c_str());
        }
        QVERIFY(with_three_axes >= 4);
        QVERIFY(with_pipeline >= 4);
    }

    // Rules that let samples, positions, experts and layers share axes in all ways.
    void mixtures_of_split_sequences_and_experts_are_exact() {
        std::mt19937 random(20261);
        const auto pick = [&](const std::vector<std::string>& list) {
            return list[random() % list.size()];
        };
        const std::string llama =
            R"(model={"type":"llama","layers":2,"width":24,"heads":4,"kv_heads":2,"context":12,)"
            R"("ffn":16,"experts":4,"expert_capacity":0.75})";
        int drawn = 0;
        for (int i = 0; i < 24; ++i) {
            std::string axes, rules;
            int devices = 1;
            for (const char* axis : {"context", "data", "expert", "model"}) {
                const int size = devices < 8 ? std::stoi(pick({"1", "2", "2"})) : 1;
                devices *= size;
                axes += (axes.empty() ? "[\"" : ",[\"") + std::string(axis) + "\"," +
                        std::to_string(size) + "]";
            }
            rules = R"(["batch",)" + pick({R"(["data","expert"])", R"("data")"}) +
                    R"(],["expert",)" + pick({R"("expert")", R"("data")", R"(["data","expert"])"}) +
                    R"(],["sequence",)" +
                    pick({"null", R"("context")", R"("model")", R"(["context","model"])"}) +
                    R"(],["mlp","model"],["heads","model"],["kv_heads","model"],["vocab","model"])";
            const Overrides mesh = {"mesh.devices=cpu:" + std::to_string(devices),
                                    "mesh.strategy=custom", "mesh.axes=[" + axes + "]",
                                    "mesh.rules=[" + rules + "]",
                                    "mesh.zero_stage=" + pick({"0", "1", "2", "3"})};
            Overrides both = {"training.recompute=" + pick({"none", "blocks"}),
                              "training.global_batch_size=" + pick({"16", "14"})};
            if (pick({"gpt2", "llama"}) == "llama") {
                both.push_back(llama);
            }
            const std::string wrong = off_by(kMoe, mesh, both);
            QVERIFY2(wrong.empty(), ("mixture " + std::to_string(i) + ", " + mesh[2] + " " +
                                     mesh[3] + " " + mesh[4] + " " + both[0] + ": " + wrong)
                                        .c_str());
            drawn += devices > 2 ? 1 : 0;
        }
        QVERIFY(drawn > 12);
    }

    void start_values_are_the_same_bits_on_every_mesh() {
        const auto weights = [](const Overrides& mesh) {
            return run_mesh(mesh_config(kGpt, mesh), {.steps = 0, .keep_slots = true}).state;
        };
        const auto expected = weights({});
        QVERIFY(expected.size() > 20);
        for (const Variant& variant : variants()) {
            QVERIFY2(weights(variant.overrides) == expected, variant.name);
        }
    }

    void a_mesh_touches_what_its_plan_says() {
        for (const char* model : {kGpt, kVae, kGan, kFlow, kImageLayers, kSequenceLayers}) {
            for (const Variant& variant : variants()) {
                if (is_one_part(model) && parts_layers(variant)) {
                    continue;
                }
                const MeshRun run = run_mesh(mesh_config(model, variant.overrides),
                                             {.steps = 2, .instrument = true});
                QVERIFY2(run.violations.empty(),
                         run.violations.empty() ? "" : run.violations.front().c_str());
                QVERIFY2(run.touched_bytes <= run.plan->arena_bytes &&
                             run.touched_bytes >=
                                 plan::largest_program(*run.plan)->peak_bytes * 9 / 10,
                         variant.name);
            }
        }
    }

    // The others fail because the first one did: what is told is the cause.
    void a_fault_of_one_device_is_told_as_its_own() {
        const auto plan = mesh_plan(mesh_config(kGpt, {"mesh.devices=cpu:4"}));
        for (int round = 0; round < 10; ++round) {
            exec::Executor executor(plan, train::backends(), {.threads = 1});
            const auto bytes = executor.argument("train_step", "inputs", 2);
            const std::int32_t outside = 1000; // of a vocabulary of 40
            std::memcpy(bytes.data(), &outside, sizeof outside);
            try {
                executor.run("train_step");
                QFAIL("a token outside the vocabulary was taken");
            } catch (const Error& fault) {
                QVERIFY2(fault.where().find("embedding") != std::string::npos,
                         fault.message().c_str());
                QVERIFY2(fault.text().find("outside the table") != std::string::npos,
                         fault.message().c_str());
            }
        }
    }

    void two_runs_on_a_mesh_are_bit_for_bit_equal() {
        const auto config =
            mesh_config(kGpt, {"mesh.devices=cpu:4", "mesh.strategy=2d", "mesh.zero_stage=3"});
        const MeshRun first = run_mesh(config, {.steps = 5, .keep_slots = true});
        const MeshRun second = run_mesh(config, {.steps = 5, .keep_slots = true});
        QVERIFY(first.losses == second.losses);
        QVERIFY(first.state == second.state);
    }
};

WEFT_TEST(ExactMeshTest)
#include "exact_test.moc"
