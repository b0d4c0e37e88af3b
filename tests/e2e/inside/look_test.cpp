// SPDX-License-Identifier: Apache-2.0
// Norms, means, zeros and dead units of one update of small models against PyTorch, from the same
// weights and batches (generate_inside.py made the figures).
#include "core/compile/programs/programs.h"
#include "core/exec/executor.h"
#include "core/optim/groups.h"
#include "core/train/inside/layer_watch.h"
#include "tests/support/weft_test.h"

#include <QCryptographicHash>
#include <QFile>

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using config::Json;

// f32 sums in another order over four updates; relative to the size of the values compared.
constexpr double kTolerance = 2e-4;
// A bias before a batch norm has no gradient but for rounding.
constexpr double kRounding = 1e-6;

QByteArray read(const QString& name) {
    QFile file(QStringLiteral(WEFT_TEST_DATA "/") + name);
    if (!file.open(QIODevice::ReadOnly)) {
        qFatal("missing %s", qPrintable(file.fileName()));
    }
    return file.readAll();
}

Json read_json(const QString& name) {
    return config::json_of(read(name).toStdString());
}

data::SampleInfo sample_of(const Json& sample) {
    data::SampleInfo info;
    ir::Shape input;
    for (const Json& extent : sample.at("input")) {
        input.push_back(extent.get<std::int64_t>());
    }
    info.input = {ir::DType::f32, input};
    info.target = {ir::DType::i32, {}};
    info.classes = sample.at("classes").get<std::int64_t>();
    return info;
}

void put(exec::Executor& executor, const std::string& name, std::span<const std::byte> bytes) {
    executor.write("train_step", name, bytes);
}

template <class T>
void put_scalar(exec::Executor& executor, const std::string& name, T value) {
    put(executor, name, std::as_bytes(std::span(&value, 1)));
}

/// What four updates of a model of ../torch_oracle are, on the devices of its configuration.
class Trained {
public:
    Trained(const std::string& model, const Json& dead, const std::vector<std::string>& settings)
        : document_(read_json(QString::fromStdString("../torch_oracle/" + model + ".json"))),
          bytes_(read(QString::fromStdString("../torch_oracle/" + model + ".bin"))) {
        std::vector<std::string> overrides = settings;
        overrides.emplace_back("optimizer.weight_decay_on=all"); // as PyTorch's groups
        const compile::CheckedRun checked =
            compile::read_run_config(document_.at("config"), ".", overrides);
        if (!checked.ok()) {
            qFatal("%s", config::to_text(checked.diagnostics.front()).c_str());
        }
        config_ = checked.config;
        compile::PipelineOptions options;
        options.backends = {weft_cpu_backend(), weft_reference_backend()};
        plan_ = std::make_shared<const plan::ExecutionPlan>(
            compile::compile_run(config_, sample_of(document_.at("sample")), options));
        executor_.emplace(plan_, options.backends);
        for (const auto& [name, info] : document_.at("arrays").items()) {
            if (name.starts_with("init/")) {
                set_first(name, dead);
            }
        }
    }

    train::InsideLook look(std::int64_t updates) {
        train::LayerWatch watch(*executor_);
        train::InsideLook out;
        for (std::int64_t step = 0; step < updates; ++step) {
            write_arguments(step);
            if (step + 1 == updates) {
                watch.begin();
            }
            executor_->run("train_step");
            if (step + 1 == updates) {
                out = watch.end(updates, config_.global_batch_size, 0);
                watched_ = watch.watched();
            }
        }
        return out;
    }
    const train::Watched& watched() const { return watched_; }

private:
    std::span<const std::byte> raw(const std::string& array) const {
        const Json& info = document_.at("arrays").at(array);
        std::size_t count = 1;
        for (const Json& extent : info.at("shape")) {
            count *= extent.get<std::size_t>();
        }
        return std::as_bytes(std::span(bytes_.constData(), std::size_t(bytes_.size())))
            .subspan(info.at("offset").get<std::size_t>(), count * 4);
    }

    void set_first(const std::string& array, const Json& dead) {
        const std::string name = array.substr(5);
        const auto from = raw(array);
        std::vector<float> values(from.size() / sizeof(float));
        std::memcpy(values.data(), from.data(), from.size());
        for (const Json& unit : dead.value(name, Json::array())) {
            values.at(unit.get<std::size_t>()) = -100;
        }
        executor_->write_slot(name, std::as_bytes(std::span(values)));
    }

    void write_arguments(std::int64_t step) {
        const std::string number = std::to_string(step);
        const auto total = static_cast<std::int64_t>(document_.at("losses").size());
        put(*executor_, "inputs", raw("inputs/" + number));
        put(*executor_, "targets", raw("targets/" + number));
        const auto batch = static_cast<std::size_t>(config_.global_batch_size);
        const std::vector<float> weights(batch, 1.0F);
        put(*executor_, "weights", std::as_bytes(std::span(weights)));
        const double base = config_.section("optimizer").at("learning_rate").get<double>();
        put_scalar(*executor_, "learning_rate",
                   static_cast<float>(base * compile::learning_rate_factor(
                                                 config_.section("lr_schedule"), step, total)));
        const std::size_t groups = optim::resolve_groups(config_.section("optimizer")).size();
        for (std::size_t group = 0; group < groups; ++group) {
            put_scalar(*executor_, compile::step_port(group, groups), step);
        }
        const std::array<std::int64_t, 3> random{std::int64_t(config_.seed), step,
                                                 step * config_.global_batch_size};
        put(*executor_, "random", std::as_bytes(std::span(random)));
        put_scalar(*executor_, "inverse_count", 1.0F / float(batch));
    }

    Json document_;
    QByteArray bytes_;
    compile::RunConfig config_;
    std::shared_ptr<const plan::ExecutionPlan> plan_;
    std::optional<exec::Executor> executor_;
    train::Watched watched_;
};

/// Why a spread is not what PyTorch found; empty: it is.
QString difference(const train::Spread& got, const Json& wanted) {
    // Errors of single values are relative to the array's own size.
    const double size = std::max(wanted.at("high").get<double>(), -wanted.at("low").get<double>());
    const auto differs = [&](const char* name, double value, double scale) {
        const double right = wanted.at(name).get<double>();
        return std::abs(value - right) <= kTolerance * scale + kRounding
                   ? QString()
                   : QString("%1 is %2, PyTorch %3; ").arg(name).arg(value).arg(right);
    };
    return differs("count", double(got.count), 0) + differs("norm", got.norm(), wanted["norm"]) +
           (wanted["norm"] < kRounding ? QString() : differs("zeros", double(got.zeros), 0)) +
           differs("mean", got.mean(), size) + differs("deviation", got.deviation(), size) +
           differs("low", got.low, size) + differs("high", got.high, size);
}

std::int64_t binned(const train::Spread& spread) {
    std::int64_t out = 0;
    for (const std::int64_t count : spread.bins) {
        out += count;
    }
    return out;
}

} // namespace

class LookTest : public QObject {
    Q_OBJECT

private slots:
    void what_is_seen_of_an_update_is_what_pytorch_sees_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("settings");
        const QStringList two{"mesh.devices=cpu:2", "training.micro_batch_size=4"};
        const QStringList fsdp = two + QStringList{"mesh.strategy=fsdp"};
        const QStringList tensor{"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"};
        const QStringList uneven{"mesh.devices=cpu:3", "mesh.strategy=tensor_parallel"};
        QTest::newRow("mlp") << "mlp" << QStringList{};
        QTest::newRow("mlp, two microsteps") << "mlp" << QStringList{"training.micro_batch_size=4"};
        QTest::newRow("mlp, data parallel") << "mlp" << two;
        QTest::newRow("mlp, optimizer sharded") << "mlp" << two + QStringList{"mesh.zero_stage=1"};
        QTest::newRow("mlp, sharded") << "mlp" << fsdp;
        QTest::newRow("mlp, tensor parallel") << "mlp" << tensor;
        QTest::newRow("mlp, parts of uneven size") << "mlp" << uneven;
        QTest::newRow("cnn") << "cnn" << QStringList{};
        QTest::newRow("cnn, sharded") << "cnn" << fsdp;
    }
    void what_is_seen_of_an_update_is_what_pytorch_sees() {
        QFETCH(QString, model);
        QFETCH(QStringList, settings);
        const Json figures = read_json("inside.json");
        const Json& wanted = figures.at("models").at(model.toStdString());
        std::vector<std::string> overrides;
        for (const QString& setting : settings) {
            overrides.push_back(setting.toStdString());
        }
        Trained trained(model.toStdString(), model == "mlp" ? figures.at("dead") : Json::object(),
                        overrides);
        const train::InsideLook look = trained.look(figures.at("updates"));

        const train::Watched& watched = trained.watched();
        QCOMPARE(watched.parameters.size(), wanted.at("parameters").size());
        for (std::size_t i = 0; i < watched.parameters.size(); ++i) {
            const std::string& name = watched.parameters[i].slot->name;
            const Json& right = wanted.at("parameters").at(name);
            const train::ParameterLook& seen = look.parameters[i];
            for (const auto& [what, spread] :
                 {std::pair{"weights", &seen.weights}, std::pair{"gradients", &seen.gradients},
                  std::pair{"updates", &seen.updates}}) {
                const QString problem = difference(*spread, right.at(what));
                QVERIFY2(problem.isEmpty(),
                         qPrintable(QString("%1 of %2: %3").arg(what, name.c_str(), problem)));
                QCOMPARE(binned(*spread), spread->count);
            }
            const double ratio = right.at("update_ratio").get<double>();
            QVERIFY(std::abs(seen.update_ratio - ratio) <= kTolerance * std::max(1.0, ratio));
        }
        // Of the cnn's first convolution the bias is added in the group of the relu behind it.
        // On a mesh its batch norm is corrected in the group behind it.
        const std::size_t hidden = model != "cnn" ? 0 : settings.isEmpty() ? 1 : 2;
        QCOMPARE(watched.activations.size(), wanted.at("activations").size() - hidden);
        for (std::size_t i = 0; i < watched.activations.size(); ++i) {
            const train::WatchedActivation& layer = watched.activations[i];
            const Json& right = wanted.at("activations").at(layer.layer);
            const QString problem = difference(look.activations[i].spread, right);
            QVERIFY2(problem.isEmpty(),
                     qPrintable(QString("%1: %2").arg(layer.layer.c_str(), problem)));
            if (layer.units > 0) {
                QCOMPARE(look.activations[i].dead, right.at("dead").get<std::int64_t>());
            }
        }
        if (model == "mlp") {
            QCOMPARE(watched.activations[0].units, std::int64_t{24});
            QVERIFY(look.activations[0].dead >= 2);
        }
    }

    void the_figures_come_from_the_script_beside_them() {
        const QByteArray hash =
            QCryptographicHash::hash(read("generate_inside.py"), QCryptographicHash::Sha256)
                .toHex();
        QCOMPARE(QByteArray::fromStdString(
                     read_json("inside.json").at("script_sha256").get<std::string>()),
                 hash);
    }
};

WEFT_TEST(LookTest)
#include "look_test.moc"
