// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of tokens as text, on as many lines as it takes: letters one behind the other, longer tokens
// in boxes, so that their bounds are seen. One run below the other, each with a caption. A run may
// be parted in stretches that say what they are.
#pragma once

#include "widgets/views/painted_view.h"

#include <vector>

namespace weft::widgets {

/// Tokens of one kind, on lines of their own behind a name.
struct TokenStretch {
    enum class Kind {
        Plain,
        Underlined,
        Muted,
    };
    int first = 0; // of its tokens; it ends where the next one begins
    QString name;
    Kind kind = Kind::Plain;
};

struct TokenRun {
    QString caption;      // "sample 12"
    QStringList tokens;   // as they are drawn; newlines and spaces already as signs
    QStringList tooltips; // one for each token; empty: the token itself
    std::vector<TokenStretch> stretches; // ascending, the first begins with 0; empty: one, unnamed
};

/// A byte as it is drawn: printable ASCII as itself, space and newline as signs, others as two hex
/// digits.
QString byteSign(int value);

class TokenView : public PaintedView {
    Q_OBJECT
public:
    explicit TokenView(QWidget* parent = nullptr);

    void setRuns(std::vector<TokenRun> runs);
    const std::vector<TokenRun>& runs() const { return runs_; }

    /// Items are runs: a screen reader reads a run as text, keys walk from one to the next.
    int itemCount() const override { return static_cast<int>(runs_.size()); }
    ViewItem item(int index) const override;
    /// The token of a run under a position, or -1.
    int tokenAt(int run, const QPointF& position) const;
    QSize sizeHint() const override { return {480, heightForWidth(480)}; }
    QSize minimumSizeHint() const override { return {160, 64}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// Places of all runs at a width; made again when the width or the font changes.
    struct Places {
        double width = -1;
        std::vector<QRectF> runs;
        std::vector<std::vector<QRectF>> tokens;
        double names = 0; // width of the column of names
        double height = 0;
    };
    const Places& placesFor(double width) const;

    std::vector<TokenRun> runs_;
    mutable Places places_;
};

} // namespace weft::widgets
