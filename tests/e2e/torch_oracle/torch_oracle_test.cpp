// SPDX-License-Identifier: Apache-2.0
// Ten f32 training steps of small models against PyTorch from the same weights and batches,
// and of those that draw from the same noise; samples that a trained one makes. generate.py and
// others made the figures; the script's hash and torch's version are stored beside them.
#include "core/compile/programs/programs.h"
#include "core/exec/executor.h"
#include "core/optim/groups.h"
#include "tests/support/weft_test.h"

#include <QCryptographicHash>
#include <QFile>

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using config::Json;

// f32 sums in another order; relative to the size of the values compared.
constexpr double kTolerance = 1e-4;

constexpr const char* kModels[] = {"mlp",
                                   "cnn",
                                   "gpt",
                                   "llama",
                                   "vit",
                                   "resnet",
                                   "vae",
                                   "vae_conv",
                                   "diffusion",
                                   "diffusion_velocity",
                                   "gan",
                                   "gan_hinge",
                                   "gan_wasserstein",
                                   "flow",
                                   "flow_pictures",
                                   "layers_image",
                                   "layers_sequence"};

QByteArray read(const QString& name) {
    QFile file(QStringLiteral(WEFT_TEST_DATA "/") + name);
    if (!file.open(QIODevice::ReadOnly)) {
        qFatal("missing %s", qPrintable(file.fileName()));
    }
    return file.readAll();
}

/// One model's figures.
struct Reference {
    Json document;
    QByteArray bytes;

    explicit Reference(const QString& name)
        : document(config::json_of(read(name + ".json").toStdString())),
          bytes(read(name + ".bin")) {}

    std::int64_t elements(const std::string& array) const {
        std::int64_t count = 1;
        for (const auto& extent : document["arrays"].at(array)["shape"]) {
            count *= extent.get<std::int64_t>();
        }
        return count;
    }
    std::span<const std::byte> raw(const std::string& array) const {
        const auto offset = document["arrays"].at(array)["offset"].get<std::int64_t>();
        return {reinterpret_cast<const std::byte*>(bytes.constData()) + offset,
                static_cast<std::size_t>(elements(array) * 4)};
    }
    std::vector<float> values(const std::string& array) const {
        std::vector<float> out(static_cast<std::size_t>(elements(array)));
        std::memcpy(out.data(), raw(array).data(), out.size() * sizeof(float));
        return out;
    }
};

data::SampleInfo sample_of(const Json& sample) {
    data::SampleInfo info;
    const auto shape = [](const Json& extents) {
        ir::Shape out;
        for (const auto& extent : extents) {
            out.push_back(extent.get<std::int64_t>());
        }
        return out;
    };
    const bool tokens = !sample.at("target").empty();
    info.input = {tokens ? ir::DType::i32 : ir::DType::f32, shape(sample.at("input"))};
    info.target = {ir::DType::i32, shape(sample.at("target"))};
    info.classes = sample.at("classes").get<std::int64_t>();
    return info;
}

template <class T>
void put_scalar(std::span<std::byte> bytes, T value) {
    QCOMPARE(bytes.size(), sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
}

void put(std::span<std::byte> bytes, std::span<const std::byte> values) {
    QCOMPARE(bytes.size(), values.size());
    std::memcpy(bytes.data(), values.data(), values.size());
}

float scalar(std::span<const std::byte> bytes) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof(float));
    return value;
}

bool close(double a, double b) {
    return std::abs(a - b) <= kTolerance * std::max(1.0, std::abs(b));
}

/// A key bias shifts all scores of a row alike, so its exact gradient is zero: what Adam makes of
/// the rounding noise is nobody's figure. qkv.bias holds query, key and value in thirds.
bool has_gradient(const std::string& parameter, std::size_t index, std::size_t size) {
    return !parameter.ends_with("attention.qkv.bias") || index / (size / 3) != 1;
}

} // namespace

class TorchOracleTest : public QObject {
    Q_OBJECT

private slots:
    void ten_losses_and_final_weights_match_pytorch_data() {
        QTest::addColumn<QString>("model");
        for (const char* name : kModels) {
            QTest::newRow(name) << QString(name);
        }
    }

    void ten_losses_and_final_weights_match_pytorch() {
        QFETCH(QString, model);
        const Reference reference(model);
        const compile::CheckedRun checked =
            compile::read_run_config(reference.document.at("config"), ".",
                                     {"optimizer.weight_decay_on=all"}); // as PyTorch's groups
        QVERIFY2(checked.ok(), checked.diagnostics.empty()
                                   ? ""
                                   : config::to_text(checked.diagnostics.front()).c_str());
        compile::PipelineOptions options;
        options.backends = {weft_cpu_backend(), weft_reference_backend()};
        const auto plan = std::make_shared<const plan::ExecutionPlan>(compile::compile_run(
            checked.config, sample_of(reference.document.at("sample")), options));
        exec::Executor executor(plan, options.backends);

        for (const auto& [name, info] : reference.document.at("arrays").items()) {
            if (name.starts_with("init/")) {
                put(executor.slot(name.substr(5)), reference.raw(name));
            }
        }
        train(reference, executor, checked.config);
        compare_weights(reference, executor);
        if (reference.document.at("arrays").contains("samples")) {
            compare_samples(reference, executor);
        }
    }

    void the_figures_come_from_the_script_beside_them() {
        for (const char* name : kModels) {
            const Reference reference((QString(name)));
            const std::string script = reference.document.value("script", "generate.py");
            const QByteArray hash = QCryptographicHash::hash(read(QString::fromStdString(script)),
                                                             QCryptographicHash::Sha256)
                                        .toHex();
            QCOMPARE(QByteArray::fromStdString(
                         reference.document.at("script_sha256").get<std::string>()),
                     hash);
        }
    }

private:
    static void train(const Reference& reference, exec::Executor& executor,
                      const compile::RunConfig& config) {
        const double base = config.section("optimizer").at("learning_rate").get<double>();
        const Json& losses = reference.document.at("losses");
        const Json& norms = reference.document.at("grad_norms");
        const auto total = static_cast<std::int64_t>(losses.size());
        const std::size_t groups = optim::resolve_groups(config.section("optimizer")).size();
        for (std::int64_t step = 0; step < total; ++step) {
            const auto argument = [&](const char* name) {
                return executor.argument("train_step", name);
            };
            const std::string number = std::to_string(step);
            put(argument("inputs"), reference.raw("inputs/" + number));
            put(argument("targets"), reference.raw("targets/" + number));
            const auto targets = reference.elements("targets/" + number);
            const std::vector<float> weights(argument("weights").size() / sizeof(float), 1.0F);
            put(argument("weights"), std::as_bytes(std::span(weights)));
            put_scalar(argument("learning_rate"),
                       static_cast<float>(base * compile::learning_rate_factor(
                                                     config.section("lr_schedule"), step, total)));
            for (std::size_t group = 0; group < groups; ++group) {
                put_scalar(argument(compile::step_port(group, groups).c_str()), step);
            }
            const std::array<std::int64_t, 3> random{static_cast<std::int64_t>(config.seed), step,
                                                     step * config.global_batch_size};
            put(argument("random"), std::as_bytes(std::span(random)));
            put_scalar(argument("inverse_count"), 1.0F / static_cast<float>(targets));
            executor.run("train_step");
            const double loss = scalar(executor.result("train_step", "loss"));
            const auto at = static_cast<std::size_t>(step);
            QVERIFY2(close(loss, losses[at].get<double>()),
                     qPrintable(QString("step %1: loss %2, PyTorch %3")
                                    .arg(step)
                                    .arg(loss, 0, 'g', 9)
                                    .arg(losses[at].get<double>(), 0, 'g', 9)));
            QVERIFY(
                close(scalar(executor.result("train_step", "grad_norm")), norms[at].get<double>()));
            const Json parts = reference.document.value("metrics", Json::object());
            for (const auto& [name, values] : parts.items()) {
                QVERIFY2(
                    close(scalar(executor.result("train_step", name)), values[at].get<double>()),
                    name.c_str());
            }
        }
    }

    static void compare_samples(const Reference& reference, exec::Executor& executor) {
        for (const char* name : {"latents", "labels"}) {
            if (!reference.document.at("arrays").contains(name)) {
                continue; // of no class
            }
            const std::span<std::byte> argument = executor.argument("make", name);
            put(argument, reference.raw(name).first(argument.size())); // a micro batch at a time
        }
        executor.run("make");
        const std::vector<float> wanted = reference.values("samples");
        const std::span<const std::byte> made = executor.result("make", "samples");
        std::vector<float> got(made.size() / sizeof(float));
        QVERIFY(!got.empty() && got.size() <= wanted.size());
        std::memcpy(got.data(), made.data(), made.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            // weights differ by the tolerance, and every step adds to it
            QVERIFY2(
                std::abs(got[i] - wanted[i]) <= 20 * kTolerance,
                qPrintable(
                    QString("sample value %1: %2, PyTorch %3").arg(i).arg(got[i]).arg(wanted[i])));
        }
    }

    static void compare_weights(const Reference& reference, exec::Executor& executor) {
        int compared = 0;
        for (const auto& [name, info] : reference.document.at("arrays").items()) {
            if (!name.starts_with("final/")) {
                continue;
            }
            const std::string parameter = name.substr(6);
            const std::vector<float> wanted = reference.values(name);
            const std::span<const std::byte> bytes = executor.slot(parameter);
            std::vector<float> got(wanted.size());
            QCOMPARE(bytes.size(), got.size() * sizeof(float));
            std::memcpy(got.data(), bytes.data(), bytes.size());
            for (std::size_t i = 0; i < got.size(); ++i) {
                if (has_gradient(parameter, i, got.size())) {
                    QVERIFY2(close(got[i], wanted[i]),
                             qPrintable(QString("%1[%2]: %3, PyTorch %4")
                                            .arg(QString::fromStdString(parameter))
                                            .arg(i)
                                            .arg(got[i])
                                            .arg(wanted[i])));
                }
            }
            ++compared;
        }
        QVERIFY(compared >= 6);
    }
};

WEFT_TEST(TorchOracleTest)
#include "torch_oracle_test.moc"
