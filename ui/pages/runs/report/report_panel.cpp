// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/report/report_panel.h"

#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/drawings.h"
#include "ui/pages/runs/report/report_export.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QScrollBar>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kReportRenewMs = 150;
constexpr int kReportMostWidth = 760; // of its pictures on screen

} // namespace

ReportPanel::ReportPanel(std::filesystem::path file, QWidget* parent)
    : QWidget(parent), file_(std::move(file)) {
    setObjectName("reportPanel");
    QFile kept(pathText(file_));
    if (kept.open(QIODevice::ReadOnly)) {
        report_ = reportOfJson(kept.readAll()).value_or(Report());
    }
    if (report_.title.isEmpty()) {
        report_.title = tr("Report");
    }
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* parts = new widgets::ThinSplitter(Qt::Horizontal, "reportParts");
    parts->addWidget(createBlocks());
    parts->addWidget(createPreview());
    parts->setStretchFactor(0, 0);
    parts->setStretchFactor(1, 1);
    parts->setSizes({360, 640});
    column->addWidget(parts);
    renewing_.setSingleShot(true);
    renewing_.setInterval(kReportRenewMs);
    connect(&renewing_, &QTimer::timeout, this, [this] {
        showPreview();
        keep();
    });
    fillList(0);
    showPreview();
}

ReportPanel::~ReportPanel() {
    keep();
}

QWidget* ReportPanel::createBlocks() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Blocks"));
    const auto button = [&](const char* name, const QString& text, const QString& tip) {
        auto* out = new QPushButton(text);
        out->setObjectName(name);
        out->setToolTip(tip);
        widgets::setCompact(out);
        header->addControl(out);
        return out;
    };
    connect(button("addReportText", tr("Text"), tr("Add a block of text (Markdown)")),
            &QPushButton::clicked, this, [this] {
                add({ReportBlock::Kind::Text, QString(), {}, {}, {}, {}});
                text_->setFocus();
            });
    connect(
        button("addReportCharts", tr("Charts"), tr("Add the charts that are in view under Charts")),
        &QPushButton::clicked, this, &ReportPanel::chartsRequested);
    connect(button("addReportTable", tr("Table"), tr("Add the table of runs as it is shown")),
            &QPushButton::clicked, this, &ReportPanel::tableRequested);
    column->addWidget(header);
    column->addWidget(new widgets::Hairline);
    title_ = new QLineEdit(report_.title);
    title_->setObjectName("reportTitle");
    title_->setAccessibleName(tr("Title of the report"));
    auto* fields = new QVBoxLayout;
    fields->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                               widgets::space::kGroup, widgets::space::kControl);
    fields->setSpacing(widgets::space::kControl);
    fields->addWidget(title_);
    list_ = new QListWidget;
    list_->setObjectName("reportBlocks");
    list_->setAccessibleName(tr("Blocks of the report"));
    fields->addWidget(list_, 1);
    auto* row = new QHBoxLayout;
    up_ = widgets::iconButton("chevron-up", "reportUp", tr("Move the block up"));
    down_ = widgets::iconButton("chevron-down", "reportDown", tr("Move the block down"));
    remove_ = widgets::iconButton("trash", "reportRemove", tr("Remove the block"));
    row->addWidget(
        new widgets::TextLabel(tr("Words of the block"), widgets::TextStyle::CaptionStrong));
    row->addStretch(1);
    for (QPushButton* one : {up_, down_, remove_}) {
        row->addWidget(one);
    }
    fields->addLayout(row);
    text_ = new QPlainTextEdit;
    text_->setObjectName("reportText");
    text_->setAccessibleName(tr("Words of the block, in Markdown"));
    text_->setTabChangesFocus(true);
    fields->addWidget(text_, 1);
    column->addLayout(fields, 1);
    connect(up_, &QPushButton::clicked, this, [this] { move(-1); });
    connect(down_, &QPushButton::clicked, this, [this] { move(1); });
    connect(remove_, &QPushButton::clicked, this, &ReportPanel::removeChosen);
    connect(list_, &QListWidget::currentRowChanged, this, &ReportPanel::showChosen);
    connect(text_, &QPlainTextEdit::textChanged, this, &ReportPanel::edited);
    connect(title_, &QLineEdit::textChanged, this, &ReportPanel::edited);
    return panel;
}

QWidget* ReportPanel::createPreview() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Preview"));
    html_ = new QPushButton(tr("Save as HTML…"));
    html_->setObjectName("reportHtml");
    html_->setToolTip(tr("One file with everything in it"));
    pdf_ = new QPushButton(tr("Save as PDF…"));
    pdf_->setObjectName("reportPdf");
    for (QPushButton* button : {html_, pdf_}) {
        widgets::setCompact(button);
        header->addControl(button);
    }
    connect(html_, &QPushButton::clicked, this, [this] { exportAs(false); });
    connect(pdf_, &QPushButton::clicked, this, [this] { exportAs(true); });
    column->addWidget(header);
    column->addWidget(new widgets::Hairline);
    preview_ = new QTextBrowser;
    preview_->setObjectName("reportPreview");
    preview_->setAccessibleName(tr("The report as it will be read"));
    preview_->setOpenLinks(false);
    preview_->setFrameShape(QFrame::NoFrame);
    preview_->document()->setDocumentMargin(widgets::space::kSection);
    column->addWidget(preview_, 1);
    return panel;
}

int ReportPanel::chosen() const {
    return list_->currentRow();
}

void ReportPanel::fillList(int choose) {
    filling_ = true;
    list_->clear();
    for (const ReportBlock& block : report_.blocks) {
        list_->addItem(block.title());
    }
    list_->setCurrentRow(std::min(choose, list_->count() - 1));
    filling_ = false;
    showChosen();
}

void ReportPanel::showChosen() {
    if (filling_) {
        return;
    }
    const int at = chosen();
    const bool any = at >= 0;
    filling_ = true;
    text_->setPlainText(any ? report_.blocks[static_cast<std::size_t>(at)].text : QString());
    filling_ = false;
    text_->setEnabled(any);
    text_->setPlaceholderText(any ? tr("Markdown: # heading, **strong**, - list")
                                  : tr("Add a block of text, charts or a table"));
    up_->setEnabled(at > 0);
    down_->setEnabled(any && at + 1 < list_->count());
    remove_->setEnabled(any);
    html_->setEnabled(list_->count() > 0);
    pdf_->setEnabled(list_->count() > 0);
}

void ReportPanel::add(ReportBlock block) {
    const int after = chosen() < 0 ? list_->count() - 1 : chosen();
    report_.blocks.insert(report_.blocks.begin() + (after + 1), std::move(block));
    fillList(after + 1);
    renewing_.start();
}

void ReportPanel::move(int by) {
    const int at = chosen();
    if (at < 0 || at + by < 0 || at + by >= list_->count()) {
        return;
    }
    std::swap(report_.blocks[static_cast<std::size_t>(at)],
              report_.blocks[static_cast<std::size_t>(at + by)]);
    fillList(at + by);
    renewing_.start();
}

void ReportPanel::removeChosen() {
    const int at = chosen();
    if (at >= 0) {
        report_.blocks.erase(report_.blocks.begin() + at);
        fillList(at);
        renewing_.start();
    }
}

void ReportPanel::edited() {
    if (filling_) {
        return;
    }
    report_.title = title_->text();
    if (const int at = chosen(); at >= 0) {
        ReportBlock& block = report_.blocks[static_cast<std::size_t>(at)];
        block.text = text_->toPlainText();
        list_->item(at)->setText(block.title());
    }
    renewing_.start();
}

// What is looked at stays where it is.
void ReportPanel::showPreview() {
    const int at = preview_->verticalScrollBar()->value();
    const int width = std::min(kReportMostWidth,
                               preview_->viewport()->width() - 2 * widgets::space::kSection - 8);
    fillDocument(*preview_->document(), report_, std::max(200, width));
    preview_->verticalScrollBar()->setValue(at);
}

void ReportPanel::keep() {
    QSaveFile file(pathText(file_));
    if (file.open(QIODevice::WriteOnly)) {
        file.write(reportJson(report_));
        file.commit();
    }
}

void ReportPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    renewing_.start();
}

void ReportPanel::exportAs(bool pdf) {
    const QString name = fileName(report_.title) + (pdf ? ".pdf" : ".html");
    const QString path = askForPlace(this, {tr("Save the report"), FileUse::Export,
                                            pdf ? tr("PDF (*.pdf)") : tr("HTML (*.html)"), name});
    if (!path.isEmpty()) {
        const bool well = pdf ? writeReportPdf(report_, path) : writeReportHtml(report_, path);
        emit written(well, writtenText(well, path));
    }
}

} // namespace weft::ui
