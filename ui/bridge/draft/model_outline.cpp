// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/model_outline.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/layer_edit.h"
#include "ui/bridge/plan/plan_digest.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>

namespace weft::ui {
namespace {

constexpr std::size_t kMostKinds = 4;
constexpr std::size_t kKindLetters = 26; // of several kinds together, beside a count
constexpr std::size_t kEqualBlocks = 5;  // so many in a row become one node

class ModelOutlineText {
    Q_DECLARE_TR_FUNCTIONS(ModelOutline)
};

bool isNumberText(const std::string& text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Paths of all blocks around a path, outermost first: "blocks.0", "blocks.0.mlp", ...
std::vector<std::string> blocksAround(const std::string& path) {
    std::vector<std::string> out;
    for (std::string at; at != path;) {
        at = childOf(path, at);
        out.push_back(at);
    }
    return out;
}

/// Kinds of ops that share a colour; what does the work of a block comes first.
const std::vector<std::vector<std::string>>& kindColours() {
    static const std::vector<std::vector<std::string>> kinds = {
        {"attention", "attention_cached"},
        {"conv2d", "conv2d_input_grad"},
        {"embedding"},
        {"matmul", "linear"},
        {"layer_norm", "rms_norm", "batch_norm", "batch_norm_inference"},
        {"max_pool", "avg_pool", "reduce_sum"},
        {"relu", "gelu", "gelu_erf", "silu", "tanh", "sigmoid", "softmax"},
    };
    return kinds;
}

/// Of what a block itself computes; -1: of no kind, or of several in its parts.
int slotOf(const ModelBlock& block) {
    const std::vector<std::string> ops =
        block.ops.empty() ? std::vector<std::string>{} : split(block.ops, '\n');
    for (std::size_t slot = 0; slot < kindColours().size(); ++slot) {
        for (const std::string& kind : kindColours()[slot]) {
            if (std::find(ops.begin(), ops.end(), kind) != ops.end()) {
                return static_cast<int>(slot);
            }
        }
    }
    return -1;
}

void nameKinds(const std::vector<LayerNode>& layers, ModelOutline& outline) {
    for (const LayerNode& layer : layers) {
        const auto block = outline.blocks.find(layer.path);
        if (block != outline.blocks.end()) {
            block->second.kind = layer.type;
        }
        nameKinds(layer.children, outline);
    }
}

class ModelOutlineCollector {
public:
    explicit ModelOutlineCollector(ModelOutline& outline)
        : outline_(outline), program_(outline.sketch.program) {}

    void run() {
        outline_.blocks[""];
        const ir::Block& body = program_.body;
        for (std::size_t i = 0; i < body.ops.size(); ++i) {
            addOp(body.ops[i], outline_.sketch.flops[i]);
        }
        for (const compile::SketchedParameter& parameter : outline_.sketch.parameters) {
            const std::string owner = parameter.name.substr(0, parameter.name.rfind('.'));
            touch(owner);
            std::int64_t elements = 1;
            for (const std::int64_t extent : parameter.shape) {
                elements *= extent;
            }
            outline_.blocks[""].parameters += elements;
            for (const std::string& block : blocksAround(owner)) {
                outline_.blocks[block].parameters += elements;
            }
        }
        for (const auto& [block, value] : given_on_) {
            outline_.blocks[block].shape = sampleShape(program_.type(value));
        }
    }

private:
    void touch(const std::string& path) {
        std::string parent;
        for (const std::string& block : blocksAround(path)) {
            if (outline_.blocks.find(block) == outline_.blocks.end()) {
                outline_.blocks[block].path = block;
                outline_.blocks[parent].children.push_back(block);
            }
            parent = block;
        }
    }

    void addOp(const ir::Op& op, double flops) {
        touch(op.path);
        std::int64_t bytes = 0;
        for (const ir::ValueId value : op.outputs) {
            bytes += program_.type(value).bytes();
        }
        const std::string shape =
            op.outputs.empty() ? std::string() : sampleShape(program_.type(op.outputs.front()));
        outline_.blocks[""].flops += flops;
        outline_.blocks[""].output_bytes += bytes;
        outline_.blocks[""].shape = shape;
        take(op);
        for (const ir::ValueId value : op.outputs) {
            made_in_[value] = {op.path, ++made_};
        }
        for (const std::string& path : blocksAround(op.path)) {
            ModelBlock& block = outline_.blocks[path];
            block.flops += flops;
            block.output_bytes += bytes;
            block.shape = shape;
        }
        const std::string kind = kindOf(op);
        ModelBlock& own = outline_.blocks[op.path];
        std::vector<std::string> kinds =
            own.ops.empty() ? std::vector<std::string>{} : split(own.ops, '\n');
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
            own.ops += (own.ops.empty() ? "" : "\n") + kind;
        }
    }

    /// As people call it: a reshape that lays a sample out in a row is a flatten.
    std::string kindOf(const ir::Op& op) const {
        const bool flattens = op.kind == "reshape" && !op.inputs.empty() && !op.outputs.empty() &&
                              program_.type(op.inputs.front()).shape.rank() > 2 &&
                              program_.type(op.outputs.front()).shape.rank() == 2;
        return flattens ? "flatten" : op.kind;
    }

    /// What an op takes in was given on by the blocks that it is not in: the last of it is what a
    /// block puts out, whatever else it keeps up to date (running means).
    void take(const ir::Op& op) {
        const std::vector<std::string> around = blocksAround(op.path);
        for (const ir::ValueId value : op.inputs) {
            const auto made = made_in_.find(value);
            if (made == made_in_.end()) {
                continue;
            }
            for (const std::string& block : blocksAround(made->second.first)) {
                if (std::find(around.begin(), around.end(), block) != around.end()) {
                    continue;
                }
                const auto known = given_on_.find(block);
                if (known == given_on_.end() ||
                    made_in_.at(known->second).second < made->second.second) {
                    given_on_[block] = value;
                }
            }
        }
    }

    ModelOutline& outline_;
    const ir::Program& program_;
    std::map<ir::ValueId, std::pair<std::string, int>> made_in_; // block, and how many before it
    std::map<std::string, ir::ValueId> given_on_;
    int made_ = 0;
};

/// Ops of one level, gathered into the blocks that they are in.
class LevelGraph {
public:
    LevelGraph(const ModelOutline& outline, const std::string& parent,
               std::vector<std::string>& paths)
        : outline_(outline), program_(outline.sketch.program), parent_(parent), paths_(paths) {}

    widgets::Graph run() {
        paths_.clear();
        for (const ir::Op& op : program_.body.ops) {
            produced_.insert(op.outputs.begin(), op.outputs.end());
        }
        mergeEqual();
        visit(program_.body);
        if (!outline_.problem_path.empty()) {
            addFault();
        }
        return std::move(graph_);
    }

private:
    bool isHere(const std::string& path) const {
        return parent_.empty() || path == parent_ || path.starts_with(parent_ + ".");
    }

    /// Which block stands for which: itself, but for blocks in a row that are alike.
    void mergeEqual() {
        const ModelBlock* parent = outline_.find(parent_);
        if (parent == nullptr) {
            return;
        }
        const auto look = [&](const std::string& child) {
            const ModelBlock& block = outline_.blocks.at(child);
            return withoutNumbers(toQString(child)) + QString::number(block.parameters) +
                   toQString(block.shape) + toQString(block.ops);
        };
        const std::vector<std::string>& all = parent->children;
        for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
            while (end < all.size() && look(all[end]) == look(all[first])) {
                ++end;
            }
            const bool one = end - first >= kEqualBlocks;
            for (std::size_t i = first; i < end; ++i) {
                stands_for_[all[i]] = one ? all[first] : all[i];
            }
            if (one) {
                counts_[all[first]] = end - first;
            }
        }
    }

    int nodeOf(const std::string& path) {
        const std::string level = childOf(path, parent_);
        const auto merged = stands_for_.find(level);
        const std::string block = merged == stands_for_.end() ? level : merged->second;
        const auto [found, fresh] = nodes_.try_emplace(block, static_cast<int>(paths_.size()));
        if (fresh) {
            addNode(block);
        }
        return found->second;
    }

    void addNode(const std::string& block) {
        widgets::GraphNode node;
        const ModelBlock* known = outline_.find(block);
        const std::size_t count = counts_.contains(block) ? counts_.at(block) : 1;
        const bool own = block.empty() || block == parent_; // ops of no block below
        const QString name = own               ? ownName()
                             : parent_.empty() ? toQString(block)
                                               : toQString(block.substr(parent_.size() + 1));
        node.title = count > 1
                         ? ModelOutlineText::tr("%1 and %2 more like it").arg(name).arg(count - 1)
                         : name;
        if (known != nullptr && !block.empty()) {
            QStringList words;
            if (!known->kind.empty()) {
                node.title = count > 1 ? ModelOutlineText::tr("%1 and %2 more like it")
                                             .arg(toQString(known->kind))
                                             .arg(count - 1)
                                       : toQString(known->kind);
                words.append(name);
            }
            if (known->parameters > 0) {
                words.append(toQString(format_count(known->parameters)));
            }
            if (known->kind.empty()) {
                words.append(kindsOf(*known));
            }
            node.slot = slotOf(*known);
            node.detail = words.join(QStringLiteral(" · "));
            node.tooltip = ModelOutlineText::tr("%1\n%2 parameters, %3 FLOPs a sample, puts out %4")
                               .arg(toQString(block), formatCount(known->parameters),
                                    formatFlops(known->flops), toQString(known->shape));
            node.shade = node.slot < 0 && known->parameters > 0 ? 1 : 0;
        }
        graph_.nodes.push_back(node);
        paths_.push_back(block);
    }

    /// "add": the level's own ops.
    QString ownName() const {
        const ModelBlock* level = outline_.find(parent_);
        return level == nullptr || level->ops.empty() ? QStringLiteral("·") : kindsOf(*level);
    }

    /// Kinds of the ops of a block, and of blocks below it when it has none itself.
    QString kindsOf(const ModelBlock& block) const {
        if (block.ops.empty()) {
            return block.children.size() == 1
                       ? kindsOf(outline_.blocks.at(block.children.front()))
                       : ModelOutlineText::tr("%1 parts").arg(block.children.size());
        }
        std::vector<std::string> kinds = split(block.ops, '\n');
        const std::size_t all = kinds.size();
        kinds.resize(std::min(all, kMostKinds));
        while (kinds.size() > 1 && join(kinds, ", ").size() > kKindLetters) {
            kinds.pop_back();
        }
        if (kinds.size() < all) {
            kinds.emplace_back("…");
        }
        return toQString(join(kinds, ", "));
    }

    void visit(const ir::Block& block) {
        for (const ir::Op& op : block.ops) {
            if (!isHere(op.path)) {
                continue;
            }
            const int node = nodeOf(op.path);
            for (const ir::ValueId value : op.inputs) {
                connect(value, node);
            }
            for (const ir::Block& inner : op.body) {
                for (const ir::Op& nested : inner.ops) {
                    for (const ir::ValueId value : nested.inputs) {
                        connect(value, node);
                    }
                }
            }
            for (const ir::ValueId value : op.outputs) {
                made_by_[value] = node;
                last_ = value;
            }
        }
    }

    void connect(ir::ValueId value, int node) {
        int from = -1;
        const auto made = made_by_.find(value);
        if (made != made_by_.end()) {
            from = made->second;
        } else if (!isData(value)) {
            return; // parameters, masks' keys, and values of loops
        } else {
            from = outside(value);
        }
        if (from != node && edges_.insert({from, node}).second) {
            graph_.edges.push_back({from, node, toQString(sampleShape(program_.type(value)))});
        }
    }

    /// What flows in: the samples, and what other blocks put out.
    bool isData(ir::ValueId value) const {
        for (const ir::Port& port : program_.arguments) {
            if (port.value == value) {
                return port.name == "inputs";
            }
        }
        return produced_.contains(value);
    }

    int outside(ir::ValueId value) {
        const int node = static_cast<int>(paths_.size());
        widgets::GraphNode made;
        const bool sample = value == program_.arguments.front().value;
        made.title =
            sample ? ModelOutlineText::tr("a sample") : ModelOutlineText::tr("from outside");
        made.detail = toQString(ir::dtype_name(program_.type(value).dtype));
        made.shade = 3;
        graph_.nodes.push_back(made);
        paths_.emplace_back();
        made_by_[value] = node;
        return node;
    }

    /// The layer that does not take what comes to it.
    void addFault() {
        if (!isHere(outline_.problem_path)) {
            return;
        }
        const int before = last_.valid() && made_by_.contains(last_)
                               ? made_by_.at(last_)
                               : outside(program_.arguments.front().value);
        const int node = nodeOf(outline_.problem_path);
        graph_.nodes[static_cast<std::size_t>(node)].shade = 4;
        graph_.nodes[static_cast<std::size_t>(node)].detail = ModelOutlineText::tr("does not fit");
        graph_.nodes[static_cast<std::size_t>(node)].tooltip = outline_.problem;
        if (before != node && edges_.insert({before, node}).second) {
            const ir::ValueId value = last_.valid() ? last_ : program_.arguments.front().value;
            graph_.edges.push_back({before, node, toQString(sampleShape(program_.type(value)))});
        }
        for (widgets::GraphEdge& edge : graph_.edges) {
            edge.wrong = edge.wrong || edge.to == node;
        }
    }

    const ModelOutline& outline_;
    const ir::Program& program_;
    std::string parent_;
    std::vector<std::string>& paths_;
    widgets::Graph graph_;
    std::map<std::string, std::string> stands_for_;
    std::map<std::string, std::size_t> counts_;
    std::map<std::string, int> nodes_;
    std::map<ir::ValueId, int> made_by_;
    std::set<ir::ValueId> produced_; // by ops of the model itself
    std::set<std::pair<int, int>> edges_;
    ir::ValueId last_;
};

} // namespace

const ModelBlock* ModelOutline::find(const std::string& path) const {
    const auto found = blocks.find(path);
    return found == blocks.end() ? nullptr : &found->second;
}

std::string childOf(const std::string& path, const std::string& parent) {
    if (path == parent || (!parent.empty() && !path.starts_with(parent + "."))) {
        return path == parent ? path : std::string();
    }
    const std::size_t start = parent.empty() ? 0 : parent.size() + 1;
    std::size_t end = path.find('.', start);
    if (end != std::string::npos) {
        const std::size_t next = path.find('.', end + 1);
        if (isNumberText(path.substr(end + 1, next == std::string::npos ? next : next - end - 1))) {
            end = next;
        }
    }
    return path.substr(0, end);
}

std::string sampleShape(const ir::Type& type) {
    ir::Shape shape;
    for (int i = 1; i < type.shape.rank(); ++i) {
        shape.push_back(type.shape[i]);
    }
    return ir::to_text(shape);
}

std::shared_ptr<const ModelOutline> outlineModel(const compile::RunConfig& config,
                                                 const data::SampleInfo& sample) {
    auto outline = std::make_shared<ModelOutline>();
    outline->input = ir::to_text(sample.input.shape);
    try {
        compile::sketch_model(config, sample, outline->sketch);
    } catch (const Error& error) {
        outline->problem_path = error.where();
        outline->problem = toQString(error.text());
        outline->hint = toQString(error.hint());
    }
    ModelOutlineCollector(*outline).run();
    nameKinds(layerTree(config.section("model")), *outline);
    return outline;
}

widgets::Graph blockGraph(const ModelOutline& outline, const std::string& parent,
                          std::vector<std::string>& paths) {
    return LevelGraph(outline, parent, paths).run();
}

} // namespace weft::ui
