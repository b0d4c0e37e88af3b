// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/convert.h"

#include "core/base/error.h"
#include "widgets/look/number_style.h"

#include <QDateTime>
#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace weft::ui {
namespace {

constexpr double kMostInWhole = 1e7; // larger numbers are told by their exponent

} // namespace

QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString pathText(const std::filesystem::path& path) {
    return QString::fromStdString(path.string());
}

QString faultText(const std::exception& fault) {
    const auto* error = dynamic_cast<const Error*>(&fault);
    return toQString(error != nullptr ? error->message() : fault.what());
}

std::filesystem::path toPath(const QString& text) {
    return std::filesystem::path(text.toStdString());
}

widgets::RunState toWidget(train::RunState state) {
    switch (state) {
    case train::RunState::idle: return widgets::RunState::Idle;
    case train::RunState::validating:
    case train::RunState::preparing: return widgets::RunState::Preparing;
    case train::RunState::running: return widgets::RunState::Running;
    case train::RunState::paused: return widgets::RunState::Paused;
    case train::RunState::saving: return widgets::RunState::Saving;
    case train::RunState::stopping: return widgets::RunState::Stopping;
    case train::RunState::finished: return widgets::RunState::Finished;
    case train::RunState::stopped: return widgets::RunState::Stopped;
    case train::RunState::failed: return widgets::RunState::Failed;
    }
    return widgets::RunState::Idle;
}

widgets::MemoryCategory toWidget(plan::Category category) {
    using From = plan::Category;
    using To = widgets::MemoryCategory;
    switch (category) {
    case From::parameters: return To::Parameters;
    case From::gradients: return To::Gradients;
    case From::optimizer: return To::Optimizer;
    case From::state: return To::State;
    case From::packed_weights: return To::PackedWeights;
    case From::activations: return To::Activations;
    case From::workspace: return To::Workspace;
    case From::batch: return To::Batch;
    case From::communication: return To::Communication;
    case From::staging: return To::Staging;
    case From::library: return To::Library;
    }
    return To::Activations;
}

QString runTitle(const std::filesystem::path& folder) {
    static const QRegularExpression dated("^\\d{4}-\\d{2}-\\d{2}_(.+)$");
    const QString name = toQString(folder.filename().string());
    const QRegularExpressionMatch match = dated.match(name);
    return match.hasMatch() ? match.captured(1) : name;
}

std::vector<widgets::MemorySegment> memorySegments(const plan::ExecutionPlan& plan) {
    const std::vector<std::int64_t> bytes = plan::memory_by_category(plan);
    std::vector<widgets::MemorySegment> segments;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] > 0) {
            segments.push_back({toWidget(static_cast<plan::Category>(i)), bytes[i]});
        }
    }
    return segments;
}

QStringList besideArena(std::int64_t landing_bytes, const plan::DeviceMemory& beside) {
    const std::pair<QString, std::int64_t> all[] = {
        {QObject::tr("next batch"), landing_bytes},
        {QObject::tr("driver"), beside.context_bytes},
        {QObject::tr("libraries"), beside.library_bytes},
        {QObject::tr("groups of devices"), beside.exchange_bytes}};
    QStringList out;
    for (const auto& [name, bytes] : all) {
        if (bytes > 0) {
            out << QStringLiteral("%1 %2").arg(name, widgets::formatMemory(bytes));
        }
    }
    return out;
}

QString formatMetric(double value) {
    const double size = std::abs(value);
    if (!std::isfinite(value) || size >= kMostInWhole || (size != 0 && size < 1e-3)) {
        return widgets::formatExponent(value);
    }
    if (size >= 1e3) {
        return formatCount(std::llround(value));
    }
    const int small = size == 0 || size >= 0.1 ? 0 : size >= 0.01 ? 1 : 2; // zeros before it counts
    return QString::number(value, 'f', size < 10 ? 3 + small : size < 100 ? 2 : 1);
}

QString metricWords(const std::string& metric) {
    QString words = toQString(metric);
    return words.replace('/', ' ').replace('_', ' ');
}

QString formatWhen(double utc_seconds) {
    if (utc_seconds <= 0) {
        return {};
    }
    const QDateTime when = QDateTime::fromSecsSinceEpoch(static_cast<qint64>(utc_seconds));
    const qint64 days = when.date().daysTo(QDate::currentDate());
    if (days == 0) {
        return QObject::tr("today %1").arg(when.toString("HH:mm"));
    }
    if (days == 1) {
        return QObject::tr("yesterday");
    }
    return QLocale().toString(when.date(), days < 300 ? "ddd d MMM" : "d MMM yyyy");
}

} // namespace weft::ui
