// SPDX-License-Identifier: Apache-2.0
// Any program's ONNX file, as hostile input: what it holds, and the numbers of its tensors. Source:
// onnx.proto of the ONNX project, by field numbers.
#pragma once

#include "core/ir/type.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::onnx_import {

inline constexpr std::int64_t kOldestOperatorSet = 13;
inline constexpr std::int64_t kNewestOperatorSet = 21;

/// A tensor in a file. Its numbers are views of the file's bytes, or lie in another file.
struct StoredTensor {
    std::string name;
    std::int64_t element = 0; // TensorProto.DataType
    std::vector<std::int64_t> shape;
    std::string_view raw;     // little-endian
    std::string_view packed;  // protobuf's numbers, of `element`'s own field
    std::string location;     // of another file beside; empty: here
    std::int64_t offset = 0;  // in it
    std::int64_t length = -1; // -1: what the shape takes

    std::int64_t elements() const; // beyond counting: the largest number
};

struct StoredAttribute {
    double real = 0;
    std::int64_t integer = 0;
    std::string text;
    std::vector<std::int64_t> integers;
    std::vector<float> reals;
    std::optional<StoredTensor> tensor;
};

struct StoredNode {
    std::string name;
    std::string op;
    std::string domain;
    std::vector<std::string> inputs; // "" where one is left out
    std::vector<std::string> outputs;
    std::map<std::string, StoredAttribute> attributes;
};

/// Extent -1: named by a symbol, or not told.
struct StoredPort {
    std::string name;
    std::int64_t element = 0;
    std::vector<std::int64_t> shape;
};

struct StoredModel {
    std::filesystem::path path;
    std::string bytes; // that tensors view
    std::int64_t operator_set = 0;
    std::string name;
    std::vector<StoredNode> nodes;
    std::vector<StoredTensor> initializers;
    std::vector<StoredPort> inputs; // without those that initializers give
    std::vector<StoredPort> outputs;
};

/// Throws weft::Error{checkpoint} for a file that is no sound ONNX model, or of an operator set
/// that is not read, and for tensors that lie outside the folder of the file.
std::unique_ptr<const StoredModel> read_onnx(const std::filesystem::path& path);

/// Element types of numbers that weights can have; none: of another.
std::optional<ir::DType> float_type(std::int64_t element);

/// The bytes of a tensor in its own element type, little-endian. Throws weft::Error{checkpoint}.
std::string tensor_bytes(const StoredModel& model, const StoredTensor& tensor);
/// The numbers of a tensor of any type but text. Throws weft::Error{checkpoint}.
std::vector<double> tensor_numbers(const StoredModel& model, const StoredTensor& tensor);

} // namespace weft::onnx_import
