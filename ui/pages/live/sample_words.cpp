// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_words.h"

#include "ui/bridge/convert.h"
#include "ui/pages/table.h"
#include "widgets/look/style.h"

#include <QEvent>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTextEdit>

#include <algorithm>
#include <map>
#include <utility>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kSampleWordsFixedColumns = 2; // the sample and what the data says
constexpr int kSampleWordsLeastName = 48;   // pixels at text size 1

QTextCharFormat format_of(TextStyle style, Role role) {
    const widgets::Theme& theme = widgets::Theme::current();
    QTextCharFormat format;
    format.setFont(theme.font(style));
    format.setForeground(theme.color(role));
    return format;
}

/// Line breaks as signs: each text is one paragraph.
QString inOneLine(QString text) {
    return text.replace(QLatin1Char('\n'), QStringLiteral("↵"))
        .replace(QLatin1Char('\t'), QStringLiteral("⇥"));
}

} // namespace

SampleWords::SampleWords(QWidget* parent) : QStackedWidget(parent) {
    texts_ = new QTextEdit;
    texts_->setObjectName("sampleTexts");
    texts_->setAccessibleName(tr("What the model writes after texts of the validation data"));
    texts_->setReadOnly(true);
    texts_->setTabChangesFocus(true);
    texts_->setFrameShape(QFrame::NoFrame);
    texts_->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    texts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    texts_->setUndoRedoEnabled(false);
    addWidget(texts_);
    model_ = new QStandardItemModel(this);
    table_ = createTable(model_, "sampleTable", tr("Samples and what the model says of them"));
    addWidget(table_);
}

void SampleWords::setSaid(std::vector<Said> said, const SampleSet& samples) {
    said_ = std::move(said);
    samples_ = samples;
    if (said_.empty()) {
        return;
    }
    const bool texts = !said_.front().file.texts.empty();
    setCurrentIndex(texts ? 0 : 1);
    texts ? showTexts() : showTable();
}

void SampleWords::changeEvent(QEvent* event) {
    QStackedWidget::changeEvent(event);
    if ((event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) &&
        !said_.empty()) {
        setSaid(std::move(said_), samples_); // colours and fonts are in the texts
    }
}

// The place that is read stays while another step is looked at.
void SampleWords::showTexts() {
    const int place = texts_->verticalScrollBar()->value();
    texts_->clear();
    QTextCursor end(texts_->document());
    const auto paragraph = [&end](const QString& caption, double above) {
        QTextBlockFormat block;
        block.setTopMargin(above);
        end.atStart() ? end.setBlockFormat(block) : end.insertBlock(block);
        end.insertText(caption, format_of(TextStyle::Caption, Role::Muted));
        end.insertBlock(QTextBlockFormat());
    };
    const std::vector<SaidText>& first = said_.front().file.texts;
    for (std::size_t i = 0; i < first.size(); ++i) {
        paragraph(tr("sample %1").arg(formatCount(first[i].index)),
                  i == 0 ? 0 : widgets::space::kGroup);
        end.insertText(inOneLine(first[i].prompt), format_of(TextStyle::Mono, Role::Muted));
        for (const Said& one : said_) {
            paragraph(tr("step %1").arg(formatCount(one.step)), widgets::space::kTight);
            const bool there = i < one.file.texts.size();
            end.insertText(there ? inOneLine(one.file.texts[i].text)
                                 : tr("not written: its time was over"),
                           format_of(there ? TextStyle::Mono : TextStyle::Caption,
                                     there ? Role::Text : Role::Muted));
            if (there && one.file.texts[i].cut) {
                end.insertText(tr(" … its time was over"),
                               format_of(TextStyle::Caption, Role::Muted));
            }
        }
        paragraph(tr("in the data"), widgets::space::kTight);
        end.insertText(inOneLine(first[i].truth), format_of(TextStyle::Mono, Role::Muted));
    }
    texts_->moveCursor(QTextCursor::Start); // went along with the texts, and is kept in view
    texts_->verticalScrollBar()->setValue(place);
}

QString SampleWords::rowName(std::size_t row) const {
    const SampleFile& file = said_.front().file;
    if (file.numbers.empty()) {
        return tr("#%1").arg(file.classes[row].index);
    }
    const SaidNumber& number = file.numbers[row];
    return hasOneName() || number.name.isEmpty()
               ? tr("#%1").arg(number.index)
               : tr("#%1 %2").arg(QString::number(number.index), number.name);
}

bool SampleWords::hasOneName() const {
    const std::vector<SaidNumber>& numbers = said_.front().file.numbers;
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](const SaidNumber& one) { return one.name == numbers.front().name; });
}

QString SampleWords::trueTitle() const {
    const QString& name = said_.front().file.numbers.front().name;
    return hasOneName() && !name.isEmpty() ? tr("true %1").arg(name) : tr("true value");
}

QString SampleWords::wanted(std::size_t row) const {
    const SampleFile& file = said_.front().file;
    return file.numbers.empty() ? samples_.className(file.classes[row].label)
                                : styles_[row].text(file.numbers[row].target);
}

// What is compared is written alike, as what the data have needs it; numbers of other names may be
// of another size.
void SampleWords::chooseStyles() {
    std::map<QString, std::vector<double>> wanted;
    const std::vector<SaidNumber>& numbers = said_.front().file.numbers;
    for (const SaidNumber& one : numbers) {
        wanted[one.name].push_back(one.target);
    }
    std::map<QString, widgets::NumberStyle> styles;
    for (auto& [name, values] : wanted) {
        styles.emplace(name, widgets::NumberStyle(std::move(values)));
    }
    styles_.clear();
    for (const SaidNumber& one : numbers) {
        styles_.push_back(styles.at(one.name));
    }
}

QString SampleWords::errorOf(const Said& one, std::size_t row) const {
    if (row >= one.file.numbers.size()) {
        return {};
    }
    const SaidNumber& said = one.file.numbers[row];
    const double error = said.prediction - said.target;
    return (error > 0 ? QStringLiteral("+") : QString()) + styles_[row].text(error);
}

QString SampleWords::said(const Said& one, std::size_t row) const {
    if (row < one.file.numbers.size()) {
        return styles_[row].text(one.file.numbers[row].prediction);
    }
    if (row < one.file.classes.size()) {
        const SaidClass& found = one.file.classes[row];
        return tr("%1 %2").arg(samples_.className(found.predicted),
                               QString::number(found.probability, 'f', 2));
    }
    return {};
}

void SampleWords::showTable() {
    const SampleFile& first = said_.front().file;
    const std::size_t rows = std::max(first.numbers.size(), first.classes.size());
    const int place = table_->verticalScrollBar()->value();
    const bool numbers = !first.numbers.empty();
    chooseStyles();
    QStringList titles{tr("sample"), numbers ? trueTitle() : tr("in the data")};
    QStringList errors; // last: where there is no room for all, the steps are compared
    for (const Said& one : said_) {
        titles << tr("step %1").arg(formatCount(one.step));
        errors << (said_.size() == 1 ? tr("error") : tr("error, %1").arg(titles.back()));
    }
    titles << (numbers ? errors : QStringList());
    model_->clear();
    model_->setHorizontalHeaderLabels(titles);
    const QFont mono = widgets::Theme::current().font(TextStyle::Mono);
    for (std::size_t row = 0; row < rows; ++row) {
        QStringList texts{rowName(row), wanted(row)};
        for (const Said& one : said_) {
            texts << said(one, row);
        }
        for (std::size_t i = 0; numbers && i < said_.size(); ++i) {
            texts << errorOf(said_[i], row);
        }
        QList<QStandardItem*> items;
        for (const QString& text : texts) {
            auto* item = new QStandardItem(text);
            item->setEditable(false);
            item->setFont(mono);
            item->setToolTip(text);
            item->setTextAlignment(Qt::AlignVCenter |
                                   (items.isEmpty() ? Qt::AlignLeft : Qt::AlignRight));
            items << item;
        }
        if (row < first.classes.size() &&
            first.classes[row].predicted != first.classes[row].label) {
            items[kSampleWordsFixedColumns]->setForeground(
                widgets::Theme::current().color(Role::Error));
        }
        model_->appendRow(items);
    }
    for (int column = 0; column < model_->columnCount(); ++column) {
        model_->horizontalHeaderItem(column)->setTextAlignment(
            Qt::AlignVCenter | (column == 0 ? Qt::AlignLeft : Qt::AlignRight));
    }
    fitColumns(table_, 0, EmptyColumns::Keep, kSampleWordsLeastName);
    table_->verticalScrollBar()->setValue(place);
}

} // namespace weft::ui
