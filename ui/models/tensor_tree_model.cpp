// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/tensor_tree_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <QSize>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr std::size_t kLeastJoined = 2;
constexpr int kTensorTreeModelRowHeight = 22;

bool isNumberCell(const QString& text) {
    return !text.isEmpty() &&
           std::all_of(text.begin(), text.end(), [](QChar c) { return c >= u'0' && c <= u'9'; });
}

/// "blocks.0.attention.qkv.weight" is {"blocks", "0", "attention.qkv.weight"}: groups end before
/// and after a number.
QStringList treePath(const QString& name) {
    QStringList out;
    QStringList open;
    for (const QString& part : name.split('.')) {
        if (isNumberCell(part) && !open.isEmpty()) {
            out << open.join('.') << part;
            open.clear();
        } else {
            open << part;
        }
    }
    if (!open.isEmpty()) {
        out << open.join('.');
    }
    return out;
}

} // namespace

TensorTreeModel::TensorTreeModel(QObject* parent) : QAbstractItemModel(parent) {
    rebuild();
}

void TensorTreeModel::setPlan(std::shared_ptr<const plan::ExecutionPlan> plan) {
    plan_ = std::move(plan);
    tensors_.clear();
    if (plan_) {
        for (const plan::StateSlot& slot : plan_->state_slots) {
            if (slot.category == plan::Category::parameters ||
                (slot.category == plan::Category::state && slot.saved)) {
                add(slot);
            }
        }
        for (plan::Tensor& tensor : plan::batch_tensors(*plan_)) {
            add(std::move(tensor));
        }
    }
    writeSpecs();
    rebuild();
}

void TensorTreeModel::add(plan::Tensor tensor) {
    QString name = toQString(tensor.name);
    const int copies = tensorCopies(*plan_, tensor);
    tensors_.push_back({std::move(tensor), std::move(name), {}, copies});
}

void TensorTreeModel::setDialect(sharding::SpecDialect dialect) {
    dialect_ = dialect;
    writeSpecs();
    rebuild();
}

void TensorTreeModel::writeSpecs() {
    for (Tensor& tensor : tensors_) {
        tensor.spec = specText(*plan_, tensor.of, dialect_);
    }
}

void TensorTreeModel::setWords(const QString& words) {
    words_ = words.simplified().split(' ', Qt::SkipEmptyParts);
    rebuild();
}

void TensorTreeModel::setTouched(const QHash<QString, Touch>& touched) {
    if (touched == touched_) {
        return;
    }
    touched_ = touched;
    const std::vector<int> before = std::move(marked_);
    for (const int node : before) {
        nodes_[static_cast<std::size_t>(node)].touch = Untouched;
    }
    markTouched();
    for (const std::vector<int>* nodes : {&before, &std::as_const(marked_)}) {
        for (const int node : *nodes) {
            const QModelIndex index = createIndex(nodes_[static_cast<std::size_t>(node)].row,
                                                  NameColumn, static_cast<quintptr>(node));
            emit dataChanged(index, index, {kTouchRole, Qt::AccessibleTextRole});
        }
    }
}

// Groups show what happens inside them: they may be closed.
void TensorTreeModel::markTouched() {
    marked_.clear();
    for (auto touch = touched_.cbegin(); touch != touched_.cend(); ++touch) {
        for (int node = leaves_.value(touch.key(), 0); node > 0;
             node = nodes_[static_cast<std::size_t>(node)].parent) {
            Touch& own = nodes_[static_cast<std::size_t>(node)].touch;
            if (own == Untouched) {
                marked_.push_back(node);
            }
            own = std::max(own, touch.value());
        }
    }
}

void TensorTreeModel::rebuild() {
    beginResetModel();
    nodes_.assign(1, {});
    leaves_.clear();
    shown_ = 0;
    for (int i = 0; i < tensorCount(); ++i) {
        const Tensor& tensor = tensors_[static_cast<std::size_t>(i)];
        const QString text = tensor.name + " " + tensor.spec;
        if (std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
                return text.contains(word, Qt::CaseInsensitive);
            })) {
            insert(i);
            ++shown_;
        }
    }
    sum(0);
    if (!isFiltered()) {
        joinAlike(0);
    }
    number(0);
    markTouched();
    endResetModel();
}

void TensorTreeModel::insert(int tensor) {
    const Tensor& own = tensors_[static_cast<std::size_t>(tensor)];
    QStringList path = treePath(own.name);
    if (own.of.kind == plan::category_name(plan::Category::batch)) {
        path.prepend(tr("batch"));
    }
    int node = 0;
    for (int i = 0; i + 1 < path.size(); ++i) {
        node = child(node, path[i]);
    }
    Node leaf;
    leaf.parent = node;
    leaf.name = path.last();
    leaf.tensor = tensor;
    nodes_[static_cast<std::size_t>(node)].children.push_back(static_cast<int>(nodes_.size()));
    leaves_.insert(tensors_[static_cast<std::size_t>(tensor)].name,
                   static_cast<int>(nodes_.size()));
    nodes_.push_back(std::move(leaf));
}

int TensorTreeModel::child(int parent, const QString& name) {
    // Tensors of a layer follow one another: the newest group is asked first.
    const std::vector<int>& children = nodes_[static_cast<std::size_t>(parent)].children;
    const auto found = std::find_if(children.rbegin(), children.rend(), [&](int one) {
        const Node& node = nodes_[static_cast<std::size_t>(one)];
        return node.tensor < 0 && node.name == name;
    });
    if (found != children.rend()) {
        return *found;
    }
    Node made;
    made.parent = parent;
    made.name = name;
    const int index = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(made));
    Node& above = nodes_[static_cast<std::size_t>(parent)];
    above.children.push_back(index);
    above.layers += isNumberCell(name) ? 1 : 0;
    return index;
}

void TensorTreeModel::sum(int index) {
    const std::size_t stages = plan_ ? std::max<std::size_t>(1, plan_->stages.size()) : 1;
    std::vector<std::int64_t> bytes(stages, 0);
    const Node& node = nodes_[static_cast<std::size_t>(index)];
    if (node.tensor >= 0) {
        const plan::Tensor& own = tensors_[static_cast<std::size_t>(node.tensor)].of;
        bytes[static_cast<std::size_t>(own.stage)] = own.type.bytes();
    }
    for (const int child : node.children) {
        sum(child);
        const auto& own = nodes_[static_cast<std::size_t>(child)].bytes;
        std::transform(bytes.begin(), bytes.end(), own.begin(), bytes.begin(), std::plus<>());
    }
    nodes_[static_cast<std::size_t>(index)].bytes = std::move(bytes);
}

QString TensorTreeModel::signature(int index) const {
    const Node& node = nodes_[static_cast<std::size_t>(index)];
    if (node.tensor >= 0) {
        const Tensor& tensor = tensors_[static_cast<std::size_t>(node.tensor)];
        return QStringLiteral("%1 %2 %3 %4 %5;")
            .arg(node.name, shapeText(tensor.of.whole.shape), tensor.spec)
            .arg(tensor.of.type.bytes())
            .arg(tensor.of.stage);
    }
    QString out;
    for (const int child : node.children) {
        const Node& below = nodes_[static_cast<std::size_t>(child)];
        out += (below.tensor < 0 ? below.name + "{" : QString()) + signature(child) + "}";
    }
    return out;
}

void TensorTreeModel::joinAlike(int index) {
    const std::vector<int> children = nodes_[static_cast<std::size_t>(index)].children;
    std::vector<int> out;
    for (std::size_t i = 0; i < children.size();) {
        const Node first = nodes_[static_cast<std::size_t>(children[i])];
        joinAlike(children[i]);
        out.push_back(children[i]);
        std::size_t next = i + 1;
        if (first.tensor < 0 && isNumberCell(first.name)) {
            const QString wanted = signature(children[i]);
            while (next < children.size() && signature(children[next]) == wanted) {
                ++next;
            }
        }
        if (next - i - 1 < kLeastJoined) {
            ++i;
            continue;
        }
        Node joined;
        joined.parent = index;
        joined.children.assign(children.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                               children.begin() + static_cast<std::ptrdiff_t>(next));
        joined.name = QStringLiteral("%1 … %2").arg(
            nodes_[static_cast<std::size_t>(joined.children.front())].name,
            nodes_[static_cast<std::size_t>(joined.children.back())].name);
        joined.like = tr("like %1").arg(first.name);
        const int made = static_cast<int>(nodes_.size());
        for (const int child : joined.children) {
            nodes_[static_cast<std::size_t>(child)].parent = made;
        }
        out.push_back(made);
        nodes_.push_back(std::move(joined));
        sum(made);
        i = next;
    }
    nodes_[static_cast<std::size_t>(index)].children = std::move(out);
}

void TensorTreeModel::number(int index) {
    int row = 0;
    for (const int child : std::vector<int>(nodes_[static_cast<std::size_t>(index)].children)) {
        nodes_[static_cast<std::size_t>(child)].row = row++;
        number(child);
    }
}

QString TensorTreeModel::path(int node) const {
    QString out;
    for (; node > 0; node = nodes_[static_cast<std::size_t>(node)].parent) {
        out = nodes_[static_cast<std::size_t>(node)].name + (out.isEmpty() ? "" : "/") + out;
    }
    return out;
}

const TensorTreeModel::Node& TensorTreeModel::nodeOf(const QModelIndex& index) const {
    return nodes_[index.isValid() ? static_cast<std::size_t>(index.internalId()) : 0];
}

QString TensorTreeModel::tensorOf(const QModelIndex& index) const {
    const int tensor = index.isValid() ? nodeOf(index).tensor : -1;
    return tensor < 0 ? QString() : tensors_[static_cast<std::size_t>(tensor)].name;
}

QModelIndex TensorTreeModel::indexOf(const QString& tensor) const {
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
        if (nodes_[i].tensor >= 0 &&
            tensors_[static_cast<std::size_t>(nodes_[i].tensor)].name == tensor) {
            return createIndex(nodes_[i].row, 0, static_cast<quintptr>(i));
        }
    }
    return {};
}

QString TensorTreeModel::firstChoice() const {
    const Tensor* best = nullptr;
    int best_score = -1;
    for (const Tensor& tensor : tensors_) {
        if (tensor.of.kind == plan::category_name(plan::Category::batch)) {
            continue;
        }
        const auto& dims = tensor.of.placement.dims;
        const bool split =
            std::any_of(dims.begin(), dims.end(), [](const auto& dim) { return !dim.empty(); });
        const bool layer = treePath(tensor.name).size() > 1;
        const int score =
            (split ? 4 : 0) + (tensor.of.whole.shape.rank() >= 2 ? 2 : 0) + (layer ? 1 : 0);
        if (score > best_score) {
            best = &tensor;
            best_score = score;
        }
    }
    return best != nullptr ? best->name : QString();
}

QModelIndex TensorTreeModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) {
        return {};
    }
    return createIndex(
        row, column, static_cast<quintptr>(nodeOf(parent).children[static_cast<std::size_t>(row)]));
}

QModelIndex TensorTreeModel::parent(const QModelIndex& index) const {
    const int above = index.isValid() ? nodeOf(index).parent : 0;
    return above == 0 ? QModelIndex()
                      : createIndex(nodes_[static_cast<std::size_t>(above)].row, 0,
                                    static_cast<quintptr>(above));
}

int TensorTreeModel::rowCount(const QModelIndex& parent) const {
    return parent.column() > 0 ? 0 : static_cast<int>(nodeOf(parent).children.size());
}

int TensorTreeModel::columnCount(const QModelIndex&) const {
    return ColumnCount;
}

QVariant TensorTreeModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const Node& node = nodeOf(index);
    const int column = index.column();
    using widgets::Role;
    const widgets::Theme& theme = widgets::Theme::current();
    switch (role) {
    case Qt::DisplayRole: return display(node, column);
    case Qt::ToolTipRole: return tooltip(node);
    case kTouchRole: return column == NameColumn ? node.touch : Untouched;
    case Qt::AccessibleTextRole: {
        const QString text = display(node, column).toString();
        return column != NameColumn || node.touch == Untouched ? text
               : node.touch == Read                            ? tr("%1, read now").arg(text)
                                                               : tr("%1, written now").arg(text);
    }
    case kPathRole:
        return node.tensor < 0 ? path(static_cast<int>(index.internalId())) : QVariant();
    case Qt::SizeHintRole: return QSize(0, kTensorTreeModelRowHeight);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter |
            (column == NameColumn || column == SpecColumn ? Qt::AlignLeft : Qt::AlignRight)));
    case Qt::FontRole: return theme.font(widgets::TextStyle::MonoSmall);
    case Qt::ForegroundRole:
        if (column == SpecColumn && node.tensor >= 0) {
            const auto& dims = tensors_[static_cast<std::size_t>(node.tensor)].of.placement.dims;
            const bool split =
                std::any_of(dims.begin(), dims.end(), [](const auto& dim) { return !dim.empty(); });
            return theme.color(split ? Role::Accent : Role::Muted);
        }
        return theme.color(column == ShapeColumn ? Role::Muted : Role::Text);
    default: return {};
    }
}

QVariant TensorTreeModel::display(const Node& node, int column) const {
    const Tensor* tensor =
        node.tensor < 0 ? nullptr : &tensors_[static_cast<std::size_t>(node.tensor)];
    switch (column) {
    case NameColumn:
        return node.layers > 0 ? QStringLiteral("%1  %2").arg(node.name).arg(node.layers)
                               : node.name;
    case ShapeColumn: return tensor != nullptr ? shapeText(tensor->of.whole.shape) : node.like;
    case SpecColumn: return tensor != nullptr ? tensor->spec : QString();
    case BytesColumn: return shortMemory(*std::max_element(node.bytes.begin(), node.bytes.end()));
    case CopiesColumn:
        return tensor != nullptr ? QStringLiteral("×%1").arg(tensor->copies) : QString();
    default: return {};
    }
}

QString TensorTreeModel::tooltip(const Node& node) const {
    if (node.tensor < 0) {
        return node.bytes.size() > 1
                   ? tr("Bytes are those of the pipeline's stage that holds most of it.")
                   : QString();
    }
    const Tensor& tensor = tensors_[static_cast<std::size_t>(node.tensor)];
    const plan::Tensor& own = tensor.of;
    QString text = QStringLiteral("%1\n%2 %3, %4\n")
                       .arg(tensor.name, toQString(ir::dtype_name(own.whole.dtype)),
                            shapeText(own.whole.shape), tensor.spec) +
                   tr("%1 of %2 on a device, every part %3 times")
                       .arg(widgets::formatMemory(own.type.bytes()),
                            widgets::formatMemory(own.whole.bytes()))
                       .arg(tensor.copies);
    if (plan_->pipeline) {
        text += "\n" + tr("stage %1 of the pipeline").arg(own.stage);
    }
    if (const QString remark = specRemark(*plan_, own, dialect_); !remark.isEmpty()) {
        text += "\n" + remark;
    }
    return text;
}

QVariant TensorTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(
            section == NameColumn || section == SpecColumn ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const QString titles[] = {tr("name"), tr("shape"),
                              dialect_ == sharding::SpecDialect::jax ? tr("spec")
                                                                     : tr("placements"),
                              tr("a device"), tr("copies")};
    return titles[section];
}

} // namespace weft::ui
