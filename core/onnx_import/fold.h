// SPDX-License-Identifier: Apache-2.0
// What a graph computes of constants and shapes alone: exporters write shapes, masks and positions
// as chains of nodes, which become numbers here. Source: the operators' specification.
#pragma once

#include "core/onnx_import/read_onnx.h"

#include <optional>
#include <vector>

namespace weft::onnx_import {

struct Constant {
    std::int64_t element = 1; // TensorProto.DataType
    std::vector<std::int64_t> shape;
    std::vector<double> values; // row-major

    bool scalar() const { return values.size() == 1; }
};

/// Why a node cannot be had here, for people.
struct Unsupported {
    std::string text;
};

/// Product of the extents; throws Unsupported where that is more than a constant may have.
std::size_t constant_elements(const std::vector<std::int64_t>& shape);
/// Right-aligned broadcasting. Throws Unsupported.
std::vector<std::int64_t> broadcast_extents(const std::vector<std::int64_t>& a,
                                            const std::vector<std::int64_t>& b);
Constant broadcast_to(const Constant& x, const std::vector<std::int64_t>& shape);
/// An axis or position counted from the end where negative; throws Unsupported outside.
std::int64_t axis_of(std::int64_t axis, std::size_t rank);
/// The same for each of `axes`, in ascending order; throws Unsupported for one that is there twice.
std::vector<std::int64_t> sorted_axes(std::vector<std::int64_t> axes, std::size_t rank);
/// Number i of a constant; throws Unsupported where it has fewer.
double number_at(const Constant& x, std::size_t i = 0);
/// The same as a whole number; throws Unsupported where it is none that can be counted with.
std::int64_t whole_at(const Constant& x, std::size_t i = 0);
/// The shape that Reshape asks for: 0 copies, -1 is what is left. Throws Unsupported.
std::vector<std::int64_t> reshaped(const std::vector<std::int64_t>& from, const Constant& to,
                                   bool zero_is_zero);

/// The first and one past the last index of a slice along a dimension, as Slice clamps them.
std::pair<std::int64_t, std::int64_t> clamped(double start, double end, std::int64_t extent);

std::int64_t integer_of(const StoredNode& node, const char* name, std::int64_t otherwise);
double real_of(const StoredNode& node, const char* name, double otherwise);
/// Whole numbers of an input that Opset 13 moved there, or of the attribute of that name; none:
/// neither is there.
std::optional<std::vector<std::int64_t>> integers_of(const StoredNode& node, const char* name,
                                                     const Constant* input);

/// The result of a node on constants (null where an input is left out); none: its operator is not
/// computed here. Throws Unsupported.
std::optional<Constant> fold(const StoredModel& model, const StoredNode& node,
                             const std::vector<const Constant*>& inputs);

} // namespace weft::onnx_import
