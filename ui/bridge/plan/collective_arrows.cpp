// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/collective_arrows.h"

#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <set>

namespace weft::ui {
namespace {

class CollectiveArrowsText {
    Q_DECLARE_TR_FUNCTIONS(CollectiveArrows)
};

QString arrowAxesText(const CollectiveShare& share) {
    QStringList names;
    for (const std::string& axis : share.axes) {
        names.append(toQString(axis));
    }
    return names.join(QStringLiteral(" × "));
}

std::vector<int> axesOfShare(const sharding::Mesh& mesh, const CollectiveShare& share) {
    std::vector<int> out;
    for (const std::string& name : share.axes) {
        out.push_back(mesh.find(name));
    }
    return out;
}

/// All, or those of the first device's group along the axes, and of the minor axes beside it.
std::vector<int> shownDevices(const sharding::Mesh& mesh, std::span<const CollectiveShare> shares) {
    std::vector<int> axes;
    std::int64_t count = 1;
    const auto add = [&](int axis) {
        if (axis >= 0 && std::find(axes.begin(), axes.end(), axis) == axes.end() &&
            count * mesh.size(axis) <= kMostDrawn) {
            axes.push_back(axis);
            count *= mesh.size(axis);
        }
    };
    for (const CollectiveShare& share : shares) {
        for (const int axis : axesOfShare(mesh, share)) {
            add(axis);
        }
    }
    for (int axis = static_cast<int>(mesh.axes.size()) - 1; axis >= 0; --axis) {
        add(axis);
    }
    std::sort(axes.begin(), axes.end());
    const bool all = count == mesh.devices();
    std::vector<int> out;
    if (axes.empty()) { // one axis with more devices than are drawn
        for (int device = 0; device < std::min<std::int64_t>(mesh.devices(), kMostDrawn);
             ++device) {
            out.push_back(device);
        }
        return out;
    }
    for (const auto& group : mesh.groups(axes)) {
        if (all || group.front() == 0) {
            out.insert(out.end(), group.begin(), group.end());
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

class CollectiveArrowsCollector {
public:
    CollectiveArrowsCollector(const plan::ExecutionPlan& plan, std::vector<int> shown)
        : plan_(plan), shown_(shown.begin(), shown.end()) {}

    void add(const CollectiveShare& share) {
        const sharding::Mesh& mesh = plan_.mesh;
        if (share.kind == "send_recv") {
            for (const int device : shown_) {
                auto place = mesh.coordinates(device);
                if (plan_.stage_of(device) == share.stage && plan_.pipeline_axis >= 0) {
                    place[static_cast<std::size_t>(plan_.pipeline_axis)] = share.to_stage;
                    note(share, device, static_cast<int>(mesh.device(place)), share.sent_bytes);
                }
            }
            return;
        }
        for (const auto& group : shownGroups(axesOfShare(mesh, share))) {
            if (plan_.stage_of(group.front()) == share.stage) {
                addGroup(share, group);
            }
        }
    }

    std::vector<widgets::CollectiveArrow> take(QStringList& axes) {
        std::vector<widgets::CollectiveArrow> out;
        for (const auto& [key, sum] : sums_) {
            const auto& [from, to, over] = key;
            if (!axes.contains(over)) {
                axes.append(over);
            }
            out.push_back(
                {from, to, sum.bytes, static_cast<int>(axes.indexOf(over)),
                 CollectiveArrowsText::tr("%1 → %2: %3 a step, %4 times, %5 over %6")
                     .arg(from)
                     .arg(to)
                     .arg(widgets::formatMemory(sum.bytes),
                          formatCount(static_cast<std::int64_t>(sum.count + 0.5)),
                          QStringList(sum.kinds.begin(), sum.kinds.end()).join(", "), over)});
        }
        return out;
    }

private:
    struct Sum {
        qint64 bytes = 0;
        double count = 0;
        std::set<QString> kinds;
    };

    using Groups = std::vector<std::vector<std::int64_t>>;

    /// Those with a device that is drawn: a few of thousands.
    const Groups& shownGroups(const std::vector<int>& axes) {
        const auto [found, is_new] = groups_.try_emplace(axes);
        if (is_new) {
            found->second = plan_.mesh.groups(axes);
            std::erase_if(found->second, [&](const auto& group) {
                return std::none_of(group.begin(), group.end(), [&](std::int64_t device) {
                    return shown_.contains(static_cast<int>(device));
                });
            });
        }
        return found->second;
    }

    void addGroup(const CollectiveShare& share, const std::vector<std::int64_t>& group) {
        const std::size_t count = group.size();
        for (std::size_t i = 0; i < count && count > 1; ++i) {
            const auto from = static_cast<int>(group[i]);
            if (share.kind != "all_to_all") {
                const bool last = share.kind == "broadcast" && i + 1 == count;
                if (!last) {
                    note(share, from, static_cast<int>(group[(i + 1) % count]), share.sent_bytes);
                }
                continue;
            }
            for (const std::int64_t to : group) {
                if (to != group[i]) {
                    note(share, from, static_cast<int>(to),
                         share.sent_bytes / static_cast<std::int64_t>(count - 1));
                }
            }
        }
    }

    void note(const CollectiveShare& share, int from, int to, qint64 bytes) {
        if (!shown_.contains(from) || !shown_.contains(to)) {
            return;
        }
        Sum& sum = sums_[{from, to, arrowAxesText(share)}];
        sum.bytes += bytes;
        sum.count += share.count;
        sum.kinds.insert(collectiveName(share.kind));
    }

    const plan::ExecutionPlan& plan_;
    const std::set<int> shown_;
    std::map<std::vector<int>, Groups> groups_; // by axes
    std::map<std::tuple<int, int, QString>, Sum> sums_;
};

} // namespace

QString collectiveName(const std::string& kind) {
    return kind == "send_recv" ? QStringLiteral("send") : toQString(kind).replace('_', '-');
}

widgets::CollectiveGraph collectiveGraph(const plan::ExecutionPlan& plan,
                                         std::span<const CollectiveShare> shares) {
    widgets::CollectiveGraph out;
    for (const sharding::Axis& axis : plan.mesh.axes) {
        out.mesh.push_back(static_cast<int>(axis.size));
        out.axes.append(toQString(axis.name));
    }
    // Axes keep their colours whichever collectives are looked at.
    out.devices = shownDevices(plan.mesh, shares);
    CollectiveArrowsCollector collector(plan, out.devices);
    for (const CollectiveShare& share : shares) {
        collector.add(share);
    }
    out.arrows = collector.take(out.axes);
    return out;
}

} // namespace weft::ui
