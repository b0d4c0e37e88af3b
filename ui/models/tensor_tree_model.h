// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of a plan by layer: "blocks" > "0" > "attention.qkv.weight". Layers that repeat the
// one before them stand together under "1 … 5", like 0.
#pragma once

#include "core/plan/plan.h"

#include <QAbstractItemModel>
#include <QHash>
#include <QStringList>

#include <memory>
#include <vector>

namespace weft::ui {

class TensorTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { NameColumn, ShapeColumn, SpecColumn, BytesColumn, CopiesColumn, ColumnCount };
    /// Of a group: its place in the tree, "blocks/0".
    static constexpr int kPathRole = Qt::UserRole + 1;
    /// Touch: what an op does with the tensor, or with one of the group.
    static constexpr int kTouchRole = Qt::UserRole + 2;
    enum Touch { Untouched, Read, Written };

    explicit TensorTreeModel(QObject* parent = nullptr);

    /// The batch, parameters and what else of the model a checkpoint keeps; the optimizer's state
    /// lies behind them. Null: nothing.
    void setPlan(std::shared_ptr<const plan::ExecutionPlan> plan);
    /// How specs are written.
    void setDialect(sharding::SpecDialect dialect);
    sharding::SpecDialect dialect() const { return dialect_; }
    /// Words that name or spec must contain; while there are any, no layers are put together.
    void setWords(const QString& words);
    /// Tensors that an op reads or writes, by name.
    void setTouched(const QHash<QString, Touch>& touched);
    bool isFiltered() const { return !words_.isEmpty(); }

    /// All, and those that the words leave.
    int tensorCount() const { return static_cast<int>(tensors_.size()); }
    int shownCount() const { return shown_; }
    /// The tensor's name; empty for groups.
    QString tensorOf(const QModelIndex& index) const;
    QModelIndex indexOf(const QString& tensor) const;
    /// What a page shows first: an array that the mesh splits, or else a matrix.
    QString firstChoice() const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Tensor {
        plan::Tensor of;
        QString name;
        QString spec;
        int copies = 1;
    };
    struct Node {
        Touch touch = Untouched;
        int parent = 0;
        int row = 0;
        QString name;
        QString like;    // "like 0", of layers put together
        int tensor = -1; // -1: a group
        int layers = 0;  // of a group: numbered ones right below it
        std::vector<int> children;
        std::vector<std::int64_t> bytes; // per stage of the pipeline, on a device
    };

    void add(plan::Tensor tensor);
    void writeSpecs();
    void rebuild();
    void insert(int tensor);
    int child(int parent, const QString& name);
    void joinAlike(int node);
    QString signature(int node) const;
    void sum(int node);
    void number(int node);
    QString path(int node) const;
    QVariant display(const Node& node, int column) const;
    QString tooltip(const Node& node) const;
    void markTouched();
    const Node& nodeOf(const QModelIndex& index) const;

    std::shared_ptr<const plan::ExecutionPlan> plan_;
    sharding::SpecDialect dialect_ = sharding::SpecDialect::jax;
    std::vector<Tensor> tensors_;
    std::vector<Node> nodes_; // the first is the root
    QStringList words_;
    int shown_ = 0;
    QHash<QString, int> leaves_; // nodes by name of their tensor
    QHash<QString, Touch> touched_;
    std::vector<int> marked_; // nodes
};

} // namespace weft::ui
