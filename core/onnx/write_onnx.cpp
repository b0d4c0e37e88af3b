// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/write_onnx.h"

#include "core/base/file.h"
#include "core/base/protobuf.h"
#include "core/base/text.h"

#include <limits>

namespace weft::onnx {
namespace {

using protobuf::Writer;

// Field numbers of onnx.proto.
namespace model_field {
constexpr unsigned ir_version = 1, producer = 2, graph = 7, operator_set = 8, metadata = 14;
}
namespace graph_field {
constexpr unsigned node = 1, name = 2, initializer = 5, input = 11, output = 12;
}
namespace node_field {
constexpr unsigned input = 1, output = 2, name = 3, op = 4, attribute = 5;
}
namespace attribute_field {
constexpr unsigned name = 1, real = 2, integer = 3, text = 4, integers = 8, type = 20;
}
namespace tensor_field {
constexpr unsigned dims = 1, element = 2, name = 8, raw = 9;
}

constexpr std::int64_t kMostBytes = std::numeric_limits<std::int32_t>::max();

std::int64_t element_bytes(Element element) {
    switch (element) {
    case Element::u8:
    case Element::boolean: return 1;
    case Element::f32:
    case Element::i32: return 4;
    case Element::i64:
    case Element::f64: return 8;
    }
    return 0;
}

std::int64_t bytes_of(const Port& weight) {
    std::int64_t bytes = element_bytes(weight.element);
    for (const std::int64_t extent : weight.shape) {
        bytes *= extent;
    }
    return bytes;
}

Writer attribute_of(const std::string& name, const Attribute& value) {
    enum Type : std::uint8_t { real = 1, integer = 2, text = 3, integers = 7 };
    Writer out;
    out.add_bytes(attribute_field::name, name);
    Type type = integer;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        out.add_integer(attribute_field::integer, *number);
    } else if (const auto* fraction = std::get_if<float>(&value)) {
        out.add_float(attribute_field::real, *fraction);
        type = real;
    } else if (const auto* word = std::get_if<std::string>(&value)) {
        out.add_bytes(attribute_field::text, *word);
        type = text;
    } else {
        for (const std::int64_t one : std::get<std::vector<std::int64_t>>(value)) {
            out.add_integer(attribute_field::integers, one);
        }
        type = integers;
    }
    out.add_varint(attribute_field::type, type);
    return out;
}

Writer message_of(const Node& node) {
    Writer out;
    for (const std::string& input : node.inputs) {
        out.add_bytes(node_field::input, input);
    }
    for (const std::string& output : node.outputs) {
        out.add_bytes(node_field::output, output);
    }
    out.add_bytes(node_field::name, node.name);
    out.add_bytes(node_field::op, node.op);
    for (const auto& [name, value] : node.attributes) {
        out.add(node_field::attribute, attribute_of(name, value));
    }
    return out;
}

/// ValueInfoProto: a name with a TypeProto of a tensor.
Writer message_of(const Port& port) {
    Writer shape;
    for (const std::int64_t extent : port.shape) {
        Writer dim;
        if (extent < 0) {
            dim.add_bytes(2, "samples");
        } else {
            dim.add_integer(1, extent);
        }
        shape.add(1, dim);
    }
    Writer tensor;
    tensor.add_varint(1, static_cast<std::uint64_t>(port.element));
    tensor.add(2, shape);
    Writer type;
    type.add(1, tensor);
    Writer out;
    out.add_bytes(1, port.name);
    out.add(2, type);
    return out;
}

/// A TensorProto up to its numbers, which come last.
Writer tensor_head(const std::string& name, Element element, const std::vector<std::int64_t>& shape,
                   std::uint64_t bytes) {
    Writer out;
    for (const std::int64_t extent : shape) {
        out.add_integer(tensor_field::dims, extent);
    }
    out.add_varint(tensor_field::element, static_cast<std::uint64_t>(element));
    out.add_bytes(tensor_field::name, name);
    out.announce(tensor_field::raw, bytes);
    return out;
}

/// Everything of a graph but its weights.
Writer graph_head(const Graph& graph) {
    Writer out;
    for (const Node& node : graph.nodes) {
        out.add(graph_field::node, message_of(node));
    }
    out.add_bytes(graph_field::name, graph.name);
    for (const auto& [name, tensor] : graph.constants) {
        const Writer head = tensor_head(name, tensor.element, tensor.shape, tensor.bytes.size());
        out.add_bytes(graph_field::initializer, head.text() + tensor.bytes);
    }
    for (const Port& port : graph.inputs) {
        out.add(graph_field::input, message_of(port));
    }
    for (const Port& port : graph.outputs) {
        out.add(graph_field::output, message_of(port));
    }
    return out;
}

Writer model_head(const std::map<std::string, std::string>& about) {
    Writer out;
    out.add_integer(model_field::ir_version, kFormat);
    out.add_bytes(model_field::producer, "weft");
    Writer operators;
    operators.add_integer(2, kOperatorSet);
    out.add(model_field::operator_set, operators);
    for (const auto& [name, text] : about) {
        Writer entry;
        entry.add_bytes(1, name);
        entry.add_bytes(2, text);
        out.add(model_field::metadata, entry);
    }
    return out;
}

} // namespace

void write_onnx(const std::filesystem::path& file, const Graph& graph,
                const std::map<std::string, std::string>& about, const ReadWeight& read) {
    const Writer head = graph_head(graph);
    std::vector<Writer> weights; // up to their numbers, with the fields that they are
    std::int64_t length = std::ssize(head.text());
    for (const Port& weight : graph.weights) {
        const auto bytes = static_cast<std::uint64_t>(bytes_of(weight));
        const Writer tensor = tensor_head(weight.name, weight.element, weight.shape, bytes);
        Writer& field = weights.emplace_back();
        field.announce(graph_field::initializer, tensor.text().size() + bytes);
        length +=
            std::ssize(field.text()) + std::ssize(tensor.text()) + static_cast<std::int64_t>(bytes);
        field.append(tensor);
    }
    Writer model = model_head(about);
    model.announce(model_field::graph, static_cast<std::uint64_t>(length));
    if (length + std::ssize(model.text()) > kMostBytes) {
        throw Error(ErrorKind::usage, file.string(),
                    "the model takes " + format_bytes(length) + ", and an ONNX file holds " +
                        format_bytes(kMostBytes) + " at most",
                    "Export it as safetensors or gguf.");
    }
    FileReplacement replacement(file);
    File& part = replacement.part();
    part.write(model.text());
    part.write(head.text());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::string bytes = read(graph.weights[i]);
        WEFT_CHECK(std::ssize(bytes) == bytes_of(graph.weights[i]), "a weight has its size");
        part.write(weights[i].text());
        part.write(bytes);
    }
    replacement.commit();
}

} // namespace weft::onnx
