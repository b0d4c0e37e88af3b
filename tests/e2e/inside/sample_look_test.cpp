// SPDX-License-Identifier: Apache-2.0
// What the layers of small models make of one sample, and the weights of their attention, against
// PyTorch, from the same weights and samples (generate_looks.py made the figures).
#include "core/compile/programs/programs.h"
#include "core/train/sample_look/sample_looker.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QCryptographicHash>
#include <QFile>

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using config::Json;

// f32 products summed in another order, through two blocks; of values of size 1.
constexpr double kLookTolerance = 3e-5;

QByteArray file_of(const QString& name) {
    QFile file(QStringLiteral(WEFT_TEST_DATA "/") + name);
    if (!file.open(QIODevice::ReadOnly)) {
        qFatal("missing %s", qPrintable(file.fileName()));
    }
    return file.readAll();
}

Json json_file(const QString& name) {
    return config::json_of(file_of(name).toStdString());
}

/// A model of ../torch_oracle with its trained weights.
class Oracle {
public:
    explicit Oracle(const std::string& model, const std::vector<std::string>& settings = {})
        : document_(json_file(QString::fromStdString("../torch_oracle/" + model + ".json"))),
          bytes_(file_of(QString::fromStdString("../torch_oracle/" + model + ".bin"))) {
        const compile::CheckedRun checked =
            compile::read_run_config(document_.at("config"), ".", settings);
        if (!checked.ok()) {
            qFatal("%s", config::to_text(checked.diagnostics.front()).c_str());
        }
        config_ = checked.config;
        ir::Shape input;
        for (const Json& extent : document_.at("sample").at("input")) {
            input.push_back(extent.get<std::int64_t>());
        }
        const bool text = input.rank() == 1;
        info_.input = {text ? ir::DType::i32 : ir::DType::f32, input};
        info_.target = {ir::DType::i32, text ? input : ir::Shape{}};
        info_.classes = document_.at("sample").at("classes").get<std::int64_t>();
        compile::PipelineOptions options;
        options.backends = {weft_cpu_backend(), weft_reference_backend()};
        plan_ = std::make_shared<const plan::ExecutionPlan>(
            compile::compile_run(config_, info_, options, compile::Scope::use));
        executor_.emplace(plan_, options.backends);
        train::initialise(*executor_, config_);
        for (const auto& [name, info] : document_.at("arrays").items()) {
            if (name.starts_with("final/")) {
                executor_->write_slot(name.substr(6), raw(name));
            }
        }
    }

    train::SampleLooker looker() { return {config_, info_, *executor_, 1}; }
    /// The first one.
    std::span<const std::byte> sample() const {
        return raw("inputs/0").first(static_cast<std::size_t>(info_.input.bytes()));
    }
    std::vector<std::int32_t> tokens() const {
        std::vector<std::int32_t> out(sample().size() / sizeof(std::int32_t));
        std::memcpy(out.data(), sample().data(), sample().size());
        return out;
    }

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

    Json document_;
    QByteArray bytes_;
    compile::RunConfig config_;
    data::SampleInfo info_;
    std::shared_ptr<const plan::ExecutionPlan> plan_;
    std::optional<exec::Executor> executor_;
};

/// The largest difference of two lists; NaN where they are not of one length.
double distance(const std::vector<float>& got, const Json& wanted) {
    if (got.size() != wanted.size()) {
        return NAN;
    }
    double out = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        out = std::max(out, std::abs(double(got[i]) - wanted[i].get<double>()));
    }
    return out;
}

/// [T, H, D]: what weights of attention make of the values.
std::vector<float> mixed(const train::AttentionLook& look) {
    std::vector<float> out(look.out.size());
    for (std::int64_t head = 0; head < look.heads; ++head) {
        const std::vector<float> weights = look.weights(head);
        const std::int64_t of = head / (look.heads / look.key_heads);
        for (std::int64_t t = 0; t < look.queries; ++t) {
            for (std::int64_t d = 0; d < look.width; ++d) {
                double sum = 0;
                for (std::int64_t s = 0; s < look.keys; ++s) {
                    sum += double(weights[std::size_t(t * look.keys + s)]) *
                           double(look.v[std::size_t((s * look.key_heads + of) * look.width + d)]);
                }
                out[std::size_t((t * look.heads + head) * look.width + d)] = float(sum);
            }
        }
    }
    return out;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double out = a.size() == b.size() ? 0 : NAN;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        out = std::max(out, std::abs(double(a[i]) - double(b[i])));
    }
    return out;
}

/// What PyTorch says otherwise; empty: nothing.
QStringList differences(const train::SampleLook& look, const Json& wanted) {
    QStringList out;
    std::size_t known = 0;
    for (const train::LayerLook& layer : look.layers) {
        if (const auto right = wanted.at("layers").find(layer.layer);
            right != wanted.at("layers").end()) {
            ++known;
            const auto extents = right->at("shape").get<std::vector<std::int64_t>>();
            const ir::Shape shape{std::span(extents)};
            const double off = distance(layer.values, right->at("values"));
            if (layer.shape != shape || !(off <= kLookTolerance)) {
                out << QString("%1 %2: by %3")
                           .arg(layer.layer.c_str(), ir::to_text(layer.shape).c_str())
                           .arg(off);
            }
        }
    }
    if (known != wanted.at("layers").size()) {
        out << QString("%1 layers of %2").arg(known).arg(wanted.at("layers").size());
    }
    if (look.attention.size() != wanted.at("attention").size()) {
        out << QString("%1 layers attend").arg(look.attention.size());
    }
    for (const train::AttentionLook& one : look.attention) {
        const Json& right = wanted.at("attention").at(one.layer);
        std::vector<float> heads;
        std::vector<float> mean(std::size_t(one.queries * one.keys));
        for (std::int64_t head = 0; head < one.heads; ++head) {
            const std::vector<float> weights = one.weights(head);
            heads.insert(heads.end(), weights.begin(), weights.end());
            for (std::size_t i = 0; i < weights.size(); ++i) {
                mean[i] += weights[i] / float(one.heads);
            }
        }
        const double off = distance(heads, right.at("values"));
        const double of_mean = distance(one.mean_weights(), mean);
        const double of_output = distance(mixed(one), one.out);
        if (!(off <= kLookTolerance && of_mean <= kLookTolerance && of_output <= kLookTolerance)) {
            out << QString("attention %1: by %2, mean %3, output %4")
                       .arg(one.layer.c_str())
                       .arg(off)
                       .arg(of_mean)
                       .arg(of_output);
        }
    }
    return out;
}

QString refusal(train::SampleLooker& looker, const std::vector<std::int32_t>& text) {
    const auto error = test::error_of([&] { looker.look_at_text(text); });
    return error ? QString::fromStdString(error->text()) : QString();
}

} // namespace

class SampleLookTest : public QObject {
    Q_OBJECT

private slots:
    void layers_and_attention_are_what_pytorch_makes_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("vit") << "vit" << QStringList{};
        QTest::newRow("gpt") << "gpt" << QStringList{};
        QTest::newRow("llama: rotary, shared keys") << "llama" << QStringList{};
        QTest::newRow("cnn") << "cnn" << QStringList{};
        QTest::newRow("vit on a mesh")
            << "vit" << QStringList{"mesh.devices=cpu:2", "mesh.strategy=fsdp"};
    }
    void layers_and_attention_are_what_pytorch_makes() {
        QFETCH(QString, model);
        QFETCH(QStringList, settings);
        std::vector<std::string> overrides;
        for (const QString& setting : settings) {
            overrides.push_back(setting.toStdString());
        }
        Oracle oracle(model.toStdString(), overrides);
        const train::SampleLook look = oracle.looker().look(oracle.sample());
        const QStringList wrong =
            differences(look, json_file("looks.json").at("models").at(model.toStdString()));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("; ")));
        QCOMPARE(look.sample.size(), oracle.sample().size());
        // 8 x 8 pixels in patches of 4, behind a class token.
        QCOMPARE(look.patches.has_value(), model == "vit");
        if (look.patches) {
            QCOMPARE(look.patches->rows, std::int64_t{2});
            QCOMPARE(look.patches->columns, std::int64_t{2});
            QCOMPARE(look.patches->before, std::int64_t{1});
        }
    }

    void a_text_has_the_positions_that_it_fills_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("gpt") << "gpt";
        QTest::newRow("llama") << "llama";
    }
    // Under a causal mask what comes later changes nothing: the figures of the whole sample, cut.
    void a_text_has_the_positions_that_it_fills() {
        QFETCH(QString, model);
        Oracle oracle(model.toStdString());
        train::SampleLooker looker = oracle.looker();
        std::vector<std::int32_t> tokens = oracle.tokens();
        tokens.resize(5);
        const train::SampleLook look = looker.look_at_text(tokens);
        QCOMPARE(look.tokens, tokens);
        const Json wanted = json_file("looks.json").at("models").at(model.toStdString());
        for (const train::AttentionLook& one : look.attention) {
            QVERIFY(one.is_masked());
            const Json& right = wanted.at("attention").at(one.layer);
            for (std::int64_t head = 0; head < one.heads; ++head) {
                const std::vector<float> weights = one.weights(head);
                QCOMPARE(weights.size(), std::size_t{25});
                for (std::int64_t t = 0; t < 5; ++t) {
                    for (std::int64_t s = 0; s < 5; ++s) {
                        const double expected =
                            right.at("values")[std::size_t((head * 8 + t) * 8 + s)].get<double>();
                        QVERIFY(std::abs(double(weights[std::size_t(t * 5 + s)]) - expected) <=
                                kLookTolerance);
                        QCOMPARE(one.sees(t, s), s <= t);
                    }
                }
            }
        }
        for (const train::LayerLook& layer : look.layers) {
            QCOMPARE(layer.shape[0], std::int64_t{5});
            QCOMPARE(std::ssize(layer.values), layer.shape.elements());
        }
        // Longer than the context: its end.
        tokens = oracle.tokens();
        tokens.insert(tokens.begin(), {1, 2, 3});
        QCOMPARE(looker.look_at_text(tokens).tokens, oracle.tokens());
    }

    void what_cannot_be_looked_at_is_said() {
        Oracle gpt("gpt");
        train::SampleLooker looker = gpt.looker();
        const std::vector<std::int32_t> none, unknown{3, 11};
        QVERIFY(refusal(looker, none).contains("no token"));
        QVERIFY(refusal(looker, unknown).contains("vocabulary"));
        Oracle cnn("cnn");
        train::SampleLooker of_pictures = cnn.looker();
        QVERIFY(refusal(of_pictures, unknown).contains("does not write text"));
    }

    void the_figures_come_from_the_script_beside_them() {
        const QByteArray hash =
            QCryptographicHash::hash(file_of("generate_looks.py"), QCryptographicHash::Sha256)
                .toHex();
        QCOMPARE(QByteArray::fromStdString(
                     json_file("looks.json").at("script_sha256").get<std::string>()),
                 hash);
    }
};

WEFT_TEST(SampleLookTest)
#include "sample_look_test.moc"
