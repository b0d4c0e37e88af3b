// SPDX-License-Identifier: GPL-3.0-or-later
// Thousands of lines of program text behind a model, of which only the visible ones are painted:
// line numbers, a mark on lines that are new, what is searched for on a tint.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <QStringList>

#include <vector>

namespace weft::widgets {

/// One text; rows are its lines, or those of them that were chosen.
class LineModel : public QAbstractListModel {
    Q_OBJECT
public:
    static constexpr int kNumberRole = Qt::UserRole;  // 1-based line number in the whole text
    static constexpr int kNewRole = Qt::UserRole + 1; // bool

    explicit LineModel(QObject* parent = nullptr);

    /// `fresh`: per line whether it is new; empty: none is.
    void setText(const QStringList& lines, std::vector<bool> fresh);
    /// Shows these lines only (0-based, ascending).
    void setShown(std::vector<int> shown);
    const QStringList& lines() const { return lines_; }
    /// Characters of the longest line.
    int longest() const { return longest_; }
    /// Rows whose line holds `needle` (case-insensitive), in order.
    std::vector<int> find(const QString& needle) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    QStringList lines_;
    std::vector<bool> fresh_;
    std::vector<int> shown_;
    int longest_ = 0;
};

class LineView : public QListView {
    Q_OBJECT
public:
    explicit LineView(QWidget* parent = nullptr);

    LineModel* lineModel() const { return model_; }
    /// Tinted wherever it occurs; empty: nothing.
    void setNeedle(const QString& needle);
    const QString& needle() const { return needle_; }
    /// Puts the cursor on a row and shows it in the middle.
    void goTo(int row);
    /// The selected lines as text.
    QString selectedText() const;

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    LineModel* model_;
    QString needle_;
};

} // namespace weft::widgets
