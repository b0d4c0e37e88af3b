// SPDX-License-Identifier: GPL-3.0-or-later
// The rules in effect, in their order: which axes of the mesh split which logical axis. The draft's
// own come first and can be moved; changing one of the strategy's makes it the draft's own.
#pragma once

#include "ui/bridge/draft/rule_edit.h"
#include "ui/bridge/plan/plan_digest.h"

#include <QWidget>

#include <memory>

class QGridLayout;
class QMenu;

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class RuleList : public QWidget {
    Q_OBJECT
public:
    explicit RuleList(QWidget* parent = nullptr);

    void show(std::shared_ptr<const compile::RunConfig> config,
              std::shared_ptr<const PlanDigest> digest);

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

private:
    void rebuild();
    /// What a rule for a logical axis is about.
    QString whatOf(const std::string& logical) const;
    void addRow(int row, const EffectiveRule& rule, int own);
    void fillAddMenu();
    void addAxes(QMenu* menu, const sharding::Rule& rule, bool replaces);
    void change(const MeshEdit& edit, const QString& what);

    std::shared_ptr<const compile::RunConfig> config_;
    std::shared_ptr<const PlanDigest> digest_;
    MeshEdit edit_;
    QMenu* add_menu_;
    QWidget* rows_;
    QGridLayout* grid_;
    widgets::TextLabel* wrong_;
};

} // namespace weft::ui
