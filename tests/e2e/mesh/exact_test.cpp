// SPDX-License-Identifier: Apache-2.0
// Every strategy is exact: twenty losses on simulated devices equal those of one device that takes
// the same microbatches, with dropout, batch norm over all devices, clipping and weight decay.
#include "core/base/error.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace weft;
using namespace weft::test;

namespace {

// f32 sums in another order, over twenty updates of a model that does not diverge.
constexpr double kTolerance = 1e-5;

const char* model_named(const QString& name) {
    return name == "mlp" ? kMlp : name == "cnn" ? kCnn : kGpt;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double out = a.size() == b.size() ? 0.0 : 1.0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        out = std::max(out, std::isfinite(b[i]) ? std::abs(a[i] - b[i]) / std::abs(a[i]) : 1.0);
    }
    return out;
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

std::string off_by(const char* model, const Overrides& mesh, const Overrides& both = {},
                   const Overrides& one = {}) {
    Overrides several = both;
    several.insert(several.end(), mesh.begin(), mesh.end());
    Overrides single = both;
    single.insert(single.end(), one.begin(), one.end());
    const double off =
        largest_difference(one_device(model, single), run_mesh(mesh_config(model, several)).losses);
    return off <= kTolerance ? "" : "off by " + std::to_string(off);
}

} // namespace

class ExactMeshTest : public QObject {
    Q_OBJECT
private slots:
    void every_strategy_has_the_losses_of_one_device_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("variant");
        for (const char* model : {"mlp", "cnn", "gpt"}) {
            for (std::size_t i = 0; i < variants().size(); ++i) {
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

    // Mixtures of data, model and context axes with ZeRO stages, recompute and accumulation.
    void mixtures_drawn_from_a_seed_are_exact() {
        std::mt19937 random(20260);
        const auto pick = [&](int count) { return static_cast<int>(random() % unsigned(count)); };
        int with_three_axes = 0;
        for (int i = 0; i < 30; ++i) {
            const char* const model = i % 3 == 0 ? kMlp : i % 3 == 1 ? kCnn : kGpt;
            const bool text = model == kGpt;
            const int data = 1 + pick(2);
            const int model_axis = 1 + pick(2);
            const int third = i < 9 || pick(3) == 0 ? 2 : 1;
            const std::string third_name = text ? "context" : "replica";
            with_three_axes += data > 1 && model_axis > 1 && third > 1 ? 1 : 0;
            const int devices = data * model_axis * third;
            const std::string batch = text ? R"(["batch","data"],["sequence","context"])"
                                           : R"(["batch",["replica","data"]])";
            const Overrides mesh = {
                "mesh.devices=cpu:" + std::to_string(devices), "mesh.strategy=custom",
                "mesh.axes=[[\"" + third_name + "\"," + std::to_string(third) + "],[\"data\"," +
                    std::to_string(data) + "],[\"model\"," + std::to_string(model_axis) + "]]",
                "mesh.rules=[" + batch + R"(,["mlp","model"],["heads","model"],["vocab","model"]])",
                "mesh.zero_stage=" + std::to_string(pick(4))};
            const Overrides both = {std::string("training.recompute=") +
                                    (pick(2) == 0 ? "none" : "blocks")};
            const std::string wrong = off_by(model, mesh, both);
            QVERIFY2(wrong.empty(), ("mixture " + std::to_string(i) + ", " + mesh[2] + " " +
                                     mesh[4] + " " + both[0] + ": " + wrong)
                                        .c_str());
        }
        QVERIFY(with_three_axes >= 4);
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
        for (const Variant& variant : variants()) {
            const MeshRun run =
                run_mesh(mesh_config(kGpt, variant.overrides), {.steps = 2, .instrument = true});
            QVERIFY2(run.violations.empty(),
                     run.violations.empty() ? "" : run.violations.front().c_str());
            const plan::PlannedProgram* step = run.plan->find("train_step");
            QVERIFY2(run.touched_bytes <= run.plan->arena_bytes &&
                         run.touched_bytes >= step->peak_bytes * 9 / 10,
                     variant.name);
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
