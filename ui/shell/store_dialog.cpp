// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/store_dialog.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kStoreDialogWidth = 520; // at text size 1
constexpr int kStoreWatchMs = 100;
constexpr int kStoreLines = 3; // of what is said: the dialog keeps its size

} // namespace

StoreDialog::StoreDialog(std::filesystem::path runs, const QString& address, QWidget* parent)
    : QDialog(parent), runs_(std::move(runs)) {
    setObjectName("storeDialog");
    setWindowTitle(tr("Open a run of an object store"));
    setMinimumWidth(static_cast<int>(kStoreDialogWidth * widgets::Theme::current().fontScale()));
    auto* column = new QVBoxLayout(this);
    column->setSpacing(widgets::space::kControl);
    auto* asks = new widgets::TextLabel(
        tr("A run that was copied by checkpoint.mirror, or one of its checkpoints. It comes into "
           "%1 and can be resumed there.")
            .arg(pathText(runs_)),
        TextStyle::Body, Role::Muted);
    asks->setWordWrap(true);
    column->addWidget(asks);
    address_ = new QLineEdit(address);
    address_->setObjectName("storeAddress");
    address_->setAccessibleName(tr("Address of the run"));
    address_->setPlaceholderText(QStringLiteral("s3://bucket/runs/name"));
    column->addWidget(address_);
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Fetching the run"));
    column->addWidget(progress_);
    says_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    says_->setObjectName("storeSays");
    says_->setWordWrap(true);
    says_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    says_->setMinimumHeight(kStoreLines * says_->fontMetrics().lineSpacing());
    column->addWidget(says_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    start_ = buttons->addButton(tr("Fetch and open"), QDialogButtonBox::ActionRole);
    start_->setObjectName("storeFetch");
    start_->setDefault(true);
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(start_, &QPushButton::clicked, this, &StoreDialog::fetch);
    connect(address_, &QLineEdit::textEdited, this, &StoreDialog::update);
    connect(this, &QDialog::finished, this, [this] { fetch_.stop(); });
    connect(&fetch_, &RunFetch::fetched, this, [this](const std::filesystem::path& run) {
        emit fetched(run);
        accept();
    });
    connect(&fetch_, &RunFetch::failed, this, [this](const QString& problem) {
        update();
        say(problem, true);
    });
    watch_.setInterval(kStoreWatchMs);
    connect(&watch_, &QTimer::timeout, this,
            [this] { progress_->setProgress(fetch_.share() > 0 ? fetch_.share() : -1); });
    update();
}

void StoreDialog::fetch() {
    fetch_.start(address_->text().trimmed(), runs_);
    update();
}

void StoreDialog::update() {
    const bool running = fetch_.isRunning();
    const QString text = address_->text().trimmed();
    const QString problem = text.isEmpty() ? QString() : RunFetch::problemOf(text);
    address_->setReadOnly(running);
    start_->setEnabled(!running && !text.isEmpty() && problem.isEmpty());
    progress_->setBusy(running);
    progress_->setProgress(-1);
    running ? watch_.start() : watch_.stop();
    say(running ? tr("Fetching; Cancel ends it.") : problem, !running);
}

void StoreDialog::say(const QString& text, bool is_problem) {
    says_->setRole(is_problem ? Role::Error : Role::Muted);
    says_->setText(text);
}

} // namespace weft::ui
