// SPDX-License-Identifier: Apache-2.0
#include "tests/nn/loss_figures.h"

#include "core/autodiff/gradients.h"
#include "core/base/check.h"

#include <algorithm>

namespace weft::test {
namespace {

class LossRun {
public:
    explicit LossRun(const LossInput& input) : input_(input) { program_.name = "loss"; }

    LossFigures run(const nn::LossDef& loss, const config::Json& settings) {
        const std::int64_t values = std::ssize(input_.outputs) / input_.samples;
        const std::int64_t n = input_.samples;
        nn::Prediction p;
        const std::int64_t places = input_.positions;
        p.output =
            add<float>("output", ir::DType::f32,
                       places > 0 ? ir::Shape{n, places, values / places} : ir::Shape{n, values},
                       input_.outputs);
        p.target = input_.classes.empty()
                       ? add<float>("target", ir::DType::f32, {n, std::ssize(input_.numbers) / n},
                                    input_.numbers)
                       : add<std::int32_t>("target", ir::DType::i32, {n}, input_.classes);
        if (!input_.shares.empty()) {
            p.other = add<std::int32_t>("other", ir::DType::i32, {n}, input_.others);
            p.share = add<float>("share", ir::DType::f32, {n}, input_.shares);
        }
        ops::Builder b(program_, program_.body);
        const ir::ValueId terms = loss.build(b, settings, p);
        program_.add_result(ir::Role::output, "terms", terms);
        const std::vector<ir::ValueId> by = {p.output};
        program_.add_result(
            ir::Role::output, "gradient",
            autodiff::append_gradients(b, ops::reduce_sum(b, terms, {0}), ops::constant(b, 1.0), by)
                .front());
        const auto found = exec::interpret(program_, arguments_);
        const auto doubles = [](const exec::Tensor& tensor) {
            const auto span = tensor.span<float>();
            return std::vector<double>(span.begin(), span.end());
        };
        return {doubles(found[0]), doubles(found[1])};
    }

private:
    template <class T>
    ir::ValueId add(const char* name, ir::DType dtype, ir::Shape shape,
                    const std::vector<T>& from) {
        exec::Tensor& tensor = arguments_.emplace_back(ir::Type{dtype, shape});
        WEFT_CHECK(from.size() == tensor.span<T>().size(), "a number per element");
        std::copy(from.begin(), from.end(), tensor.span<T>().begin());
        return program_.add_argument(ir::Role::batch, name, {dtype, shape});
    }

    const LossInput& input_;
    ir::Program program_;
    std::vector<exec::Tensor> arguments_;
};

} // namespace

LossFigures figures_of(const std::string& settings, const LossInput& input) {
    config::Json given = config::json_of(settings);
    const nn::LossDef* loss = nn::find_loss(given.at("type").get<std::string>());
    WEFT_CHECK(loss != nullptr, "there is such a loss");
    given.erase("type");
    const config::Checked checked = config::check_fields(given, loss->fields());
    WEFT_CHECK(checked.ok(), "the settings are right");
    return LossRun(input).run(*loss, checked.value);
}

} // namespace weft::test
