// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/onnx.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx_import/to_model_text.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace weft::foreign {
namespace {

namespace fs = std::filesystem;
using onnx_import::StoredModel, onnx_import::StoredTensor;

Json made_up_samples(const onnx_import::TextOfGraph& graph) {
    const ir::Shape& shape = graph.input.shape;
    if (!ir::is_float(graph.input.dtype)) {
        return {{"type", "synthetic"},
                {"kind", "tokens"},
                {"length", shape[0]},
                {"vocab", graph.outputs}};
    }
    if (shape.rank() == 3) {
        return {{"type", "synthetic"},
                {"kind", "images"},
                {"shape", {shape[0], shape[1], shape[2]}},
                {"classes", graph.outputs}};
    }
    return {{"type", "synthetic"},
            {"kind", "classification"},
            {"features", shape.elements()},
            {"classes", graph.outputs}};
}

} // namespace

bool is_onnx(const fs::path& path) {
    return path.extension() == ".onnx";
}

Arrays open_onnx(const fs::path& path) {
    const std::shared_ptr<const StoredModel> model = onnx_import::read_onnx(path);
    Arrays out;
    out.path = path;
    for (const StoredTensor& tensor : model->initializers) {
        if (const auto dtype = onnx_import::float_type(tensor.element)) {
            const ir::Type type{*dtype, ir::Shape(std::span<const std::int64_t>(tensor.shape))};
            out.list.push_back({tensor.name, type, ir::to_text(type)});
        }
    }
    std::sort(out.list.begin(), out.list.end(),
              [](const Array& a, const Array& b) { return a.name < b.name; });
    out.read = [model](const std::string& name, std::span<std::byte> into) {
        const auto found =
            std::find_if(model->initializers.begin(), model->initializers.end(),
                         [&](const StoredTensor& tensor) { return tensor.name == name; });
        const std::string bytes = onnx_import::tensor_bytes(*model, *found);
        std::memcpy(into.data(), bytes.data(), std::min(into.size(), bytes.size()));
    };
    return out;
}

ForeignModel read_onnx_model(const fs::path& path, std::int64_t positions) {
    ForeignModel out;
    try {
        const auto model = onnx_import::read_onnx(path);
        const onnx_import::TextOfGraph graph = onnx_import::to_model_text(*model, positions);
        std::error_code problem;
        out.here.model = {{"type", "graph"},
                          {"path", fs::absolute(path, problem).string()},
                          {"text", graph.text}};
        out.here.data = made_up_samples(graph);
        for (const std::string& warning : graph.warnings) {
            out.problems.push_back({"", config::Severity::warning, warning, ""});
        }
    } catch (const Error& error) {
        out.problems.push_back({"", config::Severity::error, error.text(), error.hint()});
    }
    return out;
}

} // namespace weft::foreign
