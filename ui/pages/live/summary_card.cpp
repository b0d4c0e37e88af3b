// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/summary_card.h"

#include "core/compile/config/metric_facts.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/number_style.h"
#include "widgets/look/style.h"

#include <QClipboard>
#include <QEvent>
#include <QGridLayout>
#include <QGuiApplication>
#include <QPainter>
#include <QPushButton>
#include <QResizeEvent>
#include <QSaveFile>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr double kSummaryCardMark = 4; // width of the bar at the left
constexpr int kSummaryCardLeft = 44;   // room for the bar and the sign
constexpr int kSummaryCardMargin = 5;
constexpr int kSummaryCardLines = 2;   // of metrics below each other
constexpr double kSummaryCardLargeText = 1.25;
constexpr int kSummaryCardColumns = 5; // name, up to three figures and a gap

/// "validation/accuracy" and "test/accuracy" stand in one line.
std::string measure_of(const std::string& metric) {
    return metric.substr(metric.find('/') + 1);
}

/// As far as the configuration says it, without looking at data.
bool takesPictures(const RunModel& run) {
    const config::Json& source = run.config().section("data").at("train");
    const auto type = source.value("type", std::string());
    const bool pictures =
        type == "idx" || type == "images" || source.value("kind", std::string()) == "images";
    return pictures && !compile::makes_samples(run.config()); // which makes them
}

} // namespace

SummaryCard::SummaryCard(RunModel& run, Actions& actions, QWidget* parent)
    : QWidget(parent), run_(run) {
    setAttribute(Qt::WA_NoMousePropagation); // what it lies over is not meant
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(kSummaryCardLeft, kSummaryCardMargin, widgets::space::kControl,
                               widgets::space::kTight);
    column->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kControl);
    title_ = new widgets::ElidedLabel({}, TextStyle::Strong);
    title_->setObjectName("summaryTitle");
    row->addWidget(title_, 1);
    column->addLayout(row);
    table_ = new QWidget; // over the whole width, which large text needs
    table_->setObjectName("summaryTable");
    new QGridLayout(table_);
    column->addWidget(table_);
    column->addStretch(1);
    const auto add = [&](const QString& text, const char* name, auto&& slot) {
        auto* button = new QPushButton(text);
        button->setObjectName(name);
        widgets::setCompact(button);
        connect(button, &QPushButton::clicked, this, std::forward<decltype(slot)>(slot));
        row->addWidget(button, 0, Qt::AlignTop);
        return button;
    };
    resume_ = add(tr("Resume"), "summaryResume", [this] { emit resumeRequested(); });
    resume_->setToolTip(tr("Goes on exactly where the run was stopped"));
    widgets::setButtonKind(resume_, widgets::ButtonKind::Primary);
    try_ = add({}, "summaryTry", [&actions] { actions.get(action::kTry)->trigger(); });
    const auto act = [&](const char* id, const char* name) {
        QAction* action = actions.get(id);
        QPushButton* button = add(action->text(), name, [action] { action->trigger(); });
        button->setToolTip(action->statusTip());
        return button;
    };
    longer_ = act(action::kExtend, "summaryLonger");
    act(action::kKeepConfig, "summaryKeep");
    copy_ =
        add(tr("Copy"), "summaryCopy", [this] { QGuiApplication::clipboard()->setText(text()); });
    save_ = add(tr("Save…"), "summarySave", [this] { saveAs(); });
    QPushButton* close = add({}, "summaryClose", [this] {
        closed_ = run_.folder();
        hide();
        emit closed();
    });
    close->setIcon(widgets::icon("close"));
    close->setToolTip(tr("Close"));
    close->setAccessibleName(tr("Close the summary"));
    widgets::setButtonKind(close, widgets::ButtonKind::Flat);
    hide();
}

bool SummaryCard::isTriable() const {
    return !run_.isForeign() && !run_.checkpoints().empty();
}

QString SummaryCard::headline() const {
    const auto& finished = run_.finished();
    QStringList parts;
    parts << tr("step %1").arg(formatCount(finished ? finished->steps : run_.step()));
    if (run_.lastStep().epoch > 0) {
        parts << tr("epoch %1").arg(run_.lastStep().epoch, 0, 'f', 2);
    }
    parts << tr("trained for %1")
                 .arg(formatDuration(finished ? finished->seconds : run_.secondsTrained()));
    return (finished                ? tr("%1 finished: %2")
            : run_.wasInterrupted() ? tr("%1 was interrupted: %2")
                                    : tr("%1 stopped: %2"))
        .arg(run_.name(), parts.join(" · "));
}

std::vector<SummaryCard::Row> SummaryCard::rows() const {
    std::vector<Row> rows;
    const auto fill = [&rows](const train::Metrics& metrics, std::optional<double> Row::*place) {
        for (const auto& [name, value] : metrics) {
            const std::string measure = measure_of(name);
            auto known = std::find_if(rows.begin(), rows.end(),
                                      [&](const Row& row) { return row.metric == measure; });
            known = known != rows.end() ? known : rows.insert(known, Row{measure, {}, {}, {}});
            (*known).*place = value;
        }
    };
    if (run_.finished()) {
        fill(run_.finished()->best, &Row::best);
        fill(run_.finished()->last, &Row::last);
        fill(run_.finished()->test, &Row::test);
        return rows;
    }
    const auto best = run_.bestMetric(checkpoint::goal_of(run_.config().document));
    for (const EvaluationPoint& point : run_.evaluations()) {
        if (best && point.step == best->step) {
            fill(point.metrics, &Row::best);
        }
    }
    if (!run_.evaluations().empty()) {
        fill(run_.evaluations().back().metrics, &Row::last);
    }
    return rows;
}

// Of one measure: they are compared.
std::array<QString, 3> SummaryCard::figuresOf(const Row& row) {
    const std::array values{row.best, row.last, row.test};
    std::vector<double> known;
    for (const std::optional<double>& value : values) {
        if (value) {
            known.push_back(*value);
        }
    }
    const widgets::NumberStyle style(std::move(known));
    std::array<QString, 3> texts;
    std::transform(values.begin(), values.end(), texts.begin(), [&](const auto& value) {
        return value ? style.text(*value) : QStringLiteral("–");
    });
    return texts;
}

bool SummaryCard::hasTest(const std::vector<Row>& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.test; });
}

void SummaryCard::showSummary() {
    const bool stopped = run_.state() == train::RunState::stopped && isTriable();
    if ((!run_.finished() && !stopped) || closed_ == run_.folder()) {
        hide();
        return;
    }
    resume_->setVisible(stopped);
    try_->setText(isTriable() && takesPictures(run_) ? tr("Try it on a picture") : tr("Try it"));
    try_->setVisible(isTriable());
    widgets::setButtonKind(try_,
                           stopped ? widgets::ButtonKind::Normal : widgets::ButtonKind::Primary);
    longer_->setVisible(!stopped && !run_.isForeign());
    copy_->setVisible(!stopped);
    save_->setVisible(!stopped);
    title_->setText(headline());
    fillTable();
    show();
}

// Two metrics stand below each other, beside each other where text is large: the card stays as low
// as the numbers that it lies over. More do where they have no room beside each other: on the whole
// width of the page, which the card has itself only once it is shown.
void SummaryCard::fillTable() {
    const auto count = static_cast<int>(rows().size());
    const bool large = widgets::Theme::current().fontScale() > kSummaryCardLargeText;
    const QMargins margins = layout()->contentsMargins();
    const int room = parentWidget()->width() - margins.left() - margins.right();
    for (int lines = large && count <= 2 ? 1 : kSummaryCardLines;; ++lines) {
        fillTable(lines);
        if (lines >= count || table_->sizeHint().width() <= room) {
            return;
        }
    }
}

void SummaryCard::fillTable(int lines) {
    qDeleteAll(table_->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    delete table_->layout();
    auto* grid = new QGridLayout(table_);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(widgets::space::kMargin);
    grid->setVerticalSpacing(0);
    const auto add = [&](int line, int place, const QString& words, TextStyle style, Role role) {
        auto* label = new TextLabel(words, style, role);
        grid->addWidget(label, line, place,
                        place % kSummaryCardColumns == 0 ? Qt::AlignLeft : Qt::AlignRight);
        label->show(); // at once: fillTable() measures
    };
    const std::vector<Row> all = rows();
    table_->setVisible(!all.empty());
    const std::string goal = checkpoint::goal_of(run_.config().document).metric;
    QStringList heads{tr("Metric"), tr("Best by %1").arg(metricWords(goal)), tr("Last")};
    const bool tested = hasTest(all);
    heads << (tested ? QStringList(tr("Test")) : QStringList());
    for (int i = 0; i < static_cast<int>(all.size()); ++i) {
        const Row& row = all[static_cast<std::size_t>(i)];
        const int first = i / lines * kSummaryCardColumns;
        const int line = i % lines + 1;
        for (int head = 0; line == 1 && head < heads.size(); ++head) {
            add(0, first + head, heads[head], TextStyle::Caption, Role::Muted);
        }
        add(line, first, metricWords(row.metric), TextStyle::Caption, Role::Text);
        const std::array<QString, 3> figures = figuresOf(row);
        for (int figure = 0; figure + 1 < heads.size(); ++figure) {
            add(line, first + 1 + figure, figures[static_cast<std::size_t>(figure)],
                TextStyle::MonoSmall, Role::Text);
        }
        grid->setColumnMinimumWidth(first + 4, widgets::space::kMargin);
    }
    grid->setColumnStretch(grid->columnCount(), 1);
}

QString SummaryCard::text() const {
    QString out = headline() + '\n';
    const std::vector<Row> all = rows();
    const bool tested = hasTest(all);
    for (const Row& row : all) {
        const std::array<QString, 3> figures = figuresOf(row);
        out +=
            (tested
                 ? tr("%1: best %2, last %3, test %4")
                       .arg(toQString(row.metric), figures[0], figures[1], figures[2])
                 : tr("%1: best %2, last %3").arg(toQString(row.metric), figures[0], figures[1])) +
            '\n';
    }
    return out + tr("Folder: %1").arg(pathText(run_.folder())) + '\n';
}

config::Json SummaryCard::json() const {
    const auto object = [](const train::Metrics& metrics) {
        config::Json out = config::Json::object();
        for (const auto& [name, value] : metrics) {
            out[name] = value;
        }
        return out;
    };
    return {{"run", run_.folder().string()},         {"steps", run_.finished()->steps},
            {"epochs", run_.lastStep().epoch},       {"seconds", run_.finished()->seconds},
            {"best", object(run_.finished()->best)}, {"last", object(run_.finished()->last)},
            {"test", object(run_.finished()->test)}};
}

bool SummaryCard::save(const QString& path) const {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Text)) {
        return false;
    }
    file.write(path.endsWith(".json") ? QByteArray::fromStdString(json().dump(2) + "\n")
                                      : text().toUtf8());
    return file.commit();
}

void SummaryCard::saveAs() {
    const QString path =
        askForPlace(this, {tr("Save the summary"), FileUse::Export,
                           tr("Text (*.txt);;JSON (*.json)"), run_.name() + "-summary.txt"});
    if (!path.isEmpty() && !save(path)) {
        emit failed(tr("%1 could not be written. Choose another folder.").arg(path));
    }
}

void SummaryCard::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange && !isHidden()) {
        fillTable();
    }
}

void SummaryCard::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width() && !isHidden()) {
        fillTable();
    }
}

void SummaryCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const widgets::Theme& theme = widgets::Theme::current();
    const bool finished = run_.finished().has_value();
    const Role sign = finished ? Role::Success : Role::Muted;
    painter.fillRect(rect(), theme.color(finished ? Role::SuccessTint : Role::Surface));
    painter.fillRect(QRectF(0, 0, kSummaryCardMark, height()), theme.color(sign));
    widgets::paintIcon(painter,
                       QRectF(kSummaryCardLeft - 24,
                              title_->y() + (title_->height() - widgets::size::kIcon) / 2.0,
                              widgets::size::kIcon, widgets::size::kIcon),
                       finished ? "check" : "stop", theme.color(sign));
}

} // namespace weft::ui
