// SPDX-License-Identifier: Apache-2.0
// Small ONNX files, field by field as onnx.proto numbers them, and what becomes of them.
#pragma once

#include "core/base/protobuf.h"
#include "core/ir/model_text.h"
#include "core/onnx_import/to_model_text.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"

#include <fstream>

namespace weft::test {

using onnx_import::TextOfGraph;
using protobuf::Writer;

inline Writer tensor(const std::string& name, std::initializer_list<std::int64_t> shape,
                     const std::string& raw, std::int64_t element = 1) {
    Writer out;
    for (const std::int64_t extent : shape) {
        out.add_integer(1, extent);
    }
    out.add_integer(2, element);
    out.add_bytes(8, name);
    out.add_bytes(9, raw);
    return out;
}

inline Writer numbers(const std::string& name, std::initializer_list<std::int64_t> shape,
                      const std::vector<float>& values) {
    return tensor(name, shape,
                  {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

inline Writer wholes(const std::string& name, std::initializer_list<std::int64_t> shape,
                     const std::vector<std::int64_t>& values) {
    return tensor(name, shape,
                  {reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]},
                  7);
}

inline Writer whole_attribute(const std::string& name, std::int64_t value) {
    Writer out;
    out.add_bytes(1, name);
    out.add_integer(3, value);
    out.add_integer(20, 2);
    return out;
}

inline Writer wholes_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
    Writer out;
    out.add_bytes(1, name);
    for (const std::int64_t value : values) {
        out.add_integer(8, value);
    }
    out.add_integer(20, 7);
    return out;
}

inline Writer node(const std::string& op, std::initializer_list<const char*> inputs,
                   const char* output, std::initializer_list<Writer> attributes = {}) {
    Writer out;
    for (const char* input : inputs) {
        out.add_bytes(1, input);
    }
    out.add_bytes(2, output);
    out.add_bytes(3, "the " + op);
    out.add_bytes(4, op);
    for (const Writer& one : attributes) {
        out.add(5, one);
    }
    return out;
}

/// A port of f32; an extent of 0 is any number.
inline Writer port(const std::string& name, std::initializer_list<std::int64_t> shape) {
    Writer extents;
    for (const std::int64_t extent : shape) {
        Writer dim;
        if (extent != 0) {
            dim.add_integer(1, extent);
        }
        extents.add(1, dim);
    }
    Writer array;
    array.add_integer(1, 1);
    array.add(2, extents);
    Writer type;
    type.add(1, array);
    Writer out;
    out.add_bytes(1, name);
    out.add(2, type);
    return out;
}

struct GraphParts {
    std::vector<Writer> nodes;
    std::vector<Writer> tensors;
    std::int64_t operator_set = 17;
    std::int64_t features = 2;
};

/// As a base of a test class: graphs of one input "x" [N, features] and one result "y".
class OnnxFolder : protected TestFolder {
protected:
    std::filesystem::path written(const GraphParts& parts) const {
        Writer graph;
        for (const Writer& one : parts.nodes) {
            graph.add(1, one);
        }
        for (const Writer& one : parts.tensors) {
            graph.add(5, one);
        }
        graph.add(11, port("x", {0, parts.features}));
        graph.add(12, port("y", {0, 2}));
        Writer set;
        set.add_integer(2, parts.operator_set);
        Writer model;
        model.add_integer(1, 8);
        model.add(7, graph);
        model.add(8, set);
        std::ofstream(path("model.onnx"), std::ios::binary) << model.text();
        return path("model.onnx");
    }

    std::string refused(const GraphParts& parts) const {
        const std::filesystem::path file = written(parts);
        const auto error =
            error_of([&] { onnx_import::to_model_text(*onnx_import::read_onnx(file)); });
        return error ? error->message() : "";
    }

    /// The numbers of y = x + c, where c [2] is made by nodes of constants.
    std::vector<double> added(GraphParts parts) const {
        parts.nodes.push_back(node("Add", {"x", "c"}, "y"));
        const TextOfGraph made =
            onnx_import::to_model_text(*onnx_import::read_onnx(written(parts)));
        std::vector<double> out;
        for (const ir::WrittenOp& op : ir::read_model_text(made.text, 4).ops) {
            if (op.kind == "constant") {
                out.push_back(std::get<double>(*op.attributes.find("value")));
            }
        }
        return out;
    }
};

} // namespace weft::test
