// SPDX-License-Identifier: Apache-2.0
// Metrics over devices, microsteps and the batches of an evaluation: a mean and a maximum, with
// rows of padding on some devices.
#include "core/train/evaluation.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <algorithm>
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

const char* const kClassRun = R"({
  "data": {"train": {"type": "synthetic", "kind": "classification", "features": 8, "classes": 6,
                     "samples": 200}},
  "model": {"type": "mlp", "hidden": [12]},
  "metrics": ["macro_f1", "auroc", "calibration_error", "top5_accuracy"],
  "training": {"global_batch_size": 30, "precision": "f32", "length": {"steps": 10}}
})";

/// What is true of each sample, and the probabilities of the classes.
struct Judged {
    std::vector<int> classes;
    std::vector<std::vector<double>> shares;
};

int found_class(const std::vector<double>& shares) {
    return static_cast<int>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

double f1_of(const Judged& all, int number) {
    int found = 0;
    int real = 0;
    int both = 0;
    for (std::size_t i = 0; i < all.classes.size(); ++i) {
        const bool is_found = found_class(all.shares[i]) == number;
        const bool is_real = all.classes[i] == number;
        found += is_found ? 1 : 0;
        real += is_real ? 1 : 0;
        both += is_found && is_real ? 1 : 0;
    }
    const double precision = found > 0 ? static_cast<double>(both) / found : 0;
    const double recall = static_cast<double>(both) / real;
    return both == 0 ? 0 : 2 * precision * recall / (precision + recall);
}

double area_of(const Judged& all, std::size_t number) {
    double wins = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < all.classes.size(); ++i) {
        for (std::size_t j = 0; j < all.classes.size(); ++j) {
            if (all.classes[i] == static_cast<int>(number) &&
                all.classes[j] != static_cast<int>(number)) {
                const double a = all.shares[i][number];
                const double b = all.shares[j][number];
                wins += a > b ? 1 : a == b ? 0.5 : 0;
                pairs += 1;
            }
        }
    }
    return wins / pairs;
}

/// By ranges of the probability, one after another.
double calibration_of(const Judged& all) {
    double apart = 0;
    for (int bin = 0; bin < 15; ++bin) {
        double sum = 0;
        for (std::size_t i = 0; i < all.classes.size(); ++i) {
            const int found = found_class(all.shares[i]);
            const double share = all.shares[i][static_cast<std::size_t>(found)];
            if (share > bin / 15.0 && share <= (bin + 1) / 15.0) {
                sum += share - (found == all.classes[i] ? 1 : 0);
            }
        }
        apart += std::abs(sum);
    }
    return apart / static_cast<double>(all.classes.size());
}

double top5_of(const Judged& all) {
    int right = 0;
    for (std::size_t i = 0; i < all.classes.size(); ++i) {
        const double own = all.shares[i][static_cast<std::size_t>(all.classes[i])];
        const auto above = std::count_if(all.shares[i].begin(), all.shares[i].end(),
                                         [own](double other) { return other > own; });
        right += above < 5 ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(all.classes.size());
}

std::map<std::string, double> expected_of(const Judged& all) {
    std::map<std::string, double> out;
    for (std::size_t number = 0; number < 6; ++number) {
        out["all/macro_f1"] += f1_of(all, static_cast<int>(number)) / 6;
        out["all/auroc"] += area_of(all, number) / 6;
    }
    out["all/calibration_error"] = calibration_of(all);
    out["all/top5_accuracy"] = top5_of(all);
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

    void metrics_of_a_whole_set_are_those_of_the_predictions_data() {
        an_evaluation_is_that_of_the_predictions_data();
        QTest::newRow("split classes") << "cpu:2 mesh.strategy=tensor_parallel";
        QTest::newRow("stages") << "cpu:2 mesh.strategy=pipeline";
    }
    void metrics_of_a_whole_set_are_those_of_the_predictions() {
        QFETCH(QString, devices);
        Overrides overrides;
        for (const QString& word : ("mesh.devices=" + devices).split(' ')) {
            overrides.push_back(word.toStdString());
        }
        const compile::RunConfig config = mesh_config(kClassRun, overrides);
        exec::Executor executor(mesh_plan(config), train::backends(), {.threads = 1});
        train::initialise(executor, config);
        const data::DataSet data = train::open_run_data(config);
        std::vector<data::LeftOut> left_out;
        const auto evaluated =
            train::evaluate(executor, config, data.train, "all", 0, {}, left_out);
        std::map<std::string, double> found(evaluated->begin(), evaluated->end());
        std::vector<std::int64_t> indices(static_cast<std::size_t>(data.train->samples()));
        std::iota(indices.begin(), indices.end(), 0);
        Judged judged;
        for (const train::SamplePrediction& one :
             train::predict(executor, *data.train, indices, 1)) {
            judged.classes.push_back(one.label);
            judged.shares.push_back(one.values);
        }
        for (const auto& [name, expected] : expected_of(judged)) {
            QVERIFY2(close(found.at(name), expected), (name + " " + std::to_string(found.at(name)) +
                                                       " and not " + std::to_string(expected))
                                                          .c_str());
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
