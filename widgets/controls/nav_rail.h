// SPDX-License-Identifier: GPL-3.0-or-later
// The navigation rail at the left: icon, text and a state mark per page; folds to icons.
#pragma once

#include <QWidget>

class QListWidget;
class QToolButton;

namespace weft::widgets {

/// What a page's mark says: shape as well as colour (dot, triangle, cross, arrow).
enum class NavState { Empty, Valid, Warning, Error, Running };

class NavRail : public QWidget {
    Q_OBJECT
public:
    explicit NavRail(QWidget* parent = nullptr);

    /// Appends a page; returns its index. `icon_name` as in icon.h.
    int addPage(const QString& icon_name, const QString& text, const QString& tooltip = {});
    int pageCount() const;
    int currentPage() const;
    void setCurrentPage(int index);
    void setPageState(int index, NavState state);
    NavState pageState(int index) const;
    /// 160 px with text, or 48 px with icons and tooltips.
    bool isCollapsed() const { return collapsed_; }
    void setCollapsed(bool collapsed);

signals:
    void currentPageChanged(int index);
    void collapsedChanged(bool collapsed);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void updateAccessibleText(int index);

    QListWidget* list_;
    QToolButton* fold_;
    bool collapsed_ = false;
};

} // namespace weft::widgets
