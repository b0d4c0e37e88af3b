// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/summary_card.h"

#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "widgets/icon.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGridLayout>
#include <QGuiApplication>
#include <QPainter>
#include <QPushButton>
#include <QSaveFile>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr double kSummaryCardMark = 4; // width of the bar at the left
constexpr int kSummaryCardLeft = 44;   // room for the bar and the sign

/// "validation/accuracy" and "test/accuracy" stand in one line.
std::string measure_of(const std::string& metric) {
    return metric.substr(metric.find('/') + 1);
}

/// As far as the configuration says it, without looking at data.
bool takesPictures(const RunModel& run) {
    const config::Json& source = run.config().section("data").at("train");
    const auto type = source.value("type", std::string());
    return type == "idx" || type == "images" || source.value("kind", std::string()) == "images";
}

QString figureText(const std::optional<double>& value) {
    return value ? formatMetric(*value) : QStringLiteral("–");
}

} // namespace

SummaryCard::SummaryCard(RunModel& run, Actions& actions, QWidget* parent)
    : QWidget(parent), run_(run) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(kSummaryCardLeft, widgets::space::kControl, widgets::space::kControl,
                            widgets::space::kControl);
    row->setSpacing(widgets::space::kControl);
    auto* column = new QVBoxLayout;
    column->setSpacing(4);
    title_ = new TextLabel({}, TextStyle::Strong);
    title_->setObjectName("summaryTitle");
    title_->setWordWrap(true);
    column->addWidget(title_);
    table_ = new QWidget;
    new QGridLayout(table_);
    table_->layout()->setContentsMargins(0, 0, 0, 0);
    column->addWidget(table_);
    row->addLayout(column, 1);
    const auto add = [&](const QString& text, const char* name, auto&& slot) {
        auto* button = new QPushButton(text);
        button->setObjectName(name);
        widgets::setCompact(button);
        connect(button, &QPushButton::clicked, this, std::forward<decltype(slot)>(slot));
        row->addWidget(button, 0, Qt::AlignTop);
        return button;
    };
    try_ = add({}, "summaryTry", [&actions] { actions.get(action::kTry)->trigger(); });
    widgets::setButtonKind(try_, widgets::ButtonKind::Primary);
    QAction* keep = actions.get(action::kKeepConfig);
    add(keep->text(), "summaryKeep", [keep] { keep->trigger(); })->setToolTip(keep->statusTip());
    copy_ =
        add(tr("Copy"), "summaryCopy", [this] { QGuiApplication::clipboard()->setText(text()); });
    save_ = add(tr("Save…"), "summarySave", [this] { saveAs(); });
    QPushButton* close = add({}, "summaryClose", [this] {
        closed_ = run_.folder();
        hide();
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
    return (finished ? tr("%1 finished: %2") : tr("%1 stopped: %2"))
        .arg(run_.name(), parts.join(" · "));
}

std::vector<SummaryCard::Row> SummaryCard::rows() const {
    std::vector<Row> rows;
    if (!run_.finished()) {
        return rows;
    }
    const auto row_of = [&rows](const std::string& metric) -> Row& {
        const std::string measure = measure_of(metric);
        const auto known = std::find_if(rows.begin(), rows.end(),
                                        [&](const Row& row) { return row.metric == measure; });
        return known != rows.end() ? *known : rows.emplace_back(Row{measure, {}, {}, {}});
    };
    for (const auto& [name, value] : run_.finished()->best) {
        row_of(name).best = value;
    }
    for (const auto& [name, value] : run_.finished()->last) {
        row_of(name).last = value;
    }
    for (const auto& [name, value] : run_.finished()->test) {
        row_of(name).test = value;
    }
    return rows;
}

void SummaryCard::showSummary() {
    const bool stopped = run_.state() == train::RunState::stopped && isTriable();
    if ((!run_.finished() && !stopped) || closed_ == run_.folder()) {
        hide();
        return;
    }
    try_->setText(isTriable() && takesPictures(run_) ? tr("Try it on a picture") : tr("Try it"));
    try_->setVisible(isTriable());
    copy_->setVisible(!stopped);
    save_->setVisible(!stopped);
    title_->setText(headline());
    qDeleteAll(table_->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    delete table_->layout();
    auto* grid = new QGridLayout(table_);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(widgets::space::kSection);
    grid->setVerticalSpacing(2);
    const auto add = [&](int line, int place, const QString& words, TextStyle style, Role role) {
        auto* label = new TextLabel(words, style, role);
        grid->addWidget(label, line, place, place == 0 ? Qt::AlignLeft : Qt::AlignRight);
    };
    const std::vector<Row> all = rows();
    table_->setVisible(!all.empty());
    if (!all.empty()) {
        const QString heads[] = {tr("Metric"), tr("Best checkpoint"), tr("Last"), tr("Test")};
        for (int i = 0; i < 4; ++i) {
            add(0, i, heads[i], TextStyle::Caption, Role::Muted);
        }
    }
    int line = 1;
    for (const Row& row : all) {
        add(line, 0, toQString(row.metric), TextStyle::Caption, Role::Text);
        add(line, 1, figureText(row.best), TextStyle::MonoSmall, Role::Text);
        add(line, 2, figureText(row.last), TextStyle::MonoSmall, Role::Text);
        add(line++, 3, figureText(row.test), TextStyle::MonoSmall, Role::Text);
    }
    grid->setColumnStretch(4, 1);
    show();
}

QString SummaryCard::text() const {
    QString out = headline() + '\n';
    for (const Row& row : rows()) {
        out += tr("%1: best %2, last %3, test %4")
                   .arg(toQString(row.metric), figureText(row.best), figureText(row.last),
                        figureText(row.test)) +
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
        QFileDialog::getSaveFileName(this, tr("Save the summary"), run_.name() + "-summary.txt",
                                     tr("Text (*.txt);;JSON (*.json)"));
    if (!path.isEmpty() && !save(path)) {
        emit failed(tr("%1 could not be written. Choose another folder.").arg(path));
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
