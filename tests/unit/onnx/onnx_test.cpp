// SPDX-License-Identifier: Apache-2.0
// Programs as ONNX graphs, and their files, read back by field number as onnx.proto has them. That
// they compute the same is asked of onnxruntime: tests/e2e/foreign/onnx_export_test.py.
#include "core/base/file.h"
#include "core/base/protobuf.h"
#include "core/ir/text.h"
#include "core/onnx/from_program.h"
#include "core/onnx/write_onnx.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <algorithm>

using namespace weft;
using protobuf::Field, protobuf::Reader;

namespace {

/// A layer on flattened samples; "N" and "M" stand for the samples and twice as many.
std::string layer(const std::string& op) {
    return R"(program model {
  in %0 batch "inputs" : f32[N,2,3]
  in %1 state "weight" : f32[3,4]
  in %2 state "bias" : f32[4]
  %3 = reshape(%0) {shape=[M,3]} : f32[M,3] @ "layers.0" forward
  %4 = linear(%3, %1, %2) {wide=false} : f32[M,4] @ "layers.0" forward
  )" + op +
           R"( @ "layers.1" forward
  out %5 output "logits"
})";
}

ir::Program of_samples(std::string text, int samples) {
    const auto replace = [&](char letter, int number) {
        for (std::size_t at = 0; (at = text.find(std::string("[") + letter, at)) != text.npos;
             ++at) {
            text.replace(at + 1, 1, std::to_string(number));
        }
    };
    replace('N', samples);
    replace('M', 2 * samples);
    return ir::parse(text);
}

onnx::Graph graph_of(const std::string& text) {
    return onnx::from_program(of_samples(text, 2), of_samples(text, 3));
}

std::string ops_of(const onnx::Graph& graph) {
    std::string out;
    for (const onnx::Node& node : graph.nodes) {
        out += (out.empty() ? "" : " ") + node.op;
    }
    return out;
}

/// The length-delimited fields of a number, in order.
std::vector<std::string_view> parts(std::string_view message, std::uint64_t number) {
    std::vector<std::string_view> out;
    Field field;
    for (Reader reader(message); reader.next(field);) {
        if (field.is(number, protobuf::bytes)) {
            out.push_back(field.text);
        }
    }
    return out;
}

std::vector<std::uint64_t> numbers(std::string_view message, std::uint64_t number) {
    std::vector<std::uint64_t> out;
    Field field;
    for (Reader reader(message); reader.next(field);) {
        if (field.is(number, protobuf::varint)) {
            out.push_back(field.value);
        }
    }
    return out;
}

const std::string kRelu = "%5 = relu(%4) : f32[M,4]";

} // namespace

class OnnxTest : public QObject {
    Q_OBJECT

private slots:
    void a_layer_becomes_operators_for_any_number_of_samples() {
        const onnx::Graph graph = graph_of(layer(kRelu));
        QCOMPARE(ops_of(graph), std::string("Reshape MatMul Add Relu Identity"));
        QCOMPARE(graph.inputs.at(0).shape, (std::vector<std::int64_t>{-1, 2, 3}));
        QCOMPARE(graph.outputs.at(0).shape, (std::vector<std::int64_t>{-1, 4}));
        QCOMPARE(graph.outputs.at(0).name, std::string("logits"));
        QCOMPARE(graph.weights.size(), std::size_t{2});
        QCOMPARE(graph.weights.at(0).shape, (std::vector<std::int64_t>{3, 4}));
        // What is left of the others: the rows.
        const onnx::Tensor& shape = graph.constants.at(graph.nodes.at(0).inputs.at(1));
        std::vector<std::int64_t> sizes(2);
        QCOMPARE(shape.bytes.size(), 2 * sizeof(std::int64_t));
        std::memcpy(sizes.data(), shape.bytes.data(), shape.bytes.size());
        QCOMPARE(sizes, (std::vector<std::int64_t>{-1, 3}));
    }

    void every_value_has_one_name_and_is_made_before_it_is_read() {
        const onnx::Graph graph = graph_of(layer("%5 = gelu(%4) : f32[M,4]"));
        std::vector<std::string> known{"inputs", "weight", "bias"};
        for (const auto& [name, tensor] : graph.constants) {
            known.push_back(name);
        }
        for (const onnx::Node& node : graph.nodes) {
            for (const std::string& input : node.inputs) {
                QVERIFY2(std::find(known.begin(), known.end(), input) != known.end(),
                         input.c_str());
            }
            for (const std::string& output : node.outputs) {
                QVERIFY2(std::find(known.begin(), known.end(), output) == known.end(),
                         output.c_str());
                known.push_back(output);
            }
        }
    }

    void all_that_has_no_translation_is_listed() {
        const auto error = test::error_of([] {
            graph_of(R"(program model {
  in %0 batch "inputs" : f32[N,4]
  %1 = is_finite(%0) : f32[N,4] @ "layers.0" forward
  %2 = relu(%1) : f32[N,4] @ "layers.1" forward
  %3 = is_finite(%2) : f32[N,4] @ "layers.2" forward
  out %3 output "values"
})");
        });
        QVERIFY(error.has_value());
        QCOMPARE(error->text(), std::string("there is no translation of is_finite at layers.0, "
                                            "is_finite at layers.2"));
    }

    void the_file_holds_operators_weights_and_their_numbers() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("model.onnx").toStdString();
        onnx::write_onnx(path, graph_of(layer(kRelu)), {{"step", "12"}},
                         [](const onnx::Port& weight) {
                             return std::string(weight.name == "bias" ? 16 : 48, weight.name[0]);
                         });
        const std::string file = read_file(path);
        QCOMPARE(numbers(file, 1), std::vector<std::uint64_t>{8}); // ir_version
        const std::vector<std::string_view> set = parts(file, 8);
        QCOMPARE(set.size(), std::size_t{1});
        QCOMPARE(numbers(set[0], 2), std::vector<std::uint64_t>{17});
        const std::vector<std::string_view> graphs = parts(file, 7);
        QCOMPARE(graphs.size(), std::size_t{1});
        std::string ops;
        for (const std::string_view node : parts(graphs[0], 1)) {
            ops += std::string(parts(node, 4).at(0)) + " ";
        }
        QCOMPARE(ops, std::string("Reshape MatMul Add Relu Identity "));
        const std::vector<std::string_view> tensors = parts(graphs[0], 5);
        QCOMPARE(tensors.size(), std::size_t{3}); // a shape, two weights
        QCOMPARE(parts(tensors[1], 8).at(0), std::string_view("weight"));
        QCOMPARE(numbers(tensors[1], 1), (std::vector<std::uint64_t>{3, 4})); // dims
        QCOMPARE(numbers(tensors[1], 2), std::vector<std::uint64_t>{1});      // float
        QCOMPARE(parts(tensors[1], 9).at(0), std::string_view(std::string(48, 'w')));
        QCOMPARE(parts(tensors[2], 9).at(0), std::string_view(std::string(16, 'b')));
    }

    void what_is_larger_than_a_protocol_buffer_is_refused_before_it_is_written() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("model.onnx").toStdString();
        onnx::Graph graph;
        graph.weights.push_back({"weight", onnx::Element::f32, {1 << 15, 1 << 14}});
        const auto error = test::error_of([&] {
            onnx::write_onnx(path, graph, {},
                             [](const onnx::Port&) -> std::string { qFatal("no weight is read"); });
        });
        QVERIFY(error.has_value());
        QVERIFY2(error->text().find("2.0 GiB at most") != std::string::npos, error->text().c_str());
        QVERIFY(!std::filesystem::exists(path));
    }
};

WEFT_TEST(OnnxTest)
#include "onnx_test.moc"
