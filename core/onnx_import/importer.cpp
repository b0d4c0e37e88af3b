// SPDX-License-Identifier: Apache-2.0
#include "core/onnx_import/importer.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx_import/to_model_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weft::onnx_import {
namespace {

constexpr std::size_t kMostRuns = 4096;
constexpr std::int64_t kTokens32 = 6; // int32 and int64
constexpr std::int64_t kTokens64 = 7;
constexpr std::int64_t kMostInput = std::int64_t{1} << 40; // elements
constexpr std::size_t kMostNumbers = 1 << 26;              // of constants at a time: 512 MiB
constexpr std::size_t kMostMade = 1 << 28;                 // of constants in all

Extents list_of(const ir::Shape& shape) {
    return {shape.begin(), shape.end()};
}

ir::Shape shape_of(const Extents& extents) {
    return ir::Shape(std::span<const std::int64_t>(extents));
}

/// The module of a weight: what stands before the last dot.
std::string path_of_weight(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos ? name : name.substr(0, dot);
}

/// Whether element (i, j) depends on j - i alone.
bool is_toeplitz(const std::vector<float>& x, std::size_t rows, std::size_t columns) {
    for (std::size_t i = 1; i < rows; ++i) {
        for (std::size_t j = 1; j < columns; ++j) {
            if (x[i * columns + j] != x[(i - 1) * columns + j - 1]) {
                return false;
            }
        }
    }
    return true;
}

/// Whether a mask lets a row see nothing, which has no softmax.
bool hides_rows(const Constant& x) {
    const auto columns = static_cast<std::ptrdiff_t>(
        x.shape.empty() ? 1 : std::max<std::int64_t>(1, x.shape.back()));
    for (auto row = x.values.begin(); row != x.values.end(); row += columns) {
        if (std::all_of(row, row + columns, [](double value) {
                return value == -std::numeric_limits<double>::infinity();
            })) {
            return true;
        }
    }
    return false;
}

std::vector<float> finite(const std::vector<double>& values) {
    std::vector<float> out;
    for (const double value : values) {
        constexpr double kMost = std::numeric_limits<float>::max();
        if (std::isnan(value)) {
            throw Unsupported{"a constant that it reads holds what is no number"};
        }
        out.push_back(static_cast<float>(std::clamp(value, -kMost, kMost)));
    }
    return out;
}

/// The same numbers with every extent 1 along which they do not change.
Constant squeezed(const Constant& x) {
    Constant out = x;
    std::size_t inner = 1;
    for (std::size_t d = out.shape.size(); d-- > 0;) {
        const auto extent = static_cast<std::size_t>(out.shape[d]);
        bool alike = extent > 1;
        for (std::size_t i = 0; alike && i < out.values.size(); ++i) {
            alike = out.values[i] == out.values[i - i / inner % extent * inner];
        }
        if (alike) {
            std::vector<double> kept;
            for (std::size_t i = 0; i < out.values.size(); ++i) {
                if (i / inner % extent == 0) {
                    kept.push_back(out.values[i]);
                }
            }
            out.values = std::move(kept);
            out.shape[d] = 1;
        }
        inner *= static_cast<std::size_t>(out.shape[d]);
    }
    return out;
}

constexpr std::string_view kNormByStatistics = "batch_norm_inference";

/// Whether operand i is a running mean or variance.
bool is_statistic(const ir::Op& op, std::size_t i) {
    return op.kind == kNormByStatistics && i >= 3;
}

ir::WrittenValue written(const ir::Program& program, ir::ValueId id) {
    return {id.index, program.type(id), {}};
}

} // namespace

Importer::Importer(const StoredModel& model, std::int64_t samples, std::int64_t positions)
    : model_(model), samples_(samples), positions_(positions), builder_(program_, program_.body) {}

void Importer::run() {
    begin();
    if (!problems_.empty()) {
        return;
    }
    for (const StoredNode& node : model_.nodes) {
        node_ = &node;
        try {
            translate();
            forget_read();
        } catch (const Unsupported& why) {
            problem(why.text, "");
        } catch (const Error& error) {
            problem(error.text(), error.hint());
        }
    }
    node_ = nullptr;
    check_statistics();
    end();
}

std::string Importer::place() const {
    return node_->op + " at '" + shown(node_->name, 120) + "'";
}

void Importer::problem(const std::string& text, const std::string& hint) {
    problems_.push_back(place() + ": " + text);
    unknown_.insert(node_->outputs.begin(), node_->outputs.end());
    if (!hint.empty()) {
        hints_.insert(hint);
    }
}

void Importer::warn(const std::string& text) {
    warnings_.push_back(place() + " " + text);
}

/// Constants are made of constants, each of a bounded size, and chains of them without end.
void Importer::count(const Imported& value) {
    const std::size_t more = value.constant ? value.constant->values.size() : 0;
    numbers_ += more;
    numbers_made_ += more;
    if (more > 0 && (numbers_ > kMostNumbers || numbers_made_ > kMostMade)) {
        throw Unsupported{"constants up to here have more than " +
                          format_thousands(static_cast<std::int64_t>(kMostNumbers)) +
                          " numbers at a time, or " +
                          format_thousands(static_cast<std::int64_t>(kMostMade)) + " in all"};
    }
}

/// Constants that no later node reads.
void Importer::forget_read() {
    for (const std::string& name : node_->inputs) {
        const auto found = values_.find(name);
        if (found != values_.end() && found->second.constant && last_readers_[name] == node_ &&
            name != model_.outputs[0].name) {
            numbers_ -= found->second.constant->values.size();
            found->second.constant.reset();
        }
    }
}

void Importer::begin() {
    for (const StoredTensor& tensor : model_.initializers) {
        initializers_[tensor.name] = &tensor;
    }
    for (const StoredNode& node : model_.nodes) {
        for (const std::string& name : node.inputs) {
            last_readers_[name] = &node;
        }
        for (const std::string& name : node.outputs) {
            makers_.emplace(name, &node);
        }
    }
    if (model_.inputs.size() != 1 || model_.outputs.size() != 1) {
        const auto names = [](const std::vector<StoredPort>& ports) {
            std::vector<std::string> out;
            for (const StoredPort& port : ports) {
                out.push_back(shown(port.name));
            }
            return std::to_string(out.size()) + " (" + join(out, ", ") + ")";
        };
        problems_.push_back("a model here has one input and one result; this one has " +
                            names(model_.inputs) + " and " + names(model_.outputs));
        return;
    }
    const StoredPort& port = model_.inputs[0];
    const bool tokens = port.element == kTokens32 || port.element == kTokens64;
    if (port.element != 1 && !tokens) {
        problems_.push_back("the input '" + shown(port.name) + "' is neither f32 nor of tokens");
    }
    if (port.shape.size() < 2) {
        problems_.push_back("the input '" + shown(port.name) +
                            "' has no samples as its first dimension");
    }
    const Extents extents = input_extents(port, tokens);
    if (!problems_.empty()) {
        return;
    }
    ir::Shape shape = shape_of(extents);
    // Channels come first unless only the last dimension can be one of them.
    const bool picture = shape.rank() == 4 && !tokens && !(shape[3] <= 4 && shape[1] > 4);
    if (picture) {
        shape = {samples_, shape[2], shape[3], shape[1]};
    }
    inputs_ = program_.add_argument(ir::Role::batch, "inputs",
                                    {tokens ? ir::DType::i32 : ir::DType::f32, shape});
    values_[port.name] = {.id = inputs_, .channels_last = picture};
}

/// With the samples first.
Extents Importer::input_extents(const StoredPort& port, bool tokens) {
    const std::string name = "the input '" + shown(port.name) + "'";
    const bool sequence = tokens && port.shape.size() == 2;
    Extents out{samples_};
    std::int64_t all = samples_;
    for (std::size_t i = 1; i < port.shape.size(); ++i) {
        std::int64_t extent = port.shape[i];
        if (sequence && positions_ > 0) {
            if (extent > 0 && extent != positions_) {
                problems_.push_back(name + " takes " + std::to_string(extent) +
                                    " positions; model.context is " + std::to_string(positions_));
            }
            extent = positions_;
        }
        if (extent < 1) {
            problems_.push_back("dimension " + std::to_string(i) + " of " + name +
                                " has no number; " +
                                (sequence ? "set model.context to the positions to train with"
                                          : "export it with one"));
        }
        out.push_back(extent);
        all = ir::capped_product(all, extent);
    }
    if (problems_.empty() && (all > kMostInput || out.size() > ir::Shape::kMaxRank)) {
        problems_.push_back(name + " is too large");
    }
    return out;
}

Imported Importer::initial(const StoredTensor& tensor) {
    const bool trained = float_type(tensor.element) && tensor.elements() > 1;
    if (!trained) {
        constant_elements(tensor.shape);
        return {.constant = Constant{tensor.element, tensor.shape, tensor_numbers(model_, tensor)}};
    }
    if (tensor.elements() <= (std::int64_t{1} << 24)) {
        std::vector<double> numbers = tensor_numbers(model_, tensor);
        const auto finite_one = [](double x) { return std::abs(x) < 1e30; };
        if (!std::all_of(numbers.begin(), numbers.end(), finite_one)) { // a mask
            return {.constant = Constant{tensor.element, tensor.shape, std::move(numbers)}};
        }
    }
    const ir::Type type{ir::DType::f32, shape_of(tensor.shape)};
    const ir::ValueId id = program_.add_argument(ir::Role::state, tensor.name, type);
    states_.push_back({written(program_, id), ir::Role::state, tensor.name, {}});
    return {.id = id};
}

bool Importer::known(const std::string& name) {
    if (name.empty() || values_.contains(name)) {
        return true;
    }
    if (unknown_.contains(name)) {
        return false;
    }
    if (const auto found = left_out_.find(name); found != left_out_.end()) {
        throw Unsupported{found->second + " '" + shown(name, 120) + "' here"};
    }
    const auto found = initializers_.find(name);
    if (found == initializers_.end()) {
        throw Unsupported{"it reads '" + shown(name, 120) + "', which " +
                          (makers_.contains(name)
                               ? "is made by a later node: the graph is a circle, "
                                 "or not in order"
                               : "nothing makes")};
    }
    Imported value = initial(*found->second);
    count(value);
    values_[name] = std::move(value);
    return true;
}

void Importer::translate() {
    const StoredNode& node = *node_;
    const NodeTranslation translation = find_node_translation(node.op);
    const bool standard = node.domain.empty() || node.domain == "ai.onnx";
    bool all_known = true;
    bool all_constant = true;
    std::vector<const Constant*> constants;
    for (const std::string& name : node.inputs) {
        all_known = known(name) && all_known;
        const auto found = values_.find(name);
        const bool is = found != values_.end() && found->second.constant;
        all_constant = all_constant && (name.empty() || is);
        constants.push_back(is ? &*found->second.constant : nullptr);
    }
    if (!standard) {
        throw Unsupported{"an operator of '" + shown(node.domain) + "'"};
    }
    if (all_known && all_constant) {
        if (std::optional<Constant> folded = fold(model_, node, constants)) {
            if (constant_elements(folded->shape) != folded->values.size()) {
                throw Unsupported{"its shapes do not go together"};
            }
            out({.constant = std::move(folded)});
            return;
        }
    }
    if (translation == nullptr) {
        throw Unsupported{"an operator that has no translation here"};
    }
    if (!all_known) {
        unknown_.insert(node.outputs.begin(), node.outputs.end());
        return; // what it lacks is told already
    }
    for (const std::string& name : node.inputs) {
        if (initializers_.contains(name) && !values_.at(name).constant) {
            builder_.set_path(path_of_weight(name));
            ++readers_[name];
        }
    }
    translation(*this);
    for (const std::string& name : node.outputs) {
        if (!name.empty() && !values_.contains(name)) {
            left_out_[name] = place() + " does not give";
        }
    }
}

/// A running statistic follows the batches of one batch normalisation; nothing else reads it.
void Importer::check_statistics() {
    std::map<std::int32_t, int> kept;
    std::set<std::int32_t> others;
    for (const ir::Op& op : program_.body.ops) {
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (is_statistic(op, i)) {
                ++kept[op.inputs[i].index];
            } else {
                others.insert(op.inputs[i].index);
            }
        }
    }
    for (const ir::WrittenPort& state : states_) {
        const auto count = kept.find(state.value.number);
        if (count != kept.end() && (count->second > 1 || others.contains(state.value.number))) {
            problems_.push_back("the tensor '" + shown(state.name, 120) + "' is " +
                                (others.contains(state.value.number)
                                     ? "both trained and a running statistic"
                                     : "more than one running statistic") +
                                " of batch normalisations");
            hints_.insert("exporters merge equal tensors, as a model has before training: export "
                          "it in training mode (training=TrainingMode.TRAINING in "
                          "torch.onnx.export), which keeps them apart");
        }
    }
}

void Importer::end() {
    const std::string& name = model_.outputs[0].name;
    const std::string result = "the result '" + shown(name, 120) + "'";
    const auto found = values_.find(name);
    if (found == values_.end()) {
        if (problems_.empty()) {
            problems_.push_back(initializers_.contains(name)
                                    ? result + " is a tensor of the file, whatever the input is"
                                : left_out_.contains(name)
                                    ? left_out_.at(name) + " " + result + " here"
                                    : "nothing makes " + result);
        }
        return;
    }
    try {
        result_ = plain(found->second);
    } catch (const Unsupported& why) {
        problems_.push_back(result + ": " + why.text);
    }
}

const Imported& Importer::in(std::size_t i) const {
    if (!has(i)) {
        throw Unsupported{"it lacks an input"};
    }
    return values_.at(node_->inputs[i]);
}

const Constant* Importer::constant(std::size_t i) const {
    if (!has(i)) {
        return nullptr;
    }
    if (!in(i).constant) {
        throw Unsupported{"its input '" + shown(node_->inputs[i], 120) +
                          "' is not known before a run"};
    }
    return &*in(i).constant;
}

Extents Importer::shape(const Imported& value) const {
    if (value.constant) {
        return value.constant->shape;
    }
    if (!value.id.valid()) {
        throw Unsupported{"it reads a sequence"};
    }
    Extents out = list_of(program_.type(value.id).shape);
    if (value.channels_last) {
        out = {out[0], out[3], out[1], out[2]};
    }
    if (value.swapped) {
        std::swap(out.back(), out[out.size() - 2]);
    }
    return out;
}

const StoredNode* Importer::maker(std::size_t i) const {
    const auto found = has(i) ? makers_.find(node_->inputs[i]) : makers_.end();
    return found == makers_.end() ? nullptr : found->second;
}

std::int64_t Importer::axis(const char* name, std::int64_t otherwise, std::size_t rank) const {
    return axis_of(integer_of(*node_, name, otherwise), rank);
}

ir::ValueId Importer::plain(const Imported& value) {
    if (value.constant) {
        return emit_constant(*value.constant);
    }
    if (!value.id.valid()) {
        throw Unsupported{"it reads a sequence"};
    }
    if (value.erf) {
        throw Unsupported{"it reads an Erf that is no part of a GELU"};
    }
    ir::ValueId id = value.id;
    if (value.channels_last) {
        id = ops::transpose(builder_, id, {0, 3, 1, 2});
    }
    if (value.swapped) {
        Extents order(static_cast<std::size_t>(program_.type(id).shape.rank()));
        std::iota(order.begin(), order.end(), 0);
        std::swap(order.back(), order[order.size() - 2]);
        id = ops::transpose(builder_, id, order);
    }
    return value.factor == 1 ? id : ops::affine(builder_, id, value.factor);
}

ir::ValueId Importer::last(const Imported& value) {
    if (!value.channels_last) {
        return ops::transpose(builder_, plain(value), {0, 2, 3, 1});
    }
    Imported same = value;
    same.channels_last = false;
    return plain(same);
}

void Importer::out(Imported value, std::size_t i) {
    if (i < node_->outputs.size() && !node_->outputs[i].empty()) {
        if (values_.contains(node_->outputs[i]) || initializers_.contains(node_->outputs[i])) {
            throw Unsupported{"there are two values '" + shown(node_->outputs[i], 120) + "'"};
        }
        count(value);
        values_[node_->outputs[i]] = std::move(value);
    }
}

ir::ValueId Importer::random() {
    if (!random_.valid()) {
        random_ = program_.add_argument(ir::Role::scalar, "random", {ir::DType::i64, {3}});
    }
    return random_;
}

/// Stretches of equal numbers, one after the other.
ir::ValueId Importer::emit_runs(const std::vector<float>& values) {
    ir::ValueIds runs;
    for (std::size_t i = 0; i < values.size();) {
        std::size_t end = i + 1;
        while (end < values.size() && values[end] == values[i]) {
            ++end;
        }
        runs.push_back(ops::constant(builder_, values[i], {static_cast<std::int64_t>(end - i)}));
        i = end;
        if (runs.size() > kMostRuns) {
            throw Unsupported{"it reads a table of " +
                              format_thousands(static_cast<std::int64_t>(values.size())) +
                              " fixed numbers without a pattern"};
        }
    }
    return runs.size() == 1 ? runs[0] : builder_.emit("concat", runs, {{"dim", std::int64_t{0}}});
}

// Text knows constants of one number. Others are put together of those: a row of stretches, and a
// table whose diagonals are constant (a causal mask) as that row, repeated and cut one number
// short of its own length, so that each next row is shifted by one.
ir::ValueId Importer::emit_constant(const Constant& constant) {
    const Constant x = squeezed(constant);
    if (x.values.size() > 1 && hides_rows(constant)) {
        throw Unsupported{"a mask that it reads hides whole rows"};
    }
    const std::vector<float> values = finite(x.values);
    Extents wide = x.shape;
    std::erase(wide, 1);
    ir::ValueId id;
    if (values.size() == 1) {
        id = ops::constant(builder_, values[0], shape_of(constant.shape));
        return id;
    }
    if (values.empty()) {
        throw Unsupported{"it reads a constant without numbers"};
    }
    const auto rows = wide.size() == 2 ? static_cast<std::size_t>(wide[0]) : 1;
    const auto columns = wide.size() == 2 ? static_cast<std::size_t>(wide[1]) : 1;
    if (wide.size() == 2 && is_toeplitz(values, rows, columns)) {
        std::vector<float> row(values.begin(),
                               values.begin() + static_cast<std::ptrdiff_t>(columns));
        row.push_back(0);                      // never read
        for (std::size_t i = rows; i-- > 1;) { // what comes in from the left, last row first
            row.push_back(values[i * columns]);
        }
        const auto length = static_cast<std::int64_t>(row.size());
        const auto height = static_cast<std::int64_t>(rows);
        id = builder_.emit("broadcast", {emit_runs(row)}, {{"shape", Extents{height, length}}});
        id = ops::reshape(builder_, id, {height * length});
        id = ops::slice(builder_, id, {0}, {height * (length - 1)});
        id = ops::reshape(builder_, id, {height, length - 1});
        id = ops::slice(builder_, id, {0, 0}, {height, static_cast<std::int64_t>(columns)});
    } else {
        id = emit_runs(values);
    }
    id = ops::reshape(builder_, id, shape_of(x.shape));
    return x.shape == constant.shape
               ? id
               : builder_.emit("broadcast", {id}, {{"shape", constant.shape}});
}

ir::ModelText Importer::text() const {
    ir::ModelText out;
    out.name = "onnx";
    out.arguments.push_back({written(program_, inputs_), ir::Role::batch, "inputs", {}});
    if (random_.valid()) {
        out.arguments.push_back({written(program_, random_), ir::Role::scalar, "random", {}});
    }
    std::set<std::int32_t> used;
    std::set<std::int32_t> statistics;
    for (const ir::Op& op : program_.body.ops) {
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            used.insert(op.inputs[i].index);
            if (is_statistic(op, i)) {
                statistics.insert(op.inputs[i].index);
            }
        }
    }
    for (ir::WrittenPort port : states_) {
        if (!used.contains(port.value.number)) {
            continue; // only its shape was read
        }
        if (statistics.contains(port.value.number)) {
            port.attributes.set("trained", false);
        }
        out.arguments.push_back(std::move(port));
    }
    for (const ir::Op& op : program_.body.ops) {
        ir::WrittenOp line;
        for (const ir::ValueId id : op.outputs) {
            line.outputs.push_back(written(program_, id));
        }
        for (const ir::ValueId id : op.inputs) {
            line.inputs.push_back({id.index, {}, {}});
        }
        line.kind = op.kind;
        line.attributes = op.attributes;
        line.path = op.path;
        if (line.kind == kNormByStatistics) {
            line.kind = "batch_norm"; // of running statistics, which text has in this place
            line.attributes.set("momentum", momenta_.at(op.outputs[0].index));
        }
        out.ops.push_back(std::move(line));
    }
    out.results = {{{result_.index, {}, {}}, ir::Role::output, "prediction", {}}};
    return out;
}

std::vector<std::string> Importer::warnings() const {
    std::vector<std::string> out = warnings_;
    for (const auto& [name, tensor] : initializers_) {
        if (tensor->elements() == 1 && float_type(tensor->element) &&
            last_readers_.contains(name)) {
            out.push_back("'" + shown(name, 120) +
                          "' has one element and is not trained: it keeps its number");
        }
    }
    for (const auto& [name, count] : readers_) {
        const bool vector = initializers_.at(name)->shape.size() == 1;
        if (vector && count > 1) {
            out.push_back("'" + shown(name, 120) + "' is read by " + std::to_string(count) +
                          " nodes and trained as one tensor: exporters merge equal tensors unless "
                          "told not to optimise");
        }
    }
    return out;
}

ir::Type Importer::input() const {
    const ir::Type& all = program_.type(inputs_);
    return {all.dtype, ir::Shape(all.shape.span().subspan(1))};
}

TextOfGraph to_model_text(const StoredModel& model, std::int64_t positions) {
    Importer two(model, 2, positions);
    two.run();
    std::vector<std::string> problems = two.problems();
    Importer three(model, 3, positions);
    if (problems.empty()) {
        three.run();
        problems = three.problems();
    }
    const auto refuse = [&](const std::string& text, std::string hint) {
        throw Error(ErrorKind::usage, model.path.string(), text, std::move(hint));
    };
    const bool fixed =
        model.inputs.size() == 1 && !model.inputs[0].shape.empty() && model.inputs[0].shape[0] > 0;
    const std::string dynamic = "export it with a first dimension of any extent (dynamic_shapes, "
                                "or dynamic_axes, in torch.onnx.export)";
    if (!problems.empty()) {
        std::set<std::string> hints = two.hints();
        hints.insert(three.hints().begin(), three.hints().end());
        if (fixed) {
            hints.insert("it is fixed to " + std::to_string(model.inputs[0].shape[0]) +
                         " samples: " + dynamic);
        } else if (hints.empty()) {
            hints.insert("export the model so that it does without these nodes, or write it as "
                         "model text");
        }
        refuse("the graph cannot be trained here: " + join(problems, "; "),
               join(std::vector<std::string>(hints.begin(), hints.end()), "; "));
    }
    const auto text = ir::write_model_text(two.text(), three.text());
    if (!text) {
        refuse("what it computes depends on how many samples there are", dynamic);
    }
    const ir::Shape result = two.output().shape;
    if (result.rank() < 2 || two.output().dtype != ir::DType::f32) {
        refuse("its result has no row of numbers per sample", "export the model up to its logits");
    }
    return {*text, two.input(), result.back(), two.warnings()};
}

} // namespace weft::onnx_import
