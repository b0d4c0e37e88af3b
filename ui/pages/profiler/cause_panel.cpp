// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profiler/cause_panel.h"

#include "core/base/machine.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_model.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr std::size_t kOtherCauses = 3;

QString msText(double us) {
    return QString::number(us / 1e3, 'f', us >= 1e5 ? 0 : us >= 1e4 ? 1 : 2);
}

/// "Slow kernel matmul backward, 15 %".
QString causeText(const profile::Cause& cause) {
    QString name = toQString(profile::cause_name(cause.kind));
    name[0] = name[0].toUpper();
    if (!cause.subject.empty()) {
        name += QLatin1Char(' ') + toQString(cause.subject);
    }
    return CausePanel::tr("%1, %2 %").arg(name).arg(100 * cause.share, 0, 'f', 0);
}

} // namespace

CausePanel::CausePanel(RunModel& run, Draft& draft, QWidget* parent)
    : Surface(Role::Surface, parent), run_(run), draft_(draft),
      cores_(read_machine().usable_cores) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(widgets::space::kMargin, widgets::space::kControl,
                            widgets::space::kMargin, widgets::space::kControl);
    row->setSpacing(widgets::space::kSection);
    auto* left = new QVBoxLayout;
    left->setSpacing(2);
    left->addWidget(new widgets::TextLabel(tr("Why is it slow?"), TextStyle::Caption, Role::Muted));
    auto* first = new QHBoxLayout;
    sentence_ = new widgets::TextLabel({}, TextStyle::Strong);
    sentence_->setObjectName("profileVerdict");
    sentence_->setProperty("isData", true); // the engine's words
    sentence_->setWordWrap(true);
    first->addWidget(sentence_, 1);
    fix_ = new QPushButton;
    fix_->setObjectName("profileFix");
    widgets::setCompact(fix_);
    first->addWidget(fix_, 0, Qt::AlignTop);
    left->addLayout(first);
    advice_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    advice_->setObjectName("profileAdvice");
    advice_->setProperty("isData", true);
    advice_->setWordWrap(true);
    left->addWidget(advice_);
    parts_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    parts_->setObjectName("profileParts");
    parts_->setProperty("isData", true); // figures
    parts_->setWordWrap(true);
    left->addWidget(parts_);
    left->addStretch(1);
    row->addLayout(left, 1);
    others_ = new QWidget;
    auto* column = new QVBoxLayout(others_);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    fixes_.resize(kOtherCauses + 1);
    for (std::size_t i = 0; i < kOtherCauses; ++i) {
        auto* line = new QWidget;
        auto* inner = new QHBoxLayout(line);
        inner->setContentsMargins(0, 0, 0, 0);
        auto* text = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
        text->setProperty("isData", true);
        inner->addWidget(text, 1);
        auto* button = new QPushButton;
        button->setObjectName(QStringLiteral("profileFix%1").arg(i + 2));
        widgets::setCompact(button);
        inner->addWidget(button);
        column->addWidget(line);
        lines_.push_back({line, text, button});
    }
    column->addStretch(1);
    row->addWidget(others_, 1);
    for (std::size_t i = 0; i <= kOtherCauses; ++i) {
        connect(i == 0 ? fix_ : lines_[i - 1].fix, &QPushButton::clicked, this, [this, i] {
            const std::optional<ProfileFix> fix = fixes_[i];
            if (fix && fix->opens_plan) {
                emit pageRequested("plan");
            } else if (fix) {
                draft_.edit(fix->edits);
            }
        });
    }
    connect(&draft_, &Draft::changed, this, &CausePanel::update);
    connect(&run_, &RunModel::reset, this, &CausePanel::update);
}

void CausePanel::setRecordings(const std::shared_ptr<const OpenRecording>& now,
                               const std::shared_ptr<const OpenRecording>& before) {
    now_ = now;
    before_ = before;
    update();
}

void CausePanel::update() {
    if (now_) {
        const auto& causes = now_->causes;
        sentence_->setText(toQString(profile::verdict_of(causes)));
        advice_->setText(causes.empty() ? QString() : toQString(causes.front().fix));
        advice_->setVisible(!advice_->text().isEmpty());
        parts_->setText(before_ ? changeText() : partsText());
        showCauses();
    }
}

void CausePanel::showCauses() {
    const auto& causes = now_->causes;
    for (std::size_t i = 0; i <= kOtherCauses; ++i) {
        fixes_[i] = i < causes.size() ? fixOf(causes[i], run_.config(), run_.loader(), cores_)
                                      : std::nullopt;
        arrangeFix(i == 0 ? fix_ : lines_[i - 1].fix, fixes_[i]);
    }
    for (std::size_t i = 0; i < kOtherCauses; ++i) {
        const Line& line = lines_[i];
        line.row->setVisible(i + 1 < causes.size());
        if (i + 1 < causes.size()) {
            line.text->setText(causeText(causes[i + 1]));
            line.row->setToolTip(toQString(causes[i + 1].sentence + " " + causes[i + 1].fix));
        }
    }
    others_->setVisible(causes.size() > 1);
}

// A draft that has it already needs no button.
void CausePanel::arrangeFix(QPushButton* button, const std::optional<ProfileFix>& fix) {
    const bool has_draft = draft_.document().is_object();
    button->setVisible(fix && has_draft && !hasFix(draft_.document(), *fix));
    if (fix) {
        button->setText(fix->label);
        button->setToolTip(fix->tooltip);
    }
}

QString CausePanel::partsText() const {
    const profile::StepParts& parts = now_->tables.front().mean;
    QStringList out{tr("A step takes %1 ms").arg(msText(parts.wall_us)),
                    tr("kernels %1").arg(msText(parts.compute_us))};
    if (parts.exchange_us + parts.waited_us > 0) {
        out.append(tr("exchanges %1").arg(msText(parts.exchange_us)));
        out.append(tr("waiting for devices %1").arg(msText(parts.waited_us)));
    }
    out.append(tr("between calls %1").arg(msText(parts.between_us)));
    out.append(tr("loader %1").arg(msText(parts.loader_us)));
    out.append(tr("host %1").arg(msText(parts.host_us)));
    QString text = out.join(tr(" · "));
    const profile::Recording& recording = now_->recording;
    if (!recording.cut_short.empty()) {
        text += tr(". %1 of %2 steps: %3")
                    .arg(formatCount(static_cast<qint64>(recording.steps.size())),
                         formatCount(recording.asked_steps), toQString(recording.cut_short));
    }
    return text;
}

QString CausePanel::changeText() const {
    const double now = now_->stepMs();
    const double before = before_->stepMs();
    const QString factor = QString::number(std::max(now, before) / std::min(now, before), 'f', 2);
    return tr("A step takes %1 ms, in %2 (%3) it took %4 ms: %5")
        .arg(msText(now * 1e3), toQString(before_->recording.run), stepsText(before_->recording),
             msText(before * 1e3),
             now <= before ? tr("%1 times as fast").arg(factor)
                           : tr("%1 times as long").arg(factor));
}

} // namespace weft::ui
