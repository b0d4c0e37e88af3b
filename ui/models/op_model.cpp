// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/op_model.h"

#include "ui/bridge/convert.h"

#include <QHash>

#include <algorithm>
#include <utility>

namespace weft::ui {

namespace {

QString timesText(const OpRow& row) {
    const std::int64_t times = row.sum.is_loop ? row.sum.times : row.sum.times * row.count;
    return times > 1 ? QStringLiteral("×") + formatCount(times) : QString();
}

QString bytesText(const OpRow& row) {
    return row.sum.is_loop ? QString() : widgets::formatMemory(static_cast<qint64>(row.sum.bytes));
}

QString shareText(const OpRow& row) {
    return row.sum.is_loop ? QString() : QStringLiteral("%1 %").arg(row.sum.share * 100, 0, 'f', 1);
}

} // namespace

OpModel::OpModel(QObject* parent) : TableModel(parent) {
    using Row = OpRow;
    using widgets::Role;
    using widgets::TextStyle;
    const auto kind = [](const Row& row) { return row.sum.kind; };
    const auto path = [](const Row& row) { return row.sum.path; };
    const auto phase = [](const Row& row) { return row.sum.phase; };
    const auto kernel = [](const Row& row) { return row.sum.kernel; };
    describe(
        {{.title = tr("op"),
          .text = kind,
          .spoken = [](const Row& row) { return opTitle(row.sum); },
          .tip = kind},
         {.title = tr("layer"), .text = path, .font = TextStyle::Mono, .tip = path},
         {.title = tr("phase"),
          .text = phase,
          .color = Role::Muted,
          .key = [](const Row& row) { return row.first; },
          .tip = phase},
         {.title = tr("times"),
          .text = timesText,
          .number = true,
          .color = Role::Muted,
          .key = [](const Row& row) { return qlonglong{row.sum.times * row.count}; },
          .tip = timesText},
         {.title = tr("kernel"), .text = kernel, .color = Role::Muted, .tip = kernel},
         {.title = tr("FLOPs"),
          .text =
              [](const Row& row) {
                  return row.sum.is_loop ? QString() : formatFlops(row.sum.flops);
              },
          .number = true,
          .key = [](const Row& row) { return row.sum.flops; }},
         {.title = tr("bytes"),
          .text = bytesText,
          .number = true,
          .key = [](const Row& row) { return row.sum.bytes; }},
         {.title = tr("ms"),
          .text =
              [this](const Row& row) {
                  return row.sum.ms > 0 ? ms_style_.text(row.sum.ms) : QString();
              },
          .number = true,
          .key = [](const Row& row) { return row.sum.ms; }},
         {.title = tr("of FLOPs"), .text = shareText, .number = true, .key = [](const Row& row) {
              return row.sum.share;
          }}});
}

void OpModel::setDigest(std::shared_ptr<const PlanDigest> digest) {
    digest_ = std::move(digest);
    rebuild();
}

void OpModel::setGrouping(Grouping grouping) {
    if (grouping != grouping_) {
        grouping_ = grouping;
        rebuild();
    }
}

void OpModel::rebuild() {
    beginResetModel();
    setTitle(ShareColumn, digest_ && digest_->timed ? tr("of the step") : tr("of FLOPs"));
    rows_.clear();
    row_of_.clear();
    QHash<QString, int> known;
    for (std::size_t i = 0; digest_ && i < digest_->ops.size(); ++i) {
        const PlanOp& op = digest_->ops[i];
        // A loop has no figures of its own: it is a row only where every op is one.
        if (op.is_loop && grouping_ != Grouping::Each) {
            row_of_.push_back(-1);
            continue;
        }
        const QString path = grouping_ == Grouping::ByLayer  ? withoutNumbers(op.path)
                             : grouping_ == Grouping::ByKind ? QString()
                                                             : op.path;
        const QString key = grouping_ == Grouping::Each ? QString::number(i)
                                                        : op.kind + '\n' + op.phase + '\n' + path;
        const auto found = known.constFind(key);
        if (found == known.constEnd()) {
            known.insert(key, static_cast<int>(rows_.size()));
            row_of_.push_back(static_cast<int>(rows_.size()));
            rows_.push_back({op, static_cast<int>(i), 1});
            rows_.back().sum.path = path;
            continue;
        }
        row_of_.push_back(*found);
        OpRow& row = rows_[static_cast<std::size_t>(*found)];
        ++row.count;
        row.sum.flops += op.flops;
        row.sum.bytes += op.bytes;
        row.sum.ms += op.ms;
        row.sum.share += op.share;
        row.sum.kernel = row.sum.kernel == op.kernel ? op.kernel : tr("several");
    }
    std::vector<double> times;
    for (const OpRow& row : rows_) {
        times.push_back(row.sum.ms);
    }
    ms_style_ = millisecondStyle(std::move(times));
    endResetModel();
}

int OpModel::opOf(int row) const {
    return rows_[static_cast<std::size_t>(row)].first;
}

int OpModel::rowOf(int op) const {
    return op >= 0 && op < static_cast<int>(row_of_.size()) ? row_of_[static_cast<std::size_t>(op)]
                                                            : -1;
}

QVariant OpModel::data(const QModelIndex& index, int role) const {
    return role == kShareRole ? QVariant(row(index.row()).sum.share)
                              : TableModel::data(index, role);
}

OpFilter::OpFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(OpModel::kSortRole);
    setDynamicSortFilter(true);
}

void OpFilter::setWords(const QString& text) {
    words_ = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool OpFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    QString line;
    for (const int column :
         {OpModel::KindColumn, OpModel::PathColumn, OpModel::PhaseColumn, OpModel::KernelColumn}) {
        line += sourceModel()->index(row, column, parent).data().toString() + ' ';
    }
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
        return line.contains(word, Qt::CaseInsensitive);
    });
}

} // namespace weft::ui
