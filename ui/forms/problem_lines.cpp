// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/problem_lines.h"

#include "ui/bridge/draft/place_text.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kProblemLinesPatienceMs = 700;
constexpr int kIcon = 14;

/// Follows the theme: a pixmap would keep the colours of its day.
class IconMark : public QWidget {
public:
    explicit IconMark(bool error) : error_(error) { setFixedSize(kIcon, kIcon + 2); }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        widgets::paintIcon(painter, QRectF(0, 1, kIcon, kIcon), error_ ? "error" : "warning",
                           widgets::Theme::current().color(error_ ? widgets::Role::Error
                                                                  : widgets::Role::Warning));
    }

private:
    bool error_;
};

} // namespace

ProblemLines::ProblemLines(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(2);
    waiting_.setSingleShot(true);
    waiting_.setInterval(kProblemLinesPatienceMs);
    connect(&waiting_, &QTimer::timeout, this, &ProblemLines::show);
    setVisible(false);
}

void ProblemLines::setLines(const std::vector<ProblemLine>& lines) {
    wanted_ = lines;
    if (lines.empty() || !waiting_.isActive()) {
        show();
    }
}

void ProblemLines::hold() {
    waiting_.start();
}

void ProblemLines::release() {
    waiting_.stop();
    show();
}

void ProblemLines::show() {
    if (shown_ == wanted_) {
        return;
    }
    shown_ = wanted_;
    widgets::clearLayout(*column_);
    for (const ProblemLine& line : shown_) {
        auto* whole = new QWidget;
        auto* row = new QHBoxLayout(whole);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(widgets::space::kTight + 2);
        row->addWidget(new IconMark(line.error), 0, Qt::AlignTop);
        auto* text =
            new widgets::TextLabel(line.text, widgets::TextStyle::Caption,
                                   line.error ? widgets::Role::Error : widgets::Role::Warning);
        text->setObjectName("fieldProblem");
        text->setWordWrap(true);
        text->setAccessibleName((line.error ? tr("Error: %1") : tr("Warning: %1")).arg(line.text));
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        row->addWidget(text, 1);
        if (!line.pointer.isEmpty()) {
            auto* remove = new QPushButton(tr("Remove"));
            remove->setObjectName("remove:" + line.pointer);
            remove->setAccessibleName(tr("Remove %1").arg(placeText(line.pointer.toStdString())));
            widgets::setCompact(remove);
            connect(remove, &QPushButton::clicked, this,
                    [this, pointer = line.pointer] { emit removeRequested(pointer); });
            row->addWidget(remove, 0, Qt::AlignTop);
        }
        column_->addWidget(whole);
    }
    setVisible(!shown_.empty());
}

} // namespace weft::ui
