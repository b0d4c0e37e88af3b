// SPDX-License-Identifier: Apache-2.0
// One row per layer: what it turns a sample into, how many weights it has, what it refuses.
#include "core/base/error.h"
#include "core/nn/layers/layer_list.h"
#include "core/passes/apply_precision.h"
#include "tests/support/run_programs.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;
using namespace weft::test;

namespace {

struct LayerCase {
    std::string layer; // JSON of the layer
    ir::Type input;    // one sample
    ir::Shape output;  // with a batch of 2
    std::int64_t parameters;
    std::string refused_input; // JSON of a layer in front that makes it fail, or empty
    std::string refusal;       // a part of the message
};

const ir::Type kImage = {ir::DType::f32, {6, 5, 3}};
const ir::Type kRow = {ir::DType::f32, {7}};
const ir::Type kTokenRow = {ir::DType::i32, {4}};

const std::string kFlattenJson = R"({"type": "flatten"})";
const std::string kLinearJson = R"({"type": "linear", "units": 3})";

std::vector<LayerCase> layer_cases() {
    return {
        {R"({"type": "linear", "units": 5})", kRow, {2, 5}, 7 * 5 + 5, "", ""},
        {R"({"type": "linear", "units": 5, "bias": false})", kRow, {2, 5}, 7 * 5, "", ""},
        {R"({"type": "conv2d", "channels": 4})",
         kImage,
         {2, 6, 5, 4},
         3 * 3 * 3 * 4 + 4,
         kFlattenJson,
         "images"},
        {R"({"type": "conv2d", "channels": 4, "kernel": 3, "stride": 2, "padding": "valid",
             "bias": false})",
         kImage,
         {2, 2, 2, 4},
         3 * 3 * 3 * 4,
         "",
         ""},
        {R"({"type": "conv2d", "channels": 1, "kernel": 5, "stride": 2})",
         kImage,
         {2, 3, 3, 1},
         5 * 5 * 3 + 1,
         "",
         ""},
        {R"({"type": "max_pool"})",
         kImage,
         {2, 3, 2, 3},
         0,
         R"({"type": "global_avg_pool"})",
         "images"},
        {R"({"type": "max_pool", "window": 3, "stride": 2, "padding": "same"})",
         kImage,
         {2, 3, 3, 3},
         0,
         "",
         ""},
        {R"({"type": "avg_pool", "window": 2})", kImage, {2, 3, 2, 3}, 0, "", ""},
        {R"({"type": "global_avg_pool"})", kImage, {2, 3}, 0, "", ""},
        {R"({"type": "flatten"})", kImage, {2, 90}, 0, "", ""},
        {R"({"type": "relu"})", kRow, {2, 7}, 0, "", ""},
        {R"({"type": "gelu"})", kRow, {2, 7}, 0, "", ""},
        {R"({"type": "silu"})", kRow, {2, 7}, 0, "", ""},
        {R"({"type": "tanh"})", kRow, {2, 7}, 0, "", ""},
        {R"({"type": "sigmoid"})", kRow, {2, 7}, 0, "", ""},
        {R"({"type": "dropout", "rate": 0.5})", kRow, {2, 7}, 0, "", ""},
        {R"({"type": "layer_norm"})", kImage, {2, 6, 5, 3}, 6, "", ""},
        {R"({"type": "rms_norm"})", kImage, {2, 6, 5, 3}, 3, "", ""},
        {R"({"type": "batch_norm"})", kImage, {2, 6, 5, 3}, 6, "", ""},
        {R"({"type": "embedding", "width": 3})",
         kTokenRow,
         {2, 4, 3},
         9 * 3,
         R"({"type": "embedding", "width": 2})",
         "tokens"},
        {R"({"type": "moe", "experts": 3})", // router, and 7 to 28 and back for each expert
         kRow,
         {2, 7},
         7 * 3 + 3 * 2 * 7 * 28,
         "",
         ""},
        {R"({"type": "moe", "experts": 2, "experts_per_token": 1, "inner": 5})",
         kImage,
         {2, 6, 5, 3},
         3 * 2 + 2 * 2 * 3 * 5,
         "",
         ""},
        {R"({"type": "residual", "layers": [{"type": "linear", "units": 7}, {"type": "relu"}]})",
         kRow,
         {2, 7},
         7 * 7 + 7,
         kLinearJson,
         "cannot be added"},
        {R"({"type": "repeat", "count": 3, "layers": [{"type": "linear", "units": 7}]})",
         kRow,
         {2, 7},
         3 * (7 * 7 + 7),
         "",
         ""},
        {R"({"type": "branches", "branches": [[], [{"type": "linear", "units": 2}]]})",
         kRow,
         {2, 9},
         7 * 2 + 2,
         "",
         ""},
        {R"({"type": "branches", "join": "add",
             "branches": [[], [{"type": "linear", "units": 7}]]})",
         kRow,
         {2, 7},
         7 * 7 + 7,
         kLinearJson,
         "cannot be added"},
    };
}

/// Layers with their defaults filled in, as a configuration would have them.
config::Json checked_layers(const std::string& list) {
    const config::FieldTable table = {nn::layers_field("layers", nn::kLayerDepth, "")};
    const config::Checked checked =
        config::check_fields({{"layers", config::json_of(list)}}, table);
    std::string problems;
    for (const auto& diagnostic : checked.diagnostics) {
        problems += config::to_text(diagnostic);
    }
    if (!checked.ok()) {
        throw std::runtime_error(problems);
    }
    return checked.value.at("layers");
}

/// A program of these layers for a batch of 2.
struct LayerProgram {
    ir::Program program;
    std::vector<nn::Variable> variables;
    std::vector<std::pair<std::string, ir::ValueId>> updates;
    ir::ValueId output;
};

LayerProgram layer_program(const std::string& list, const ir::Type& sample, nn::Mode mode) {
    LayerProgram out;
    ir::Type batch{sample.dtype, {2}};
    for (const std::int64_t extent : sample.shape) {
        batch.shape.push_back(extent);
    }
    ops::Builder builder(out.program, out.program.body);
    nn::Surroundings around{.mode = mode, .data = {sample, {ir::DType::i32, {}}, 9}};
    const ir::ValueId x = out.program.add_argument(ir::Role::batch, "inputs", batch);
    if (mode == nn::Mode::train) {
        around.random = out.program.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
        around.weights =
            out.program.add_argument(ir::Role::batch, "weights", {ir::DType::f32, {2}});
    }
    nn::ModelContext context(builder, around);
    out.output = nn::build_layers(context, checked_layers(list), "layers", x);
    out.program.add_result(ir::Role::output, "y", out.output);
    out.variables = context.variables();
    out.updates = context.updates();
    return out;
}

} // namespace

class LayerTest : public QObject {
    Q_OBJECT
private slots:
    void every_layer_has_a_case() {
        std::set<std::string> with_case;
        for (const LayerCase& row : layer_cases()) {
            with_case.insert(config::json_of(row.layer).at("type").get<std::string>());
        }
        for (const nn::LayerDef* def : nn::kLayers) {
            QVERIFY2(with_case.contains(std::string(def->name)), std::string(def->name).c_str());
        }
    }

    void shapes_and_parameter_counts_are_as_stated() {
        for (const LayerCase& row : layer_cases()) {
            for (const nn::Mode mode : {nn::Mode::train, nn::Mode::evaluate}) {
                const LayerProgram built = layer_program("[" + row.layer + "]", row.input, mode);
                QVERIFY2(built.program.type(built.output).shape == row.output, row.layer.c_str());
                std::int64_t count = 0;
                for (const nn::Variable& variable : built.variables) {
                    if (variable.kind == nn::Variable::Kind::parameter) {
                        count += variable.shape.elements();
                    }
                }
                QVERIFY2(count == row.parameters, row.layer.c_str());
            }
        }
    }

    void a_layer_refuses_what_does_not_fit_and_says_where() {
        for (const LayerCase& row : layer_cases()) {
            if (row.refused_input.empty()) {
                continue;
            }
            try {
                layer_program("[" + row.refused_input + ", " + row.layer + "]", row.input,
                              nn::Mode::evaluate);
                QFAIL(("accepted: " + row.layer).c_str());
            } catch (const Error& error) {
                QVERIFY2(error.text().find(row.refusal) != std::string::npos,
                         error.message().c_str());
                QCOMPARE(error.where(), std::string("layers.1"));
                QVERIFY(!error.hint().empty());
            }
        }
    }

    void nested_layers_have_the_path_of_their_place() {
        const LayerProgram built = layer_program(R"([{"type": "repeat", "count": 2, "layers": [
            {"type": "residual", "layers": [{"type": "linear", "units": 7, "bias": false}]}]}])",
                                                 kRow, nn::Mode::evaluate);
        QCOMPARE(built.variables.size(), std::size_t{2});
        QCOMPARE(built.variables[1].name,
                 std::string("layers.0.copies.1.layers.0.layers.0.weight"));
    }

    // mean of the two real rows 2 and 3; unbiased variance (0.5^2 + 0.5^2) / 1 = 0.5; momentum 0.1
    void batch_norm_moves_its_statistics_towards_the_batch() {
        LayerProgram built =
            layer_program(R"([{"type": "batch_norm"}])", {ir::DType::f32, {1}}, nn::Mode::train);
        for (const auto& [name, value] : built.updates) {
            built.program.add_result(ir::Role::state, name, value);
        }
        std::vector<exec::Tensor> arguments;
        for (const ir::Port& port : built.program.arguments) {
            if (port.name == "inputs") {
                arguments.push_back(f32({2, 1}, {2.0F, 3.0F}));
            } else if (port.name == "random") {
                arguments.push_back(i64({3}, {0, 0, 0}));
            } else if (port.name.ends_with("bias") || port.name.ends_with("mean")) {
                arguments.push_back(f32({1}, {0.0F}));
            } else {
                arguments.push_back(f32(built.program.type(port.value).shape, {1.0F, 1.0F}));
            }
        }
        const auto results = exec::interpret(built.program, arguments);
        QCOMPARE(scalar_of(results.at(1)), 0.25F); // 0 + 0.1 * (2.5 - 0)
        // 1 + 0.1 * (0.5 - 1), within the rounding of five operations
        QVERIFY(std::abs(scalar_of(results.at(2)) - 0.95F) < 1e-6F);
    }

    // Windows of 3 x 3 on an image of ones: at a corner four of nine pixels lie in it.
    void the_mean_of_a_window_counts_its_padding_or_not() {
        const auto corner = [](const char* counted) {
            const LayerProgram built = layer_program(
                std::string(
                    R"([{"type": "avg_pool", "window": 3, "stride": 1, "padding": "same")") +
                    counted + "}]",
                {ir::DType::f32, {3, 3, 1}}, nn::Mode::evaluate);
            const std::vector<exec::Tensor> images = {
                f32({2, 3, 3, 1}, std::vector<float>(18, 1.0F))};
            return scalar_of(exec::interpret(built.program, images).at(0));
        };
        QCOMPARE(corner(""), 4.0F / 9.0F);
        QCOMPARE(corner(R"(, "count_include_pad": true)"), 4.0F / 9.0F);
        QCOMPARE(corner(R"(, "count_include_pad": false)"), 1.0F);
    }

    // A product on either side, so that the layer takes and gives the compute type. Rows 8
    // and 8.125 have mean 8.0625 and variance 0.03125^2 * 4: what is far from zero beside its
    // spread shows rounding.
    void batch_norm_evaluates_in_bf16_compute_to_the_bits_that_it_trains_to() {
        const auto lowered = [](nn::Mode mode) {
            LayerProgram built = layer_program(
                R"([{"type": "linear", "units": 1, "bias": false}, {"type": "batch_norm"},
                    {"type": "linear", "units": 1, "bias": false}])",
                {ir::DType::f32, {1}}, mode);
            passes::apply_precision(built.program, ir::DType::bf16);
            std::vector<exec::Tensor> arguments;
            for (const ir::Port& port : built.program.arguments) {
                const auto ends = [&](const char* with) { return port.name.ends_with(with); };
                const ir::Shape& shape = built.program.type(port.value).shape;
                if (port.name == "inputs") {
                    arguments.push_back(f32({2, 1}, {8.0F, 8.125F}));
                } else if (port.name == "random") {
                    arguments.push_back(i64({3}, {0, 0, 0}));
                } else if (ends("mean")) {
                    arguments.push_back(f32(shape, {8.0625F}));
                } else if (ends("variance")) {
                    arguments.push_back(f32(shape, {0.00390625F}));
                } else if (ends("bias")) {
                    arguments.push_back(f32(shape, {0.3F}));
                } else {
                    arguments.push_back(
                        f32(shape,
                            std::vector<float>(static_cast<std::size_t>(shape.elements()), 1.0F)));
                }
            }
            return exec::interpret(built.program, arguments).at(0);
        };
        const exec::Tensor trained = lowered(nn::Mode::train);
        const exec::Tensor evaluated = lowered(nn::Mode::evaluate);
        QCOMPARE(evaluated.span<float>()[0], trained.span<float>()[0]);
        QCOMPARE(evaluated.span<float>()[1], trained.span<float>()[1]);
    }
};

WEFT_TEST(LayerTest)
#include "layer_test.moc"
