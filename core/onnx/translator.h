// SPDX-License-Identifier: Apache-2.0
// What translations of ops are written with. Internal to core/onnx.
#pragma once

#include "core/ir/program.h"
#include "core/onnx/onnx.h"

#include <set>
#include <string_view>

namespace weft::onnx {

using Names = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

/// An extent; `per_sample`: times the number of samples.
struct Extent {
    std::int64_t size = 1;
    bool per_sample = false;
};

class Translator {
public:
    Translator(const ir::Program& two, const ir::Program& three) : two_(two), three_(three) {}
    Graph run();

    /// Appends a node and returns the name of its result.
    std::string add(const char* op, Names inputs, Attributes attributes = {});
    /// Several results.
    Names add_all(const char* op, std::size_t outputs, Names inputs, Attributes attributes = {});
    std::string number(double value); // f32, a scalar
    std::string integers(const Ints& values);
    std::string floats(Ints shape, const std::vector<float>& values);
    /// A shape with extents per sample, as a tensor.
    std::string shape(const std::vector<Extent>& extents);

    /// Operand i of the op that is translated.
    std::string operand(std::size_t i) const { return names_.at(op_->inputs[i]); }
    bool has_operand(std::size_t i) const { return i < op_->inputs.size(); }
    std::vector<Extent> extents(ir::ValueId id) const;
    int rank(std::size_t operand) const { return two_.type(op_->inputs[operand]).shape.rank(); }
    /// An extent that does not depend on the samples.
    std::int64_t extent(std::size_t operand, int dim) const;
    ir::DType dtype(ir::ValueId id) const { return two_.type(id).dtype; }
    const ir::Op& op() const { return *op_; }

private:
    void begin();
    void end();

    const ir::Program& two_;
    const ir::Program& three_;
    Graph graph_;
    const ir::Op* op_ = nullptr; // that is translated
    std::map<ir::ValueId, std::string> names_;
    std::map<std::string, int> used_; // how many values there are of a name
    std::set<std::string> missing_;   // "top_k at blocks.0.experts"
};

/// The results of an op in its outputs' order, as far as anybody reads them.
using Translation = Names (*)(Translator&);
/// Null where an op has none.
Translation find_translation(std::string_view kind);

/// Of the ops that layers are made of: products, norms, attention, pictures.
const std::map<std::string_view, Translation>& layer_translations();

} // namespace weft::onnx
