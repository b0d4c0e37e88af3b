// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/log_recipe_dialog.h"

#include "core/train/logging/log_recipe.h"
#include "ui/bridge/convert.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kRecipeWidth = 560;

} // namespace

LogRecipeDialog::LogRecipeDialog(QWidget* parent) : QDialog(parent) {
    setObjectName("logRecipeDialog");
    setWindowTitle(tr("Log from a loop of your own"));
    auto* column = new QVBoxLayout(this);
    column->setSpacing(widgets::space::kControl);
    auto* words = new TextLabel(
        tr("Add two lines to your training loop, start it, then open the folder “logs” here. The "
           "curves grow while it trains."));
    words->setWordWrap(true);
    column->addWidget(words);
    auto* programs = new widgets::SegmentedControl;
    programs->setObjectName("recipeProgram");
    programs->setAccessibleName(tr("Program"));
    auto* pages = new QStackedWidget;
    for (int i = 0; i < static_cast<int>(train::log_recipes().size()); ++i) {
        programs->addSegment(toQString(train::log_recipes()[static_cast<std::size_t>(i)].program));
        pages->addWidget(createRecipe(i));
    }
    programs->setCurrentIndex(0);
    connect(programs, &widgets::SegmentedControl::currentIndexChanged, pages,
            &QStackedWidget::setCurrentIndex);
    column->addWidget(programs, 0, Qt::AlignLeft);
    column->addWidget(pages, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    auto* open = buttons->addButton(tr("Open folder…"), QDialogButtonBox::ActionRole);
    open->setObjectName("openLogFolder");
    connect(open, &QPushButton::clicked, this, [this] {
        accept();
        emit openRequested();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    resize(static_cast<int>(kRecipeWidth * widgets::Theme::current().fontScale()), height());
}

QWidget* LogRecipeDialog::createRecipe(int index) {
    const train::LogRecipe& recipe = train::log_recipes()[static_cast<std::size_t>(index)];
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    const QString lines = toQString(recipe.once) + "\n\n" + toQString(recipe.each);
    auto* text = new QPlainTextEdit(lines);
    text->setObjectName(QString("recipeText%1").arg(index));
    text->setAccessibleName(tr("Lines for %1").arg(toQString(recipe.program)));
    text->setReadOnly(true);
    text->setTabChangesFocus(true);
    text->setFont(widgets::Theme::current().font(TextStyle::Mono));
    text->setFixedHeight(6 * text->fontMetrics().lineSpacing());
    column->addWidget(text);
    auto* foot = new QHBoxLayout;
    auto* needs = new TextLabel(
        tr("The first line once, the second at each step. %1").arg(toQString(recipe.needs)),
        TextStyle::Caption, Role::Muted);
    needs->setWordWrap(true);
    foot->addWidget(needs, 1);
    auto* copy = new QPushButton(tr("Copy"));
    copy->setObjectName(QString("copyRecipe%1").arg(index));
    connect(copy, &QPushButton::clicked, this, [copy, lines] {
        QApplication::clipboard()->setText(lines + "\n");
        copy->setText(tr("Copied"));
    });
    foot->addWidget(copy, 0, Qt::AlignTop);
    column->addLayout(foot);
    column->addStretch(1);
    return page;
}

} // namespace weft::ui
