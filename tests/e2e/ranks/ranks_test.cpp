// SPDX-License-Identifier: Apache-2.0
// A process for each device gives the bits of as many simulated devices, over MPI and over Gloo, on
// every strategy; and what one leaves another resumes. WEFT_EVERY_STRATEGY takes all of them.
#include "core/base/file.h"
#include "core/train/inside/inside_file.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/e2e/ranks/rank_processes.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <algorithm>
#include <csignal>

using namespace weft;
using namespace weft::test;

namespace {

constexpr int kRankSteps = 6;

QString text_of(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

/// The file of a model of mesh_run.h that runs a few steps on a mesh.
QString write_model(const std::filesystem::path& folder, const char* model,
                    const Overrides& overrides, int steps = kRankSteps) {
    config::Json document = config::Json::parse(model);
    document["schema_version"] = 1;
    document["name"] = "ranks";
    document["seed"] = 3;
    document["training"]["length"] = {{"steps", steps}};
    document["checkpoint"] = {{"every", {{"steps", kRankSteps}}}};
    const auto checked =
        compile::read_run_config(std::string_view(document.dump()), folder, overrides);
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    const auto path = folder / "run.json";
    write_file_atomically(path, checked.config.document.dump(2));
    return text_of(path);
}

int ranks_of(const Overrides& overrides) {
    for (const std::string& one : overrides) {
        if (one.starts_with("mesh.devices=cpu:")) {
            return std::stoi(one.substr(one.find(':') + 1));
        }
    }
    return 1;
}

} // namespace

class RanksTest : public QObject {
    Q_OBJECT

    /// A table of which one row overflows f32 when it is squared, and a run on it.
    static QString write_overflowing(const std::filesystem::path& folder) {
        std::string table = "a,b,price\n";
        for (int i = 0; i < 64; ++i) {
            table += std::to_string(i) + "," + std::to_string((i * 7) % 13) + "," +
                     (i == 20 ? "3e30" : std::to_string(0.5 * i)) + "\n";
        }
        write_file_atomically(folder / "table.csv", table);
        const config::Json document = {
            {"data",
             {{"train",
               {{"type", "csv"},
                {"path", (folder / "table.csv").string()},
                {"targets", "price"},
                {"scale_targets", "none"}}},
              {"validation", nullptr}}},
            {"model", {{"type", "mlp"}, {"hidden", {8, 8}}, {"dropout", 0.1}}},
            {"loss", {{"type", "mse"}}},
            {"mesh", {{"devices", "cpu:2"}, {"strategy", "fsdp"}}},
            {"training",
             {{"length", {{"steps", 12}}},
              {"global_batch_size", 8},
              {"precision", "f32"},
              {"on_nonfinite", "rewind"}}},
            {"log", {{"tensorboard", false}}}};
        write_file_atomically(folder / "run.json", document.dump());
        return text_of(folder / "run.json");
    }

    static void expect_same(const std::filesystem::path& one, const std::filesystem::path& other) {
        const auto losses = losses_of(one);
        QVERIFY(!losses.empty());
        QCOMPARE(losses_of(other), losses);
        const auto arrays = saved_arrays(one);
        QVERIFY(!arrays.empty());
        QVERIFY(saved_arrays(other) == arrays);
    }

private slots:
    void processes_rewind_as_simulated_devices_do() {
        const QTemporaryDir dir;
        const std::filesystem::path folder = dir.path().toStdString();
        const QString config = write_overflowing(folder);
        const Finished simulated =
            run_weft({"train", config, "--run-dir", text_of(folder / "simulated")});
        QVERIFY2(simulated.code == 0, simulated.err.c_str());
        RankProcesses ranks({"train", config, "--run-dir", text_of(folder / "ranks")}, {});
        QCOMPARE(ranks.finish(), (std::vector<int>{0, 0}));
        const auto rewound = [](const std::filesystem::path& run) {
            std::vector<std::int64_t> steps;
            for (const train::Event& event : events_of(run)) {
                if (const auto* found = std::get_if<train::DivergenceEvent>(&event.payload)) {
                    steps.push_back(found->passes_over);
                }
            }
            return steps;
        };
        QVERIFY(!rewound(folder / "simulated").empty());
        QCOMPARE(rewound(folder / "ranks"), rewound(folder / "simulated"));
        expect_same(folder / "simulated", folder / "ranks");
    }

    void what_a_run_takes_is_counted_in_all_its_processes() {
        const QTemporaryDir dir;
        const std::filesystem::path folder = dir.path().toStdString();
        const QString config =
            write_model(folder, kMlp, {"mesh.devices=cpu:3", "model.hidden=[1024,1024]"});
        RankOptions options;
        options.ranks = 3;
        RankProcesses ranks({"train", config, "--run-dir", text_of(folder / "run")}, options);
        QCOMPARE(ranks.finish(), (std::vector<int>{0, 0, 0}));
        std::int64_t arenas = 0;
        std::int64_t taken = 0;
        for (const train::Event& event : events_of(folder / "run")) {
            if (const auto* devices = std::get_if<train::DevicesEvent>(&event.payload)) {
                arenas = 0;
                for (const train::DevicesEvent::Device& device : devices->devices) {
                    arenas += device.memory_bytes;
                }
            } else if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
                taken = step->memory_bytes;
            }
        }
        QVERIFY(arenas > 3 * (std::int64_t{12} << 20));
        QVERIFY2(taken > arenas, (std::to_string(taken) + " of " + std::to_string(arenas)).c_str());
    }

    void processes_have_the_bits_of_simulated_devices_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("overrides");
        QTest::addColumn<bool>("mpi");
        const auto add = [](const char* name, const char* model, const Overrides& overrides,
                            bool mpi) {
            QStringList list;
            for (const std::string& one : overrides) {
                list << QString::fromStdString(one);
            }
            QTest::addRow("%s over %s", name, mpi ? "MPI" : "Gloo")
                << QString(model) << list << mpi;
        };
        if (!qEnvironmentVariableIsSet("WEFT_EVERY_STRATEGY")) {
            add("mlp, data parallel on 2", kMlp, {"mesh.devices=cpu:2"}, false);
            // Several buckets of gradients, which go while backward does.
            add("mlp of some MiB, data parallel on 2", kMlp,
                {"mesh.devices=cpu:2", "model.hidden=[512,512,512,512]"}, false);
            add("mlp of some MiB, zero 2 on 2", kMlp,
                {"mesh.devices=cpu:2", "mesh.zero_stage=2", "model.hidden=[512,512,512,512]"},
                true);
            add("mlp, fsdp on 3, padded", kMlp, {"mesh.devices=cpu:3", "mesh.strategy=fsdp"}, true);
            add("gpt, pipeline on 2", kGpt, {"mesh.devices=cpu:2", "mesh.strategy=pipeline"},
                false);
            return;
        }
        const std::pair<const char*, const char*> models[] = {
            {"mlp", kMlp}, {"cnn", kCnn}, {"gpt", kGpt}, {"moe", kMoe}};
        for (const auto& [name, model] : models) {
            for (const Variant& variant : variants()) {
                if (!can_run(model, variant.overrides)) {
                    continue;
                }
                for (const bool mpi : {false, true}) {
                    add((std::string(name) + ", " + variant.name).c_str(), model, variant.overrides,
                        mpi);
                }
            }
        }
    }

    void processes_have_the_bits_of_simulated_devices() {
        QFETCH(QString, model);
        QFETCH(QStringList, overrides);
        QFETCH(bool, mpi);
        if (mpi && !has_mpirun()) {
            QSKIP("mpirun is not installed");
        }
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        Overrides settings;
        for (const QString& one : overrides) {
            settings.push_back(one.toStdString());
        }
        settings.emplace_back("log.inside_every=2");
        const QString config = write_model(root, model.toStdString().c_str(), settings);
        const Finished simulated = run_weft({"train", config, "--run-dir", text_of(root / "one")});
        QVERIFY2(simulated.code == 0, simulated.err.c_str());
        const QStringList arguments{"train", config, "--run-dir", text_of(root / "many")};
        const int ranks = ranks_of(settings);
        if (mpi) {
            const Finished many = run_mpi(ranks, arguments);
            QVERIFY2(many.code == 0, many.err.c_str());
        } else {
            RankProcesses many(arguments, {ranks, "00ff", {}});
            QCOMPARE(many.finish(), std::vector<int>(static_cast<std::size_t>(ranks), 0));
        }
        expect_same(root / "one", root / "many");
        // Each rank looks at its own device and hands over what it saw.
        const std::string seen = read_file(root / "one" / train::inside_path());
        QVERIFY(seen.size() > 1000);
        QVERIFY(read_file(root / "many" / train::inside_path()) == seen);
    }

    // Half of a run on two processes, the other half on four devices of one, beside the whole on
    // one process that changes the mesh in the middle likewise.
    void a_run_of_processes_goes_on_elsewhere() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_model(root, kMlp, {"mesh.devices=cpu:2"}, 2 * kRankSteps);
        const QString half = QString::number(kRankSteps);
        RankProcesses many(
            {"train", config, "--run-dir", text_of(root / "many"), "--max-steps", half},
            {2, "00ff", {}});
        QCOMPARE(many.finish(), (std::vector<int>{0, 0}));
        const Finished one =
            run_weft({"train", config, "--run-dir", text_of(root / "one"), "--max-steps", half});
        QVERIFY2(one.code == 0, one.err.c_str());
        for (const char* name : {"one", "many"}) {
            const Finished rest = run_weft({"resume", text_of(root / name), "--fork",
                                            text_of(root / (std::string(name) + "-on-4")), "--set",
                                            "mesh.devices=cpu:4"});
            QVERIFY2(rest.code == 0, rest.err.c_str());
        }
        expect_same(root / "one-on-4", root / "many-on-4");
        // And back: three processes take over what four devices saved.
        const QStringList back{"resume",   text_of(root / "one-on-4"),
                               "--fork",   text_of(root / "on-3"),
                               "--extend", half,
                               "--set",    "mesh.devices=cpu:3"};
        RankProcesses three(back, {3, "00ff", {}});
        const std::vector<int> codes = three.finish();
        QVERIFY2(codes == (std::vector<int>{0, 0, 0}), three.error_output(0).c_str());
        QCOMPARE(losses_of(root / "on-3").size(), std::size_t{kRankSteps});
    }

    // Kernels ask for workspace by the threads of a rank: the plan knows how many they are.
    void ranks_may_have_several_threads() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_model(root, kGpt, {"mesh.devices=cpu:2"});
        RankProcesses many({"train", config, "--run-dir", text_of(root / "run")},
                           {2, "00ff", {"OMP_NUM_THREADS=3"}});
        const auto codes = many.finish();
        QVERIFY2(codes == (std::vector<int>{0, 0}), many.error_output(0).c_str());
        QCOMPARE(losses_of(root / "run").size(), std::size_t{kRankSteps});
    }

    // A rank is lost for good: the run goes on on those that are left, with the next batches.
    void fewer_ranks_go_on_in_the_same_run() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config =
            write_model(root, kMlp, {"mesh.devices=cpu:4", "mesh.strategy=fsdp"}, 2 * kRankSteps);
        const QString run = text_of(root / "run");
        RankProcesses four(
            {"train", config, "--run-dir", run, "--max-steps", QString::number(kRankSteps)},
            {4, "00ff", {}});
        QCOMPARE(four.finish(), (std::vector<int>{0, 0, 0, 0}));
        std::filesystem::copy(root / "run", root / "copy",
                              std::filesystem::copy_options::recursive);
        RankProcesses refused({"resume", run}, {3, "00ff", {}});
        QCOMPARE(refused.finish().front(), 2);
        RankProcesses three({"resume", run, "--elastic"}, {3, "00ff", {}});
        QCOMPARE(three.finish(), (std::vector<int>{0, 0, 0}));
        const Finished simulated =
            run_weft({"resume", text_of(root / "copy"), "--fork", text_of(root / "fork"), "--set",
                      "mesh.devices=cpu:3"});
        QVERIFY2(simulated.code == 0, simulated.err.c_str());
        std::vector<double> losses = losses_of(root / "run");
        QCOMPARE(losses.size(), std::size_t{2 * kRankSteps});
        losses.erase(losses.begin(), losses.begin() + kRankSteps);
        QCOMPARE(losses_of(root / "fork"), losses);
        QVERIFY(saved_arrays(root / "fork") == saved_arrays(root / "run"));
        const Finished done = run_weft({"resume", run}); // its mesh is what it is now
        QVERIFY2(done.code == 0 && done.err.find("finished") != std::string::npos,
                 done.err.c_str());
    }

    void what_they_exchange_through_is_no_other_run() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config =
            write_model(root, kMlp, {"mesh.devices=cpu:2", "mesh.backend=gloo"}, 2 * kRankSteps);
        const QString run = text_of(root / "run");
        RankProcesses half(
            {"train", config, "--run-dir", run, "--max-steps", QString::number(kRankSteps)},
            {2, "00ff", {}});
        QCOMPARE(half.finish(), (std::vector<int>{0, 0}));
        const Finished rest = run_weft({"resume", run, "--set", "mesh.backend=in_process"});
        QVERIFY2(rest.code == 0, rest.err.c_str());
        QVERIFY2(rest.err.find("fork") == std::string::npos, rest.err.c_str());
        QCOMPARE(losses_of(root / "run").size(), std::size_t{2 * kRankSteps});
    }

    void a_stop_is_taken_by_all_and_nothing_is_lost() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_model(root, kMlp, {"mesh.devices=cpu:2"}, 100'000);
        RankProcesses many({"train", config, "--run-dir", text_of(root / "run"), "--events"},
                           {2, "00ff", {}});
        QVERIFY(many.wait_for_step(3));
        many.signal(1, SIGTERM); // as mpirun does to all of them: rank 0 alone decides
        many.signal(0, SIGTERM);
        QCOMPARE(many.finish(), (std::vector<int>{kExitStopped, 0}));
        const auto entries = checkpoint::list_checkpoints(root / "run" / "checkpoints");
        QVERIFY(!entries.empty() && entries.back().problem.empty());
        QCOMPARE(entries.back().step, static_cast<std::int64_t>(losses_of(root / "run").size()));
    }

    void no_rank_ends_well_where_rank_0_cannot_begin() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        std::string table = "a,t\n";
        for (int i = 0; i < 64; ++i) {
            table += std::to_string(i) + ",3.5\n"; // no share
        }
        write_file_atomically(root / "no_shares.csv", table);
        const config::Json document{
            {"data", {{"train", {{"type", "csv"}, {"path", "no_shares.csv"}, {"targets", "t"}}}}},
            {"model", {{"type", "mlp"}, {"hidden", {4}}}},
            {"loss", {{"type", "bce"}}},
            {"mesh", {{"devices", "cpu:2"}}}};
        write_file_atomically(root / "run.json", document.dump());
        RankProcesses many(
            {"train", text_of(root / "run.json"), "--run-dir", text_of(root / "run")}, {});
        const std::vector<int> codes = many.finish();
        QCOMPARE(codes[0], 3);
        QVERIFY2(codes[1] > 0, std::to_string(codes[1]).c_str());
    }

    void what_does_not_fit_together_is_said_before_anything_begins() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_model(root, kMlp, {"mesh.devices=cpu:3"});
        const Finished other =
            run_weft({"train", config},
                     {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "LOCAL_WORLD_SIZE=2",
                      "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + QString::number(free_port())});
        QCOMPARE(other.code, 2);
        QVERIFY2(other.err.find("'cpu:3' is 3 devices, and 2 ranks were started") !=
                     std::string::npos,
                 other.err.c_str());
        const Finished alone = run_weft({"train", config, "--set", "mesh.backend=gloo"});
        QCOMPARE(alone.code, 2);
        QVERIFY2(alone.err.find("weft launch") != std::string::npos, alone.err.c_str());
        const Finished plan = run_weft({"plan", config}, {"RANK=0", "WORLD_SIZE=2"});
        QCOMPARE(plan.code, 2);
    }

private:
    /// Of models and strategies that do not go together the configuration says so.
    static bool can_run(const char* model, const Overrides& overrides) {
        auto checked = compile::read_run_config(std::string_view(model), "/", overrides);
        if (!checked.ok()) {
            return false;
        }
        try {
            mesh_plan(checked.config);
            return true;
        } catch (const Error&) {
            return false;
        }
    }
};

WEFT_TEST(RanksTest)
#include "ranks_test.moc"
