// SPDX-License-Identifier: Apache-2.0
// Twenty updates in f64 on a mesh and on one device end in the same weights, but for those whose
// gradient is exactly zero: there Adam divides rounding by the root of its square, and the
// weight walks.
#include "core/exec/mesh_interpreter.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/support/weft_test.h"

#include <cmath>

using namespace weft;
using namespace weft::test;

namespace {

// f64 sums in another order, 1e-16 each; twenty updates of a model that does not diverge.
constexpr double kWeightTolerance = 1e-10;
// Rounding of f64 sums whose terms are gradients of at most some units.
constexpr double kNoGradient = 1e-14;
constexpr int kSteps = 20;

/// A part of a parameter, or a statistic of it, that changes no loss; and why.
struct ZeroGradient {
    const char* model;
    const char* parameter;
    int first_third, thirds; // of its elements; 0, 3: all
    const char* because;
};

const ZeroGradient kZeroGradients[] = {
    {kCnn, "layers.0.bias", 0, 3, "batch norm takes the mean off, and any shift with it"},
    {kCnn, "layers.3.bias", 0, 3, "batch norm takes the mean off, and any shift with it"},
    {kCnn, "layers.1.running_mean", 0, 3, "follows the bias before it"},
    {kCnn, "layers.4.running_mean", 0, 3, "follows the bias before it"},
    {kGpt, "blocks.0.attention.qkv.bias", 1, 1,
     "a shift of all keys shifts a query's scores alike, which softmax does not see"},
    {kGpt, "blocks.1.attention.qkv.bias", 1, 1,
     "a shift of all keys shifts a query's scores alike, which softmax does not see"},
};

/// Whether element `i` of `count` is one of those without gradient. Optimizer state belongs to its
/// parameter.
bool walks(const char* model, const std::string& slot, std::size_t i, std::size_t count) {
    const std::string parameter = slot.substr(slot.find('/') + 1);
    for (const ZeroGradient& zero : kZeroGradients) {
        const std::size_t third = i * 3 / count;
        const auto first = static_cast<std::size_t>(zero.first_third);
        if (zero.model == model && parameter == zero.parameter && third >= first &&
            third < first + static_cast<std::size_t>(zero.thirds)) {
            return true;
        }
    }
    return false;
}

/// State after the updates, by name; on one device or on the mesh.
std::map<std::string, exec::Tensor> trained(const WideRun& run, bool on_mesh) {
    train::StepArguments arguments(run.config, run.data, 1);
    std::vector<exec::Tensor> results;
    for (int i = 0; i < kSteps; ++i) {
        const auto now = arguments.next(run.step.whole);
        results = on_mesh ? exec::interpret_on_mesh(run.step.local, run.step.mesh, now)
                          : exec::interpret(run.step.whole, now);
        arguments.take(run.step.whole, results);
    }
    std::map<std::string, exec::Tensor> out;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ir::Port& port = run.step.whole.results[i];
        if (port.role == ir::Role::state) {
            out[port.name] = std::move(results[i]);
        }
    }
    return out;
}

std::string first_apart(const char* model, const std::map<std::string, exec::Tensor>& expected,
                        const std::map<std::string, exec::Tensor>& actual) {
    for (const auto& [name, tensor] : expected) {
        const auto a = tensor.span<double>();
        const auto b = actual.at(name).span<double>();
        double scale = 0;
        double off = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (!walks(model, name, i, a.size())) {
                scale = std::max(scale, std::abs(a[i]));
                off = std::max(off, std::isfinite(b[i]) ? std::abs(a[i] - b[i]) : 1.0);
            }
        }
        if (off > kWeightTolerance * scale) {
            return name + " is off by " + std::to_string(off / scale * 1e10) + "e-10";
        }
    }
    return {};
}

} // namespace

class ReferenceModeTest : public QObject {
    Q_OBJECT
private slots:
    void weights_after_twenty_updates_are_those_of_one_device_data() {
        QTest::addColumn<int>("model");
        QTest::addColumn<int>("variant");
        for (std::size_t i = 0; i < variants().size(); ++i) {
            // Each strategy with one model, by turns.
            QTest::addRow("model %d, %s", static_cast<int>(i % 3), variants()[i].name)
                << static_cast<int>(i % 3) << static_cast<int>(i);
        }
        QTest::newRow("CNN, 2d on 2 x 2") << 1 << 10;
        QTest::newRow("GPT, 2d on 4 x 2 with ZeRO 3") << 2 << 11;
    }

    void weights_after_twenty_updates_are_those_of_one_device() {
        QFETCH(int, model);
        QFETCH(int, variant);
        const char* const models[] = {kMlp, kCnn, kGpt};
        const WideRun run =
            wide_run(models[model], variants()[static_cast<std::size_t>(variant)].overrides);
        const std::string wrong =
            first_apart(models[model], trained(run, false), trained(run, true));
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void the_listed_gradients_are_zero_and_no_others() {
        for (const char* model : {kMlp, kCnn, kGpt}) {
            const WideRun run = wide_run(model, {"mesh.devices=cpu:2"});
            train::StepArguments arguments(run.config, run.data, 1);
            exec::Interpreter one(run.step.whole, {});
            const auto now = arguments.next(run.step.whole);
            for (std::size_t i = 0; i < now.size(); ++i) {
                one.at(0, run.step.whole.arguments[i].value) = now[i];
            }
            one.run(run.step.whole.body);
            int gradients = 0;
            for (std::size_t v = 0; v < run.step.whole.values.size(); ++v) {
                const std::string& name = run.step.whole.values[v].name;
                if (!name.starts_with("gradient/")) {
                    continue;
                }
                const auto values = one.at(0, {static_cast<std::int32_t>(v)}).span<double>();
                double listed = 0;
                double other = 0;
                std::size_t others = 0;
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const bool zero = walks(model, name, i, values.size());
                    double& most = zero ? listed : other;
                    most = std::max(most, std::abs(values[i]));
                    others += zero ? 0 : 1;
                }
                ++gradients;
                QVERIFY2(listed < kNoGradient, name.c_str());
                QVERIFY2(others == 0 || other > 1e3 * kNoGradient, name.c_str());
            }
            QVERIFY(gradients >= 6);
        }
    }
};

WEFT_TEST(ReferenceModeTest)
#include "reference_mode_test.moc"
