// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/config_dialog.h"

#include "core/config/locate.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/place_text.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QTextBlock>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

constexpr int kConfigDialogSettleMs = 300;
constexpr int kPointerRole = Qt::UserRole;
constexpr QSize kConfigDialogSize{820, 680};
constexpr int kProblemRows = 7; // shown at most; more scroll

using widgets::Role;
using widgets::TextStyle;

/// Bytes of UTF-8 into characters of a QString.
int characters(const std::string& text, std::size_t bytes) {
    return static_cast<int>(
        QString::fromUtf8(text.data(), static_cast<qsizetype>(std::min(bytes, text.size())))
            .size());
}

} // namespace

ConfigDialog::ConfigDialog(Draft& draft, QWidget* parent) : QDialog(parent), draft_(draft) {
    setObjectName("configDialog");
    setWindowTitle(tr("Configuration"));
    resize(kConfigDialogSize.boundedTo(screen()->availableSize() * 0.9));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHead());
    column->addWidget(new widgets::Hairline);
    editor_ = new QPlainTextEdit;
    editor_->setObjectName("configText");
    editor_->setAccessibleName(tr("Text of the configuration"));
    editor_->setFrameShape(QFrame::NoFrame);
    editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
    editor_->setTabChangesFocus(true);
    editor_->document()->setDocumentMargin(widgets::space::kGroup);
    column->addWidget(editor_, 1);
    column->addWidget(new widgets::Hairline);
    problems_ = new QListWidget;
    problems_->setObjectName("configProblems");
    problems_->setAccessibleName(tr("Problems of the configuration"));
    problems_->setFrameShape(QFrame::NoFrame);
    problems_->setWordWrap(true);
    problems_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(problems_);
    column->addWidget(createFoot());

    settle_.setSingleShot(true);
    settle_.setInterval(kConfigDialogSettleMs);
    connect(&settle_, &QTimer::timeout, this, &ConfigDialog::takeEdit);
    connect(editor_, &QPlainTextEdit::textChanged, this, [this] { settle_.start(); });
    editor_->installEventFilter(this);
    connect(editor_, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        const QTextCursor cursor = editor_->textCursor();
        position_->setText(tr("line %1, column %2")
                               .arg(cursor.blockNumber() + 1)
                               .arg(cursor.positionInBlock() + 1));
    });
    const auto go = [this](QListWidgetItem* item) {
        selectField(item->data(kPointerRole).toString());
    };
    connect(problems_, &QListWidget::itemClicked, this, go);
    connect(problems_, &QListWidget::itemActivated, this, go);
    connect(&draft_, &Draft::changed, this, &ConfigDialog::followDraft);
    applyTheme();
    followDraft();
}

QWidget* ConfigDialog::createHead() {
    auto* head = new widgets::Surface;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(widgets::space::kMargin, 8, widgets::space::kMargin, 8);
    row->setSpacing(widgets::space::kGroup);
    file_ = new widgets::ElidedLabel({}, TextStyle::Strong);
    file_->setElideMode(Qt::ElideMiddle);
    row->addWidget(file_, 1);
    position_ = new widgets::TextLabel({}, TextStyle::MonoSmall, Role::Muted);
    row->addWidget(position_);
    return head;
}

QWidget* ConfigDialog::createFoot() {
    auto* foot = new widgets::Surface;
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(widgets::space::kMargin, 10, widgets::space::kMargin, 10);
    row->setSpacing(widgets::space::kControl);
    verdict_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    row->addWidget(verdict_, 1);
    auto* save = new QPushButton(tr("Save as…"));
    save->setObjectName("saveConfig");
    save->setAutoDefault(false);
    connect(save, &QPushButton::clicked, this, [this] {
        takeEdit();
        emit saveAsRequested();
    });
    row->addWidget(save);
    auto* close_button = new QPushButton(tr("Close"));
    close_button->setAutoDefault(false);
    connect(close_button, &QPushButton::clicked, this, &QDialog::close);
    row->addWidget(close_button);
    return foot;
}

void ConfigDialog::showField(const QString& pointer) {
    show();
    raise();
    activateWindow();
    editor_->setFocus();
    selectField(pointer);
}

// The text is replaced only when it differs: typing must not move the cursor. What is being typed
// is the newest edit of a document, whoever else changed it meanwhile; their change is a step of
// undo.
void ConfigDialog::followDraft() {
    const bool same_text = std::exchange(followed_, draft_.text()) == draft_.text();
    const bool same_document = std::exchange(followed_path_, draft_.path()) == draft_.path();
    if (settle_.isActive() && same_text) {
        return; // looked at again
    }
    if (settle_.isActive() && same_document) {
        takeEdit();
        return;
    }
    const QString text = toQString(draft_.text());
    if (editor_->toPlainText() != text) {
        editor_->setPlainText(text);
        settle_.stop();
    }
    file_->setText(draft_.path().empty()
                       ? tr("Draft %1").arg(draft_.name())
                       : tr("Draft %1, from %2").arg(draft_.name(), pathText(draft_.path())));
    markProblems();
}

void ConfigDialog::takeTyping() {
    if (settle_.isActive()) {
        takeEdit();
    }
}

bool ConfigDialog::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::FocusOut) {
        takeTyping();
    }
    return QDialog::eventFilter(watched, event);
}

void ConfigDialog::takeEdit() {
    settle_.stop();
    draft_.setText(editor_->toPlainText().toStdString());
}

void ConfigDialog::markProblems() {
    const widgets::Theme& theme = widgets::Theme::current();
    QList<QTextEdit::ExtraSelection> marks;
    problems_->clear();
    for (const config::Diagnostic& found : draft_.diagnostics()) {
        const bool error = found.severity == config::Severity::error;
        const config::Location place = config::locate(draft_.text(), found.pointer);
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(editor_->document());
        mark.cursor.setPosition(characters(draft_.text(), place.begin));
        mark.cursor.setPosition(characters(draft_.text(), place.end), QTextCursor::KeepAnchor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(theme.color(error ? Role::Error : Role::Warning));
        mark.format.setBackground(theme.color(error ? Role::ErrorTint : Role::WarningTint));
        marks << mark;
        const QString where = found.pointer.empty() ? QString() : placeText(found.pointer) + "  ";
        auto* item = new QListWidgetItem(
            widgets::icon(error ? "error" : "warning", error ? Role::Error : Role::Warning),
            tr("line %1  %2%3. %4")
                .arg(place.line)
                .arg(where, toQString(found.message), toQString(found.hint)));
        item->setData(kPointerRole, toQString(found.pointer));
        problems_->addItem(item);
    }
    editor_->setExtraSelections(marks);
    const int rows = std::min(problems_->count(), kProblemRows);
    problems_->setVisible(rows > 0);
    problems_->setFixedHeight(rows * problems_->sizeHintForRow(0) + 2 * widgets::space::kTight);
    verdict_->setText(draft_.isValid()
                          ? tr("No problems. Changes are the draft at once; F5 starts it.")
                          : tr("%n problem(s) to solve before it can start", nullptr,
                               static_cast<int>(draft_.diagnostics().size())));
    verdict_->setRole(draft_.isValid() ? Role::Muted : Role::Error);
}

void ConfigDialog::selectField(const QString& pointer) {
    const config::Location place = config::locate(draft_.text(), pointer.toStdString());
    QTextCursor cursor = editor_->textCursor();
    cursor.setPosition(characters(draft_.text(), place.begin));
    cursor.setPosition(characters(draft_.text(), place.end), QTextCursor::KeepAnchor);
    editor_->setTextCursor(cursor);
    editor_->centerCursor();
    editor_->setFocus();
}

void ConfigDialog::changeEvent(QEvent* event) {
    QDialog::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        applyTheme();
        markProblems();
    }
}

void ConfigDialog::applyTheme() {
    const QFont mono = widgets::Theme::current().font(TextStyle::Mono);
    widgets::setTextStyle(editor_, TextStyle::Mono);
    editor_->setTabStopDistance(QFontMetricsF(mono).horizontalAdvance(' ') * 2);
}

void ConfigDialog::closeEvent(QCloseEvent* event) {
    takeEdit();
    QDialog::closeEvent(event);
}

} // namespace weft::ui
