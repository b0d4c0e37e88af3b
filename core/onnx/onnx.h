// SPDX-License-Identifier: Apache-2.0
// A graph as ONNX describes it, for files of it: nodes in order, values by name. Source: the
// specification and onnx.proto of the ONNX project; operators of set 17.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weft::onnx {

inline constexpr std::int64_t kOperatorSet = 17;
inline constexpr std::int64_t kFormat = 8; // "ir_version", that of operator set 17

/// Element types by the numbers of TensorProto.DataType.
enum class Element : std::uint8_t { f32 = 1, u8 = 2, i32 = 6, i64 = 7, boolean = 9, f64 = 11 };

struct Tensor {
    Element element = Element::f32;
    std::vector<std::int64_t> shape;
    std::string bytes; // little-endian, row-major
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

struct Node {
    std::string name;
    std::string op;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::pair<std::string, Attribute>> attributes;
};

/// What goes in or comes out. Extent -1: as many as there are samples.
struct Port {
    std::string name;
    Element element = Element::f32;
    std::vector<std::int64_t> shape;
};

struct Graph {
    std::string name;
    std::vector<Node> nodes;
    std::vector<Port> inputs;
    std::vector<Port> outputs;
    std::map<std::string, Tensor> constants; // small
    std::vector<Port> weights;               // whose bytes lie elsewhere
};

} // namespace weft::onnx
