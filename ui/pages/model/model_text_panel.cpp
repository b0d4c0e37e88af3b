// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/model/model_text_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QTextBlock>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kModelTextPanelSettleMs = 300;
constexpr int kModelTextPanelLeastHeight = 88;
const std::string kText = "/model/text";

using widgets::Role;
using widgets::TextStyle;

/// The text that counts: the document's own, else that of the file it names.
QString modelText(const FormSource& source) {
    const config::Json* own = source.given(kText);
    if (own != nullptr && own->is_string()) {
        return toQString(own->get<std::string>());
    }
    const Draft& draft = source.draft();
    if (!draft.isValid() || draft.isEmpty()) {
        return {};
    }
    const config::Json& model = draft.config().section("model");
    return model.value("type", "") == "graph" && model.at("text").is_string()
               ? toQString(model.at("text").get<std::string>())
               : QString();
}

} // namespace

bool hasModelText(const FormSource& source) {
    const config::Json* type = source.given("/model/type");
    return type != nullptr && *type == "graph";
}

ModelTextPanel::ModelTextPanel(FormSource& source, QWidget* parent)
    : Surface(Role::Surface, parent), source_(source) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Program text"));
    column->addWidget(header_);
    editor_ = new QPlainTextEdit;
    editor_->setObjectName("modelText");
    editor_->setAccessibleName(tr("Program text of the model"));
    editor_->setFrameShape(QFrame::NoFrame);
    editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
    editor_->setTabChangesFocus(true);
    editor_->setMinimumHeight(kModelTextPanelLeastHeight);
    editor_->setPlaceholderText(tr("program \"name\" {\n  in %0 batch \"inputs\"\n  …\n}"));
    editor_->document()->setDocumentMargin(widgets::space::kGroup);
    column->addWidget(editor_, 1);
    problem_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Error);
    problem_->setObjectName("modelTextProblem");
    problem_->setWordWrap(true);
    problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    foot_ = new QWidget;
    auto* row = new QHBoxLayout(foot_);
    row->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                            widgets::space::kGroup, widgets::space::kControl);
    row->setSpacing(widgets::space::kControl);
    row->addWidget(new widgets::IconLabel("error", Role::Error), 0, Qt::AlignTop);
    row->addWidget(problem_, 1);
    foot_->hide();
    column->addWidget(foot_);
    settle_.setSingleShot(true);
    settle_.setInterval(kModelTextPanelSettleMs);
    connect(&settle_, &QTimer::timeout, this, &ModelTextPanel::takeEdit);
    connect(editor_, &QPlainTextEdit::textChanged, this, [this] { settle_.start(); });
    connect(editor_, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        const QTextCursor cursor = editor_->textCursor();
        header_->setTrailing(tr("line %1, column %2")
                                 .arg(cursor.blockNumber() + 1)
                                 .arg(cursor.positionInBlock() + 1));
    });
    connect(&source_, &FormSource::changed, this, &ModelTextPanel::follow);
    applyTheme();
    follow();
}

// The text is replaced only when it differs: typing must not move the cursor.
void ModelTextPanel::follow() {
    const bool shown = hasModelText(source_);
    setVisible(shown);
    if (!shown) {
        return;
    }
    const QString text = modelText(source_);
    if (editor_->toPlainText() != text && !settle_.isActive()) {
        editor_->setPlainText(text);
        settle_.stop();
    }
    const config::Json* path = source_.given("/model/path");
    const bool own = source_.given(kText) != nullptr;
    header_->setSubtitle(path == nullptr || !path->is_string() ? QString()
                         : own ? tr("from %1, edited here").arg(toQString(path->get<std::string>()))
                               : tr("from %1").arg(toQString(path->get<std::string>())));
    mark();
}

void ModelTextPanel::takeEdit() {
    settle_.stop();
    if (hasModelText(source_) && editor_->toPlainText() != modelText(source_)) {
        source_.set(kText, editor_->toPlainText().toStdString(), "model text");
    }
}

void ModelTextPanel::setOutline(std::shared_ptr<const ModelOutline> outline) {
    outline_ = std::move(outline);
    mark();
}

QString ModelTextPanel::problem() const {
    for (const config::Diagnostic& one : source_.problems("/model", true)) {
        if (one.severity == config::Severity::error) {
            return toQString(one.message + (one.hint.empty() ? "" : ". " + one.hint));
        }
    }
    if (!outline_ || outline_->problem.isEmpty() || !source_.draft().isValid()) {
        return {};
    }
    return toQString(outline_->problem_path) + ": " + outline_->problem; // the path says the line
}

void ModelTextPanel::mark() {
    const QString words = problem();
    problem_->setText(words);
    foot_->setVisible(!words.isEmpty());
    QList<QTextEdit::ExtraSelection> marks;
    if (const auto place = ir::read_place(words.toStdString())) {
        QTextEdit::ExtraSelection line;
        line.cursor = QTextCursor(editor_->document()->findBlockByNumber(place->line - 1));
        line.format.setProperty(QTextFormat::FullWidthSelection, true);
        line.format.setBackground(widgets::Theme::current().color(Role::ErrorTint));
        marks << line << underlined(*place);
    }
    editor_->setExtraSelections(marks);
}

// Not by colour alone: a wave from the place to the end of its line, or below all of the line.
QTextEdit::ExtraSelection ModelTextPanel::underlined(const ir::TextPlace& place) const {
    QTextEdit::ExtraSelection wave;
    const QTextBlock block = editor_->document()->findBlockByNumber(place.line - 1);
    wave.cursor = QTextCursor(block);
    const QString text = block.text();
    const auto begins = [&](qsizetype at) { return at < text.size() && !text[at].isSpace(); };
    qsizetype from = std::max(0, place.column - 1);
    if (!begins(from)) {
        from = 0;
        while (from < text.size() && !begins(from)) {
            ++from;
        }
    }
    wave.cursor.setPosition(block.position() + static_cast<int>(std::min(from, text.size())));
    wave.cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    wave.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    wave.format.setUnderlineColor(widgets::Theme::current().color(Role::Error));
    return wave;
}

void ModelTextPanel::showProblem() {
    QTextCursor cursor(editor_->document());
    if (const auto place = ir::read_place(problem().toStdString())) {
        const QTextBlock block = editor_->document()->findBlockByNumber(place->line - 1);
        if (block.isValid()) {
            cursor.setPosition(block.position() + std::min(place->column, block.length()) - 1);
        }
    }
    editor_->setTextCursor(cursor);
    editor_->centerCursor();
    editor_->setFocus();
}

void ModelTextPanel::changeEvent(QEvent* event) {
    Surface::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        applyTheme();
        mark();
    }
}

void ModelTextPanel::applyTheme() {
    widgets::setTextStyle(editor_, TextStyle::Mono);
}

} // namespace weft::ui
