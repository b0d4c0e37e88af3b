// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/try_text.h"

#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kPromptHeight = 64;
constexpr int kOutputHeight = 160;

void add(QGridLayout& grid, int place, const QString& name, QWidget* field,
         const QString& object_name, const QString& tip) {
    auto* label = new widgets::TextLabel(name, widgets::TextStyle::Caption, widgets::Role::Muted);
    label->setBuddy(field);
    field->setObjectName(object_name);
    field->setAccessibleName(name);
    field->setToolTip(tip);
    widgets::setCompact(field);
    grid.addWidget(label, place / 2, place % 2 * 2);
    grid.addWidget(field, place / 2, place % 2 * 2 + 1);
}

} // namespace

TryText::TryText(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    prompt_ = new QPlainTextEdit;
    prompt_->setObjectName("tryPrompt");
    prompt_->setAccessibleName(tr("Prompt"));
    prompt_->setPlaceholderText(tr("Text to go on from"));
    prompt_->setFixedHeight(kPromptHeight);
    prompt_->setTabChangesFocus(true);
    column->addWidget(prompt_);
    const train::GenerateOptions usual;
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    grid->setColumnStretch(3, 1);
    temperature_ = new QDoubleSpinBox;
    temperature_->setRange(0, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setValue(usual.temperature);
    add(*grid, 0, tr("Temperature"), temperature_, "tryTemperature",
        tr("0: always the most probable token"));
    top_k_ = new QSpinBox;
    top_k_->setRange(0, 1000000);
    top_k_->setSpecialValueText(tr("all"));
    top_k_->setValue(static_cast<int>(usual.top_k));
    add(*grid, 1, tr("Top k"), top_k_, "tryTopK", tr("Choose among the k most probable; 0: all"));
    tokens_ = new QSpinBox;
    tokens_->setRange(1, 100000);
    tokens_->setValue(static_cast<int>(usual.tokens));
    add(*grid, 2, tr("Tokens"), tokens_, "tryTokens", tr("How many are written"));
    seed_ = new QSpinBox;
    seed_->setRange(0, 1000000);
    seed_->setValue(static_cast<int>(usual.seed));
    add(*grid, 3, tr("Seed"), seed_, "trySeed", tr("Another seed, another text"));
    column->addLayout(grid);
    button_ = new QPushButton;
    button_->setObjectName("tryGenerate");
    column->addWidget(button_);
    output_ = new QPlainTextEdit;
    output_->setObjectName("tryOutput");
    output_->setAccessibleName(tr("What the model writes"));
    output_->setReadOnly(true);
    output_->setMinimumHeight(kOutputHeight);
    output_->setMaximumBlockCount(10000);
    widgets::setTextStyle(output_, widgets::TextStyle::Mono);
    column->addWidget(output_, 1);
    connect(button_, &QPushButton::clicked, this,
            [this] { writing_ ? emit stopped() : emit wanted(); });
    connect(prompt_, &QPlainTextEdit::textChanged, this, &TryText::changed);
    updateButton();
}

QByteArray TryText::prompt() const {
    return prompt_->toPlainText().toUtf8();
}

QByteArray TryText::whole() const {
    const QString written = output_->toPlainText();
    const QString prompt = prompt_->toPlainText();
    return (written.startsWith(prompt) ? written : prompt).toUtf8();
}

train::GenerateOptions TryText::options() const {
    train::GenerateOptions options;
    options.tokens = tokens_->value();
    options.temperature = temperature_->value();
    options.top_k = top_k_->value();
    options.seed = static_cast<std::uint64_t>(seed_->value());
    return options;
}

void TryText::begin() {
    writing_ = true;
    decoder_.resetState();
    output_->setPlainText(prompt_->toPlainText());
    updateButton();
}

// At the end of what is there, whatever the reader has selected meanwhile.
void TryText::append(const QByteArray& bytes) {
    const QString text = decoder_.decode(bytes);
    if (text.isEmpty()) {
        return; // a character that has not come as a whole
    }
    QScrollBar* bar = output_->verticalScrollBar();
    const bool at_end = bar->value() == bar->maximum();
    QTextCursor end(output_->document());
    end.movePosition(QTextCursor::End);
    end.insertText(text);
    if (at_end) {
        bar->setValue(bar->maximum());
    }
}

void TryText::end() {
    writing_ = false;
    updateButton();
    emit changed();
}

void TryText::setBlocked(const QString& reason) {
    blocked_ = reason;
    updateButton();
}

void TryText::updateButton() {
    button_->setText(writing_ ? tr("Stop") : tr("Generate"));
    button_->setEnabled(writing_ || blocked_.isEmpty());
    button_->setToolTip(writing_ ? QString() : blocked_);
}

} // namespace weft::ui
