// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/hosts/partition_rows.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"

#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace weft::ui {
namespace {

using widgets::Fill;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;
using widgets::Theme;

constexpr std::int64_t kMostSquares = 48;
constexpr int kSide = 12;
constexpr int kGap = 3;

struct NodeKind {
    std::int64_t hosts::Partition::*count;
    Role role;
    Fill fill;
};
constexpr std::array kNodeKinds = {
    NodeKind{&hosts::Partition::yours, Role::Accent, Fill::Solid},
    NodeKind{&hosts::Partition::others, Role::Muted, Fill::Hatched},
    NodeKind{&hosts::Partition::idle, Role::EmptyBar, Fill::Solid},
    NodeKind{&hosts::Partition::off, Role::Warning, Fill::Hatched},
};

/// At work for the user, for others, idle, off.
class NodeSquares : public QWidget {
public:
    explicit NodeSquares(const hosts::Partition& partition) : partition_(partition) {
        each_ = std::max<std::int64_t>(1, (partition.nodes() + kMostSquares - 1) / kMostSquares);
        QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
        policy.setHeightForWidth(true);
        setSizePolicy(policy);
    }

    QSize sizeHint() const override { return {16 * (kSide + kGap), heightForWidth(width())}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override {
        const int lines = (squares() + perLine(width) - 1) / perLine(width);
        return std::max(1, lines) * (kSide + kGap) - kGap;
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const Theme& theme = Theme::current();
        int square = 0;
        for (const NodeKind& kind : kNodeKinds) {
            for (std::int64_t i = 0; i < squaresOf(partition_.*kind.count); ++i, ++square) {
                const QRectF rect((square % perLine(width())) * (kSide + kGap),
                                  (square / perLine(width())) * (kSide + kGap), kSide, kSide);
                widgets::paintFill(painter, rect, theme.color(kind.role), kind.fill);
            }
        }
    }

private:
    std::int64_t squaresOf(std::int64_t nodes) const { return (nodes + each_ - 1) / each_; }
    int squares() const {
        std::int64_t out = 0;
        for (const NodeKind& kind : kNodeKinds) {
            out += squaresOf(partition_.*kind.count);
        }
        return static_cast<int>(out);
    }
    static int perLine(int width) { return std::max(1, (width + kGap) / (kSide + kGap)); }

    hosts::Partition partition_;
    std::int64_t each_; // nodes of a square
};

/// "8 yours · 5 others' · 3 idle": what there is none of is not told.
QString nodesText(const hosts::Partition& partition) {
    QStringList parts;
    const auto add = [&](std::int64_t count, const QString& text) {
        if (count > 0) {
            parts << text;
        }
    };
    add(partition.yours, PartitionRows::tr("%1 yours").arg(partition.yours));
    add(partition.others, PartitionRows::tr("%1 others'").arg(partition.others));
    add(partition.idle, PartitionRows::tr("%1 idle").arg(partition.idle));
    add(partition.off, PartitionRows::tr("%1 off").arg(partition.off));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

PartitionRows::PartitionRows(QWidget* parent) : QWidget(parent) {
    column_ = new QVBoxLayout(this);
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(4);
    setVisible(false);
}

void PartitionRows::setPartitions(const std::vector<hosts::Partition>& partitions) {
    if (shown_ == partitions) {
        return;
    }
    shown_ = partitions;
    while (QLayoutItem* item = column_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const hosts::Partition& one : partitions) {
        const int nodes = static_cast<int>(one.nodes());
        column_->addWidget(
            new TextLabel(tr("partition %1, %n node(s)", nullptr, nodes).arg(toQString(one.name)),
                          TextStyle::Caption, Role::Muted));
        auto* squares = new NodeSquares(one);
        squares->setAccessibleName(toQString(one.name));
        squares->setAccessibleDescription(nodesText(one));
        column_->addWidget(squares);
        column_->addWidget(new TextLabel(nodesText(one), TextStyle::Caption, Role::Muted));
    }
    setVisible(!partitions.empty());
}

} // namespace weft::ui
