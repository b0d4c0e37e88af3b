// SPDX-License-Identifier: Apache-2.0
// Metrics over devices, microsteps and the batches of an evaluation: a mean and a maximum, with
// rows of padding on some devices.
#include "core/train/evaluation.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace weft;
using namespace weft::test;

namespace {

const char* const kRegression = R"({
  "data": {"train": {"type": "synthetic", "kind": "regression", "features": 10, "samples": 400}},
  "model": {"type": "mlp", "hidden": [12], "activation": "tanh"},
  "loss": {"type": "mse"},
  "metrics": ["largest_error", "mean_absolute_error"],
  "optimizer": {"type": "sgd", "learning_rate": 0.01},
  "lr_schedule": {"type": "constant"},
  "training": {"global_batch_size": 30, "precision": "f32", "length": {"steps": 10}}
})";

// f32 sums in another order.
constexpr double kMetricTolerance = 1e-5;

struct Measured {
    std::map<std::string, double> training;
    std::map<std::string, double> evaluation;
    std::map<std::string, double> expected; // of the evaluation, from predictions on the host
};

Measured measure(const Overrides& overrides) {
    const compile::RunConfig config = mesh_config(kRegression, overrides);
    exec::Executor executor(mesh_plan(config), train::backends(), {.threads = 1});
    train::initialise(executor, config);
    const data::DataSet data = train::open_run_data(config);
    Measured out;
    std::vector<data::LeftOut> left_out;
    const auto evaluated = train::evaluate(executor, config, data.train, "all", 0, {}, left_out);
    for (const auto& [name, value] : *evaluated) {
        out.evaluation[name] = value;
    }
    std::vector<std::int64_t> indices(static_cast<std::size_t>(data.train->samples()));
    std::iota(indices.begin(), indices.end(), 0);
    const auto predictions = train::predict(executor, *data.train, indices, 0);
    double sum = 0;
    double largest = 0;
    std::vector<std::byte> input(static_cast<std::size_t>(data.train->info().input.bytes()));
    std::vector<float> target(static_cast<std::size_t>(data.train->info().target.shape.elements()));
    for (const train::SamplePrediction& one : predictions) {
        data.train->read(one.index, input, std::as_writable_bytes(std::span(target)));
        for (std::size_t k = 0; k < target.size(); ++k) {
            const double error = std::abs(one.values[k] - static_cast<double>(target[k]));
            sum += error / static_cast<double>(target.size());
            largest = std::max(largest, error);
        }
    }
    out.expected["all/mean_absolute_error"] = sum / static_cast<double>(predictions.size());
    out.expected["all/largest_error"] = largest;
    data::Loader loader(data.train, data::Sampler(data.train->samples(), true, config.seed),
                        {.batch_size = config.global_batch_size}, {});
    train::Update update(executor, config, 10);
    update.start(*loader.next(), 0, 1.0, {});
    const train::UpdateNumbers numbers = update.numbers();
    for (const auto& [name, value] : numbers.metrics) {
        out.training[name] = value;
    }
    return out;
}

bool close(double a, double b) {
    return std::abs(a - b) <= kMetricTolerance * std::abs(b);
}

} // namespace

class MeshMetricsTest : public QObject {
    Q_OBJECT
private slots:
    void an_evaluation_is_that_of_the_predictions_data() {
        QTest::addColumn<QString>("devices");
        QTest::newRow("one device") << "cpu";
        QTest::newRow("four devices, padded") << "cpu:4";
    }

    // 400 samples in batches of 30: the last has 10, and 30 rows are 8 on each of four devices.
    void an_evaluation_is_that_of_the_predictions() {
        QFETCH(QString, devices);
        const Measured found = measure({"mesh.devices=" + devices.toStdString()});
        for (const auto& [name, expected] : found.expected) {
            QVERIFY2(close(found.evaluation.at(name), expected), name.c_str());
        }
    }

    void training_metrics_are_those_of_one_device() {
        const Measured one = measure({"training.micro_batch_size=10"});
        const Measured many = measure({"mesh.devices=cpu:2", "training.micro_batch_size=5"});
        const Measured at_once = measure({});
        QVERIFY(one.training.at("train/largest_error") >
                one.training.at("train/mean_absolute_error"));
        for (const auto& [name, value] : one.training) {
            QVERIFY2(close(many.training.at(name), value), name.c_str());
            QVERIFY2(close(at_once.training.at(name), value), name.c_str());
        }
    }
};

WEFT_TEST(MeshMetricsTest)
#include "metrics_test.moc"
