// SPDX-License-Identifier: Apache-2.0
// Losses with their settings on meshes: ten losses equal those of one device, also where the batch
// is cut in microbatches, padded, or its classes are split; and memory is touched as planned.
#include "core/base/file.h"
#include "core/base/npy.h"
#include "core/nn/loss_def.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <QFile>
#include <QTemporaryDir>

#include <cmath>

using namespace weft;
using namespace weft::test;

namespace {

const char* const kRegressionRun = R"({
  "data": {"train": {"type": "synthetic", "kind": "regression", "features": 10, "samples": 400}},
  "model": {"type": "mlp", "hidden": [12], "activation": "tanh"},
  "optimizer": {"type": "sgd", "learning_rate": 0.05},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 30, "precision": "f32", "length": {"steps": 10}}
})";

// Its table is written by the test: targets are shares that add up to 1.
const char* const kShareRun = R"({
  "data": {"train": {"type": "csv", "path": "shares.csv", "targets": ["t0", "t1", "t2"]}},
  "model": {"type": "mlp", "hidden": [12], "activation": "tanh"},
  "optimizer": {"type": "sgd", "learning_rate": 0.05},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 30, "precision": "f32", "length": {"steps": 10}}
})";

// Its arrays are written by the test: samples of 12 moments of 5 numbers, up to 4 symbols each.
const char* const kSymbolRun = R"({
  "data": {"train": {"type": "npy", "inputs": "moments.npy", "targets": "symbols.npy"},
           "validation": null},
  "model": {"type": "sequential", "layers": [
    {"type": "sequence"}, {"type": "conv1d", "channels": 12, "kernel": 3}, {"type": "tanh"},
    {"type": "linear"}]},
  "optimizer": {"type": "sgd", "learning_rate": 0.05},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 24, "precision": "f32", "length": {"steps": 10}}
})";

/// Where they lie.
std::string symbol_arrays() {
    static const QTemporaryDir folder;
    const std::string path = folder.path().toStdString();
    if (QFile::exists(folder.filePath("symbols.npy"))) {
        return path;
    }
    constexpr std::int64_t kSamples = 400, kMoments = 12, kNumbers = 5, kSymbols = 4;
    std::vector<float> moments;
    std::vector<std::int32_t> symbols;
    for (std::int64_t i = 0; i < kSamples; ++i) {
        for (std::int64_t k = 0; k < kMoments * kNumbers; ++k) {
            moments.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(i * 60 + k))));
        }
        for (std::int64_t s = 0; s < kSymbols; ++s) { // neighbours are alike now and then
            symbols.push_back(s <= i % kSymbols ? static_cast<std::int32_t>(1 + (i / (s + 1)) % 4)
                                                : 0);
        }
    }
    const auto write = [&](const char* name, const char* type, std::vector<std::int64_t> shape,
                           std::string_view bytes) {
        write_file_atomically(path + "/" + name, npy_beginning(type, shape) + std::string(bytes));
    };
    write("moments.npy", "<f4", {kSamples, kMoments, kNumbers},
          {reinterpret_cast<const char*>(moments.data()), moments.size() * sizeof(float)});
    write("symbols.npy", "<i4", {kSamples, kSymbols},
          {reinterpret_cast<const char*>(symbols.data()), symbols.size() * sizeof(std::int32_t)});
    return path;
}

/// Where it lies.
std::string share_table() {
    static const QTemporaryDir folder;
    const QString path = folder.filePath("shares.csv");
    if (QFile::exists(path)) {
        return path.toStdString();
    }
    QString out = "a,b,c,t0,t1,t2\n";
    for (int i = 0; i < 400; ++i) {
        const double a = std::sin(0.7 * i), b = std::cos(1.3 * i), c = std::sin(2.9 * i);
        const double sum = std::exp(a) + std::exp(b) + std::exp(c);
        out += QString("%1,%2,%3,%4,%5,%6\n")
                   .arg(a)
                   .arg(b)
                   .arg(c)
                   .arg(std::exp(a) / sum)
                   .arg(std::exp(b) / sum)
                   .arg(std::exp(c) / sum);
    }
    write_file_atomically(path.toStdString(), out.toStdString());
    return path.toStdString();
}

struct LossRow {
    const char* model;
    const char* loss;
};

// bce and kl of numbers have graphs of their own, whatever the numbers are.
const std::vector<LossRow>& loss_rows() {
    static const std::vector<LossRow> rows = {
        {kMlp, R"({"type":"cross_entropy","z_loss":0.01,"class_weights":[1,2,0.5,1,3,0]})"},
        {kMlp, R"({"type":"bce","positive_weight":3})"},
        {kMlp,
         R"json({"type":"expression","expression":"-sum(one_hot(t) * log_softmax(y)) + 0.1 * y[2]^2"})json"},
        {kMlp, R"json({"type":"expression","expression":"cross_entropy(y, t)^2"})json"},
        {kGpt, R"({"type":"cross_entropy","z_loss":0.01,"label_smoothing":0.1})"},
        {kGpt,
         R"json({"type":"expression","expression":"cross_entropy(y, t) + 0.01 * mean(square(y))"})json"},
        {kMlp, R"({"type":"nt_xent","dimensions":8,"temperature":0.5})"},
        {kMlp, R"({"type":"triplet","dimensions":8,"margin":0.5})"},
        {kSymbolRun, R"({"type":"ctc","symbols":5})"},
        {kShareRun, R"({"type":"bce"})"},
        {kShareRun, R"({"type":"kl"})"},
        {kRegressionRun, R"({"type":"cosine"})"},
        {kShareRun, R"({"type":"dice"})"},
        {kRegressionRun,
         R"json({"type":"expression","expression":"sqrt(mean(square(y - t)) + 0.01)"})json"},
    };
    return rows;
}

const std::vector<Variant>& loss_meshes() {
    static const std::vector<Variant> list = {
        {"data parallel on 2", {"mesh.devices=cpu:2"}},
        {"microbatches", {"training.micro_batch_size=2"}},
        {"fsdp on 4, padded",
         {"mesh.devices=cpu:4", "mesh.strategy=fsdp", "training.global_batch_size=30"}},
        {"tensor parallel on 2", {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"}},
        {"2d on 2 x 2", {"mesh.devices=cpu:4", "mesh.strategy=2d"}},
        {"pipeline on 2", {"mesh.devices=cpu:2", "mesh.strategy=pipeline"}},
    };
    return list;
}

/// Dropout and mixes follow the sample, so that microbatches change nothing but the order of sums.
MeshRun run_row(const LossRow& row, const Overrides& mesh, bool instrument = false) {
    Overrides all = {std::string("loss=") + row.loss, "metrics=[]"};
    if (row.model == kShareRun) {
        all.push_back("data.train.path=" + share_table());
    }
    if (row.model == kSymbolRun) {
        all.push_back("data.train.inputs=" + symbol_arrays() + "/moments.npy");
        all.push_back("data.train.targets=" + symbol_arrays() + "/symbols.npy");
    }
    all.insert(all.end(), mesh.begin(), mesh.end());
    return run_mesh(mesh_config(row.model, all), {.steps = 10, .instrument = instrument});
}

bool compares_samples(const LossRow& row) {
    return nn::find_loss(config::json_of(row.loss).at("type").get<std::string>())->point != nullptr;
}

bool cuts_the_batch(const Variant& mesh) {
    const std::string_view name = mesh.name;
    return name == "microbatches" || name == "pipeline on 2";
}

} // namespace

class MeshLossesTest : public QObject {
    Q_OBJECT
private slots:
    void losses_are_those_of_one_device_data() {
        QTest::addColumn<int>("row");
        QTest::addColumn<int>("mesh");
        for (std::size_t row = 0; row < loss_rows().size(); ++row) {
            for (std::size_t mesh = 0; mesh < loss_meshes().size(); ++mesh) {
                if (compares_samples(loss_rows()[row]) && cuts_the_batch(loss_meshes()[mesh])) {
                    continue; // samples are compared within a microbatch
                }
                QTest::addRow("%s, %s", loss_rows()[row].loss, loss_meshes()[mesh].name)
                    << static_cast<int>(row) << static_cast<int>(mesh);
            }
        }
    }
    void losses_are_those_of_one_device() {
        QFETCH(int, row);
        QFETCH(int, mesh);
        const LossRow& loss = loss_rows()[static_cast<std::size_t>(row)];
        const Overrides& overrides = loss_meshes()[static_cast<std::size_t>(mesh)].overrides;
        const bool padded =
            !overrides.empty() && overrides.back() == "training.global_batch_size=30";
        const MeshRun one =
            run_row(loss, padded ? Overrides{"training.global_batch_size=30"} : Overrides());
        const MeshRun several = run_row(loss, overrides);
        // f32 sums in another order, over ten updates.
        const double off = losses_apart(one.losses, several.losses);
        QVERIFY2(off < 1e-5, std::to_string(off).c_str());
        // The loss is learnt, so that it depends on its gradient.
        QVERIFY(std::abs(one.losses.back() - one.losses.front()) > 1e-4);
    }

    void memory_is_touched_as_planned_data() {
        QTest::addColumn<int>("row");
        for (std::size_t row = 0; row < loss_rows().size(); ++row) {
            QTest::newRow(loss_rows()[row].loss) << static_cast<int>(row);
        }
    }
    void memory_is_touched_as_planned() {
        QFETCH(int, row);
        const MeshRun run = run_row(loss_rows()[static_cast<std::size_t>(row)], {}, true);
        QVERIFY2(run.violations.empty(), run.violations.empty() ? "" : run.violations[0].c_str());
        QVERIFY(run.touched_bytes <= run.plan->arena_bytes &&
                run.touched_bytes >= plan::largest_program(*run.plan)->peak_bytes * 9 / 10);
    }
};

WEFT_TEST(MeshLossesTest)
#include "losses_test.moc"
