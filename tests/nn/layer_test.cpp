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
const ir::Type kSequence = {ir::DType::f32, {6, 5}};
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
        {R"({"type": "conv2d", "channels": 6, "groups": 3, "stride": 2})", // depthwise
         kImage,
         {2, 3, 3, 6},
         3 * 3 * 6 + 6,
         R"({"type": "conv2d", "channels": 4})",
         "4 input channels do not divide into 3 groups"},
        {R"({"type": "conv2d", "channels": 4, "groups": 2, "dilation": 2, "padding": "valid"})",
         {ir::DType::f32, {7, 5, 6}},
         {2, 3, 1, 4},
         3 * 3 * 3 * 4 + 4,
         R"({"type": "max_pool"})",
         "window of 5 x 5 does not fit"},
        {R"({"type": "conv2d", "channels": 4, "kernel": 2, "dilation": 4,
             "weight_norm": "weight"})",
         kImage,
         {2, 6, 5, 4},
         2 * 2 * 3 * 4 + 4 + 4,
         "",
         ""},
        {R"({"type": "linear", "units": 5, "weight_norm": "spectral"})",
         kRow,
         {2, 5},
         7 * 5 + 5,
         "",
         ""},
        {R"({"type": "sequence"})", kImage, {2, 6, 15}, 0, kFlattenJson, "images"},
        {R"({"type": "sequence", "along": "columns"})", kImage, {2, 5, 18}, 0, "", ""},
        {R"({"type": "lstm", "units": 4})",
         kSequence,
         {2, 6, 4},
         5 * 16 + 16 + 4 * 16,
         kFlattenJson,
         "sequences"},
        {R"({"type": "lstm", "units": 4, "output": "last"})",
         kSequence,
         {2, 4},
         5 * 16 + 16 + 4 * 16,
         "",
         ""},
        {R"({"type": "gru", "units": 3})",
         kSequence,
         {2, 6, 3},
         5 * 9 + 9 + 3 * 9 + 9,
         kFlattenJson,
         "sequences"},
        {R"({"type": "gru", "units": 3, "output": "last"})",
         kSequence,
         {2, 3},
         5 * 9 + 9 + 3 * 9 + 9,
         "",
         ""},
        {R"({"type": "multi_head_attention", "heads": 5})",
         kSequence,
         {2, 6, 5},
         4 * (5 * 5 + 5),
         R"({"type": "conv1d", "channels": 4})",
         "4 channels do not divide into 5 heads"},
        {R"({"type": "time_embedding", "times": 20, "width": 6})",
         kTokenRow,
         {2, 4, 6},
         0,
         R"({"type": "embedding", "width": 2})",
         "whole numbers"},
        {R"({"type": "conv1d", "channels": 4})",
         kSequence,
         {2, 6, 4},
         3 * 5 * 4 + 4,
         kFlattenJson,
         "sequences"},
        {R"({"type": "conv1d", "channels": 4, "kernel": 2, "stride": 2, "padding": "valid",
             "bias": false})",
         kSequence,
         {2, 3, 4},
         2 * 5 * 4,
         "",
         ""},
        {R"({"type": "conv2d_transpose", "channels": 4})",
         kImage,
         {2, 12, 10, 4},
         3 * 3 * 3 * 4 + 4,
         kFlattenJson,
         "images"},
        {R"({"type": "conv2d_transpose", "channels": 2, "kernel": 4, "stride": 3,
             "padding": "valid", "bias": false})",
         kImage,
         {2, 19, 16, 2},
         4 * 4 * 3 * 2,
         "",
         ""},
        {R"({"type": "upsample", "factor": 3})", kImage, {2, 18, 15, 3}, 0, kFlattenJson, "images"},
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
        {R"({"type": "group_norm", "groups": 3})",
         kImage,
         {2, 6, 5, 3},
         6,
         R"({"type": "conv2d", "channels": 4})",
         "4 channels do not divide into 3 groups"},
        {R"({"type": "group_norm", "groups": 1})", kRow, {2, 7}, 14, "", ""},
        {R"({"type": "instance_norm"})", kImage, {2, 6, 5, 3}, 6, kFlattenJson, "several points"},
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

    // By the definition, pixel by pixel, in double.
    void a_transposed_convolution_lays_each_pixels_window_into_the_output() {
        for (const bool same : {true, false}) {
            const char* const list = same ? R"([{"type": "conv2d_transpose", "channels": 2,
                "bias": false, "kernel": 3, "stride": 2}])"
                                          : R"([{"type": "conv2d_transpose", "channels": 2,
                "bias": false, "kernel": 3, "stride": 2, "padding": "valid"}])";
            const LayerProgram built =
                layer_program(list, {ir::DType::f32, {2, 3, 2}}, nn::Mode::evaluate);
            const std::vector<float> x = wave(2 * 2 * 3 * 2, 0.3);
            const std::vector<float> w = wave(3 * 3 * 2 * 2, 1.1);
            const std::vector<exec::Tensor> arguments = {f32({2, 2, 3, 2}, x),
                                                         f32({3, 3, 2, 2}, w)};
            const exec::Tensor y = exec::interpret(built.program, arguments).at(0);
            const std::int64_t height = same ? 4 : 5;
            const std::int64_t width = same ? 6 : 7;
            std::vector<double> expected(static_cast<std::size_t>(2 * height * width * 2));
            for (std::int64_t n = 0; n < 2; ++n) {
                for (std::int64_t i = 0; i < 2 * 3 * 9 * 4; ++i) { // row, column, window, channels
                    const std::int64_t out = i % 2;
                    const std::int64_t in = i / 2 % 2;
                    const std::int64_t kx = i / 4 % 3;
                    const std::int64_t ky = i / 12 % 3;
                    const std::int64_t column = i / 36 % 3;
                    const std::int64_t row = i / 108;
                    // "same": a total of one pixel is cut off, the odd one at the end
                    const std::int64_t to_y = row * 2 + ky;
                    const std::int64_t to_x = column * 2 + kx;
                    if (to_y >= height || to_x >= width) {
                        continue;
                    }
                    expected[static_cast<std::size_t>(((n * height + to_y) * width + to_x) * 2 +
                                                      out)] +=
                        static_cast<double>(
                            x[static_cast<std::size_t>(((n * 2 + row) * 3 + column) * 2 + in)]) *
                        static_cast<double>(
                            w[static_cast<std::size_t>(((ky * 3 + kx) * 2 + out) * 2 + in)]);
                }
            }
            for (std::size_t i = 0; i < expected.size(); ++i) {
                // f32 sums of at most eight terms below 1
                QVERIFY(std::abs(static_cast<double>(y.span<float>()[i]) - expected[i]) < 1e-6);
            }
        }
    }

    void upsampling_repeats_every_pixel() {
        const LayerProgram built = layer_program(R"([{"type": "upsample", "factor": 3}])",
                                                 {ir::DType::f32, {2, 2, 2}}, nn::Mode::evaluate);
        const std::vector<float> x = wave(2 * 2 * 2 * 2, 0.1);
        const std::vector<exec::Tensor> arguments = {f32({2, 2, 2, 2}, x)};
        const exec::Tensor y = exec::interpret(built.program, arguments).at(0);
        for (std::size_t i = 0; i < 2 * 6 * 6 * 2; ++i) {
            const std::size_t channel = i % 2;
            const std::size_t column = i / 2 % 6 / 3;
            const std::size_t row = i / 12 % 6 / 3;
            QCOMPARE(y.span<float>()[i], x[((i / 72 * 2 + row) * 2 + column) * 2 + channel]);
        }
    }

    // Vaswani et al. 2017, section 3.5, cosines first.
    void whole_numbers_are_cosines_and_sines_of_falling_frequency() {
        const LayerProgram built =
            layer_program(R"([{"type": "time_embedding", "times": 8, "width": 4}])",
                          {ir::DType::i32, {3}}, nn::Mode::evaluate);
        const std::vector<std::int32_t> times = {0, 1, 8, 3, 7, 2};
        const std::vector<exec::Tensor> arguments = {i32({2, 3}, times)};
        const exec::Tensor y = exec::interpret(built.program, arguments).at(0);
        for (std::size_t i = 0; i < times.size(); ++i) {
            for (std::size_t k = 0; k < 2; ++k) {
                const double angle = times[i] * std::pow(10000.0, -0.5 * static_cast<double>(k));
                const auto is = [&](std::size_t at) {
                    return static_cast<double>(y.span<float>()[4 * i + at]);
                };
                QVERIFY(std::abs(is(k) - std::cos(angle)) < 1e-6);
                QVERIFY(std::abs(is(k + 2) - std::sin(angle)) < 1e-6);
            }
        }
    }

    // A matrix with singular values 3 and 1 about a turned axis; what is left of them is 1 and 1/3.
    void a_spectral_norm_finds_the_largest_singular_value_in_a_few_steps() {
        const double c = std::cos(0.4);
        const double s = std::sin(0.4);
        const auto entry = [](double value) { return static_cast<float>(value); };
        const std::vector<float> weight = {entry(3 * c * c + s * s), entry(2 * c * s),
                                           entry(2 * c * s), entry(3 * s * s + c * c)};
        std::vector<float> left = {1.0F, 0.0F};
        std::vector<float> right = {1.0F, 0.0F};
        const LayerProgram built = [] {
            LayerProgram out = layer_program(
                R"([{"type": "linear", "units": 2, "bias": false, "weight_norm": "spectral"}])",
                {ir::DType::f32, {2}}, nn::Mode::train);
            for (const auto& [name, value] : out.updates) {
                out.program.add_result(ir::Role::state, name, value);
            }
            return out;
        }();
        std::vector<float> y;
        for (int step = 0; step < 12; ++step) {
            std::vector<exec::Tensor> arguments;
            for (const ir::Port& port : built.program.arguments) {
                arguments.push_back(port.name == "inputs"    ? f32({2, 2}, {1.0F, 0.0F, 0.0F, 1.0F})
                                    : port.name == "random"  ? i64({3}, {0, 0, 0})
                                    : port.name == "weights" ? f32({2}, {1.0F, 1.0F})
                                    : port.name.ends_with("left")  ? f32({2}, left)
                                    : port.name.ends_with("right") ? f32({2}, right)
                                                                   : f32({2, 2}, weight));
            }
            const auto results = exec::interpret(built.program, arguments);
            const auto floats = [&](std::size_t i) {
                return std::vector<float>(results[i].span<float>().begin(),
                                          results[i].span<float>().end());
            };
            y = floats(0);
            left = floats(1);
            right = floats(2);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            // Twelve steps leave (1/3)^24 of what was wrong; the rest is f32.
            QVERIFY(std::abs(y[i] - weight[i] / 3.0F) < 1e-6F);
        }
    }

    void a_group_of_channels_is_normalised_over_all_points_of_its_sample() {
        const LayerProgram built = layer_program(R"([{"type": "group_norm", "groups": 2}])",
                                                 {ir::DType::f32, {3, 2, 4}}, nn::Mode::evaluate);
        const std::vector<float> x = wave(2 * 6 * 4, 0.7);
        const std::vector<float> scale = {0.5F, 2.0F, -1.0F, 1.5F};
        const std::vector<float> shift = {0.1F, 0.0F, -0.3F, 1.0F};
        std::vector<exec::Tensor> arguments;
        for (const ir::Port& port : built.program.arguments) {
            arguments.push_back(port.name == "inputs"           ? f32({2, 3, 2, 4}, x)
                                : port.name.ends_with("weight") ? f32({4}, scale)
                                                                : f32({4}, shift));
        }
        const exec::Tensor y = exec::interpret(built.program, arguments).at(0);
        for (std::size_t sample = 0; sample < 2; ++sample) {
            for (std::size_t group = 0; group < 2; ++group) {
                const auto at = [&](std::size_t k) { // the 12 values of a group
                    return (sample * 6 + k / 2) * 4 + group * 2 + k % 2;
                };
                double mean = 0;
                double variance = 0;
                for (std::size_t k = 0; k < 12; ++k) {
                    mean += static_cast<double>(x[at(k)]) / 12;
                }
                for (std::size_t k = 0; k < 12; ++k) {
                    variance += std::pow(static_cast<double>(x[at(k)]) - mean, 2) / 12;
                }
                for (std::size_t k = 0; k < 12; ++k) {
                    const std::size_t channel = at(k) % 4;
                    const double expected = (static_cast<double>(x[at(k)]) - mean) /
                                                std::sqrt(variance + 1e-5) *
                                                static_cast<double>(scale[channel]) +
                                            static_cast<double>(shift[channel]);
                    QVERIFY(std::abs(static_cast<double>(y.span<float>()[at(k)]) - expected) <
                            1e-5);
                }
            }
        }
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
