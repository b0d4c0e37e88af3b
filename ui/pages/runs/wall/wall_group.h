// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of the metrics whose names begin alike, in columns, under a heading that folds them.
#pragma once

#include <QWidget>

#include <vector>

class QGridLayout;
class QPushButton;

namespace weft::ui {

class WallCell;

class WallGroup : public QWidget {
    Q_OBJECT
public:
    explicit WallGroup(const QString& name, QWidget* parent = nullptr);

    const QString& name() const { return name_; }
    /// In this order; those that were here before are let go of, not deleted.
    void setCells(std::vector<WallCell*> cells);
    const std::vector<WallCell*>& cells() const { return cells_; }
    void setColumns(int columns);
    void setFolded(bool folded);
    bool isFolded() const { return folded_; }

signals:
    void foldedChanged();

private:
    void arrange();
    void fitHeading();

    QString name_;
    QPushButton* heading_;
    QWidget* body_;
    QGridLayout* grid_;
    std::vector<WallCell*> cells_;
    int columns_ = 2;
    bool folded_ = false;
};

} // namespace weft::ui
