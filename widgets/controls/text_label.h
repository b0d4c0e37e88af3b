// SPDX-License-Identifier: GPL-3.0-or-later
// Labels that take their font and colour from the theme and follow its changes.
#pragma once

#include "widgets/look/theme.h"

#include <QLabel>

namespace weft::widgets {

/// A QLabel in one step of the type scale and one colour role. Plain text; wraps when asked to.
class TextLabel : public QLabel {
    Q_OBJECT
public:
    explicit TextLabel(const QString& text = {}, TextStyle style = TextStyle::Body,
                       Role role = Role::Text, QWidget* parent = nullptr);

    void setRole(Role role);
    Role role() const { return role_; }
    void setTextStyle(TextStyle style);

protected:
    void changeEvent(QEvent* event) override;

private:
    void applyTheme();

    TextStyle style_;
    Role role_;
};

/// One line that shortens with an ellipsis instead of asking for room; the tooltip has the whole.
class ElidedLabel : public QWidget {
    Q_OBJECT
public:
    explicit ElidedLabel(const QString& text = {}, TextStyle style = TextStyle::Body,
                         Role role = Role::Text, QWidget* parent = nullptr);

    QString text() const { return text_; }
    void setText(const QString& text);
    void setRole(Role role);
    void setElideMode(Qt::TextElideMode mode);
    void setAlignment(Qt::Alignment alignment);
    bool isElided() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QString text_;
    TextStyle style_;
    Role role_;
    Qt::TextElideMode mode_ = Qt::ElideRight;
    Qt::Alignment alignment_ = Qt::AlignLeft | Qt::AlignVCenter;
};

} // namespace weft::widgets
