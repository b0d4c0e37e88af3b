// SPDX-License-Identifier: GPL-3.0-or-later
// Overrides of single tensors: a name pattern and how what it matches is split, as JAX writes it or
// as placements of DTensor; either is understood, the draft has JAX's.
// What is typed is checked while it is typed and reaches the draft when it is right; until then it
// stays as it is, whatever the draft does.
#pragma once

#include "ui/bridge/draft/override_edit.h"
#include "ui/bridge/plan/plan_digest.h"

#include <QWidget>

#include <memory>
#include <vector>

class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace weft::widgets {
class ElidedLabel;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

/// One override being edited.
class SpecRow : public QWidget {
    Q_OBJECT
public:
    SpecRow(std::optional<SpecEntry> entry, SpecWords words, QWidget* parent = nullptr);

    /// As it stands in the draft; none: it does not yet.
    const std::optional<SpecEntry>& known() const { return known_; }
    void setKnown(std::optional<SpecEntry> entry);
    /// How specs are written; what is being typed stays as it is.
    void setWords(SpecWords words);
    /// As it is typed, in the words of the draft.
    SpecEntry typed() const;
    bool isDirty() const;
    void check(const compile::RunConfig& config, const plan::ExecutionPlan& plan);
    bool isRight() const { return right_; }
    void focusPattern();
    void setNumber(int number);

signals:
    void typedChanged();
    /// Enter, or the focus went on.
    void finished();
    void removeRequested();

private:
    std::optional<SpecEntry> known_;
    SpecWords words_;
    bool right_ = true;
    QLineEdit* pattern_;
    QLineEdit* spec_;
    QPushButton* remove_;
    widgets::ElidedLabel* verdict_;
};

class SpecList : public QWidget {
    Q_OBJECT
public:
    explicit SpecList(QWidget* parent = nullptr);

    void show(std::shared_ptr<const compile::RunConfig> config,
              std::shared_ptr<const PlanDigest> digest);
    void setDialect(sharding::SpecDialect dialect);

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

private:
    SpecRow* addRow(std::optional<SpecEntry> entry);
    void arrange();
    void check(SpecRow* row);
    void finish(SpecRow* row);
    void remove(SpecRow* row);
    /// What the rows come to; those that are not right yet count as they stand in the draft.
    std::vector<SpecEntry> entries() const;

    std::shared_ptr<const compile::RunConfig> config_;
    std::shared_ptr<const PlanDigest> digest_;
    sharding::SpecDialect dialect_ = sharding::SpecDialect::jax;
    std::vector<SpecRow*> rows_;
    QPushButton* add_;
    QVBoxLayout* column_;
    widgets::TextLabel* nothing_;
};

} // namespace weft::ui
