// SPDX-License-Identifier: Apache-2.0
// What translations of nodes are written with. Internal to core/onnx_import.
#pragma once

#include "core/ir/model_text.h"
#include "core/onnx_import/fold.h"
#include "core/ops/builder.h"

#include <set>

namespace weft::onnx_import {

using Extents = std::vector<std::int64_t>;

/// A value of the graph: numbers, or a value of our program, which may wait for what follows.
struct Imported {
    std::optional<Constant> constant = {};
    ir::ValueId id = {};
    bool channels_last = false; // [N, H, W, C] here, [N, C, H, W] there
    bool swapped = false;       // its last two dimensions are the other way round there
    double factor = 1;          // it is so many times `id`
    bool erf = false;           // it is factor * erf(id / sqrt 2) + shift
    double shift = 0;
    std::vector<Imported> parts = {}; // of a sequence
};

class Importer {
public:
    Importer(const StoredModel& model, std::int64_t samples, std::int64_t positions);
    /// Translates every node that can be; the others are in `problems`.
    void run();

    ir::ModelText text() const;
    const std::vector<std::string>& problems() const { return problems_; }
    /// What those that told of problems say to do.
    const std::set<std::string>& hints() const { return hints_; }
    std::vector<std::string> warnings() const;
    ir::Type input() const;
    ir::Type output() const { return program_.type(result_); }

    const StoredNode& node() const { return *node_; }
    ops::Builder& builder() { return builder_; }

    /// Whether input i of the node is given.
    bool has(std::size_t i) const { return i < node_->inputs.size() && !node_->inputs[i].empty(); }
    /// Throws Unsupported where there is none.
    const Imported& in(std::size_t i) const;
    /// The node that gives input i; null where none does.
    const StoredNode* maker(std::size_t i) const;
    /// Null where it is left out; Unsupported where it is not known before a run.
    const Constant* constant(std::size_t i) const;
    Extents shape(const Imported& value) const; // as the graph has it
    Extents shape(std::size_t i) const { return shape(in(i)); }
    std::int64_t axis(const char* name, std::int64_t otherwise, std::size_t rank) const;

    /// As a value of the program in the graph's own order.
    ir::ValueId plain(const Imported& value);
    ir::ValueId plain(std::size_t i) { return plain(in(i)); }
    /// A picture with channels last, factor applied.
    ir::ValueId last(const Imported& value);
    /// Gives the node's result number `i`.
    void out(Imported value, std::size_t i = 0);
    void out(ir::ValueId id) { out({.id = id}); }
    void out_last(ir::ValueId id) { out({.id = id, .channels_last = true}); }
    /// Tells of this node what trains otherwise than its author may think.
    void warn(const std::string& text);
    /// The random key that drops values.
    ir::ValueId random();
    /// A batch normalisation whose running statistics are inputs 3 and 4 of the node.
    void follow_batches(ir::ValueId result, double momentum) { momenta_[result.index] = momentum; }

private:
    void begin();
    Extents input_extents(const StoredPort& port, bool tokens);
    void translate();
    Imported initial(const StoredTensor& tensor);
    ir::ValueId emit_constant(const Constant& constant);
    ir::ValueId emit_runs(const std::vector<float>& values);
    bool known(const std::string& name);
    std::string place() const;
    void problem(const std::string& text, const std::string& hint);
    void count(const Imported& value);
    void forget_read();
    void check_statistics();
    void end();

    const StoredModel& model_;
    std::int64_t samples_;
    std::int64_t positions_;
    ir::Program program_;
    ops::Builder builder_;
    const StoredNode* node_ = nullptr;
    std::map<std::string, Imported> values_;
    std::map<std::string, const StoredTensor*> initializers_;
    std::map<std::string, const StoredNode*> makers_;
    std::map<std::string, const StoredNode*> last_readers_;
    std::map<std::string, std::string> left_out_; // results that a translation does not give
    std::set<std::string> unknown_;
    std::size_t numbers_ = 0;                // that constants hold now
    std::size_t numbers_made_ = 0;           // and held so far
    std::map<std::int32_t, double> momenta_; // by the result
    std::map<std::string, int> readers_;     // of weights
    std::vector<std::string> warnings_;
    std::set<std::string> hints_;
    std::vector<ir::WrittenPort> states_;
    ir::ValueId inputs_;
    ir::ValueId random_;
    ir::ValueId result_;
    std::vector<std::string> problems_;
};

using NodeTranslation = void (*)(Importer&);
/// Null where an operator has none.
NodeTranslation find_node_translation(std::string_view op);
/// Of what layers are made of: products, convolutions, pooling, norms.
const std::map<std::string_view, NodeTranslation>& layer_nodes();

} // namespace weft::onnx_import
