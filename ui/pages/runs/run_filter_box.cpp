// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/run_filter_box.h"

#include "core/train/record/run_filter.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_index.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QStringListModel>

namespace weft::ui {
namespace {

constexpr int kMostWordsShown = 12;

QString filter_help() {
    return RunFilterBox::tr(
        "<p>Words match names, folders and tags; all terms must hold.</p>"
        "<p><tt>best &lt; 0.3</tt>, <tt>loss</tt>, <tt>step &gt; 1k</tt>, <tt>time &gt; 2h</tt>, "
        "<tt>size &lt; 1GB</tt>, <tt>parameters</tt>, any metric "
        "(<tt>accuracy &gt; 0.9</tt>) or setting (<tt>learning_rate &lt; 1e-3</tt>); the last part "
        "of a name will do</p>"
        "<p><tt>state:failed</tt>, <tt>tag:x</tt>, <tt>model:gpt2</tt>, <tt>data:</tt>, "
        "<tt>parent:</tt>, <tt>notes:</tt>, <tt>optimizer.type:adamw</tt></p>"
        "<p><tt>-word</tt>: not. <tt>\"two words\"</tt>. <tt>is:archived</tt>: archived ones "
        "too.</p><p>↓: what can stand here.</p>");
}

train::FilterCompletion completion_at(const QLineEdit& box, const RunIndex& index) {
    return train::complete_filter(
        box.text().toStdString(),
        static_cast<std::size_t>(box.text().left(box.cursorPosition()).toUtf8().size()),
        index.names());
}

} // namespace

RunFilterBox::RunFilterBox(const RunIndex& index, QWidget* parent)
    : QLineEdit(parent), index_(index), words_(new QStringListModel(this)),
      completer_(new QCompleter(words_, this)) {
    setObjectName("runFilter");
    setPlaceholderText(tr("words, loss < 1"));
    setAccessibleName(tr("Filter runs"));
    setToolTip(filter_help());
    setClearButtonEnabled(true);
    completer_->setWidget(this); // not of the whole text, which the box's own would be
    completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
    completer_->setMaxVisibleItems(kMostWordsShown);
    completer_->popup()->setObjectName("runFilterPopup");
    connect(this, &QLineEdit::textEdited, this, [this] { offer(Asked::ByTyping); });
    connect(completer_, qOverload<const QString&>(&QCompleter::activated), this,
            &RunFilterBox::take);
}

void RunFilterBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Down && !completer_->popup()->isVisible()) {
        offer(Asked::ByKey);
        return;
    }
    QLineEdit::keyPressEvent(event);
}

void RunFilterBox::offer(Asked asked) {
    const train::FilterCompletion found = completion_at(*this, index_);
    QStringList words;
    for (const std::string& word : found.words) {
        words << toQString(word);
    }
    const QString written =
        toQString(text().toUtf8().toStdString().substr(found.begin, found.end - found.begin));
    const bool nothing_begun = written.isEmpty() && asked == Asked::ByTyping;
    if (words.isEmpty() || nothing_begun || words == QStringList(written)) {
        completer_->popup()->hide();
        return;
    }
    words_->setStringList(words);
    completer_->complete();
    completer_->popup()->setCurrentIndex({}); // Return takes what was chosen, else what is written
}

// In the place of what is begun; behind the colon of a name its texts follow.
void RunFilterBox::take(const QString& word) {
    const train::FilterCompletion found = completion_at(*this, index_);
    const std::string written = text().toStdString();
    const QString before = toQString(written.substr(0, found.begin)) + word;
    setText(before + toQString(written.substr(found.end)));
    setCursorPosition(static_cast<int>(before.size()));
    if (word.endsWith(':')) {
        offer(Asked::ByKey);
    }
}

} // namespace weft::ui
