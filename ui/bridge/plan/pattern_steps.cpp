// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/pattern_steps.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Pattern;
using widgets::PatternCell;
using widgets::PatternMessage;
using widgets::PatternStep;

constexpr int kMostOfAllToAll = 4; // every device keeps two lists of them

class PatternStepsText {
    Q_DECLARE_TR_FUNCTIONS(PatternSteps)
};

class Maker {
public:
    Maker(std::vector<int> devices, std::vector<int> mesh) : n_(static_cast<int>(devices.size())) {
        out_.devices = std::move(devices);
        out_.mesh = std::move(mesh);
    }

    Pattern all_reduce() {
        begin(
            n_, [](int, int) { return true; },
            PatternStepsText::tr("Each device has an array in %1 parts. All want the sums.")
                .arg(n_));
        reduce(0, PatternStepsText::tr(
                      "each device sends one part to the next, which adds it to its own"));
        for (int device = 0; device < n_; ++device) {
            mark(device, next(device));
        }
        for (int step = 0; step < n_ - 1; ++step) {
            ring([&](int device) { return turn(device + 1 - step); }, false, true,
                 PatternStepsText::tr("each device passes a complete sum on to the next"));
        }
        return finish(2 * (n_ - 1), PatternStepsText::tr("2 S (n − 1) / n"));
    }

    Pattern reduce_scatter() {
        begin(
            n_, [](int, int) { return true; },
            PatternStepsText::tr(
                "Each device has an array in %1 parts. Each wants the sum of one part.")
                .arg(n_));
        reduce(-1, PatternStepsText::tr(
                       "each device sends one part to the next, which adds it to its own"));
        for (int device = 0; device < n_; ++device) {
            for (int part = 0; part < n_; ++part) {
                PatternCell& own = cell(device, part);
                own = part == device ? PatternCell{own.value, own.fresh, true} : PatternCell();
            }
        }
        return finish(n_ - 1, PatternStepsText::tr("S (n − 1) / n"));
    }

    Pattern all_gather() {
        begin(
            n_, [](int device, int part) { return device == part; },
            PatternStepsText::tr("Each device has one part of %1. All want all parts.").arg(n_));
        for (int device = 0; device < n_; ++device) {
            mark(device, device);
        }
        for (int step = 0; step < n_ - 1; ++step) {
            ring([&](int device) { return turn(device - step); }, false, true,
                 PatternStepsText::tr("each device passes on to the next what came last"));
        }
        return finish(n_ - 1, PatternStepsText::tr("S (n − 1) / n"));
    }

    Pattern all_to_all() {
        begin(
            2 * n_, [&](int, int part) { return part < n_; },
            PatternStepsText::tr(
                "Each device has one part for every device, above the line. Below it stands what "
                "it gets."));
        out_.second_rows = n_;
        for (int device = 0; device < n_; ++device) {
            cell(device, n_ + device) = {cell(device, device).value, false, true};
        }
        for (int step = 1; step < n_; ++step) {
            PatternStep& made =
                add(PatternStepsText::tr(
                        "each device sends to the one %1 places behind it the part that is for it")
                        .arg(step));
            for (int device = 0; device < n_; ++device) {
                const int to = turn(device + step);
                const int value = *cell(device, to).value;
                made.messages.push_back({device, to, to, n_ + device, value, false});
                cell(to, n_ + device) = {value, true, true};
            }
        }
        return finish(n_ - 1, PatternStepsText::tr("S (n − 1) / n"));
    }

    Pattern permute() {
        begin(
            2, [](int, int part) { return part == 0; },
            PatternStepsText::tr(
                "Each device has an array. Each wants that of the device before it."));
        out_.second_rows = 1;
        PatternStep& made = add(PatternStepsText::tr("each device sends its array to the next"));
        for (int device = 0; device < n_; ++device) {
            const int value = *cell(device, 0).value;
            made.messages.push_back({device, next(device), 0, 1, value, false});
            cell(next(device), 1) = {value, true, true};
        }
        number();
        return std::move(out_);
    }

    Pattern send() {
        begin(
            1, [](int device, int) { return device == 0; },
            PatternStepsText::tr("A stage has computed an array that the next one goes on with."));
        for (int device = 0; device + 1 < n_; ++device) {
            PatternStep& made = add(PatternStepsText::tr("stage %1 sends it on").arg(device));
            const int value = *cell(device, 0).value;
            made.messages.push_back({device, device + 1, 0, 0, value, false});
            cell(device + 1, 0) = {value, true, true};
        }
        number();
        return std::move(out_);
    }

    Pattern broadcast() {
        begin(
            2, [](int device, int) { return device == 0; },
            PatternStepsText::tr("One device has an array. All want it."));
        for (int have = 1; have < n_; have *= 2) {
            PatternStep& made =
                add(PatternStepsText::tr("each device that has it sends it to one that has not"));
            for (int device = 0; device < have && device + have < n_; ++device) {
                for (int part = 0; part < 2; ++part) {
                    const int value = *cell(device, part).value;
                    made.messages.push_back({device, device + have, part, part, value, false});
                    cell(device + have, part) = {value, true, true};
                }
            }
        }
        number();
        return std::move(out_);
    }

private:
    int turn(int index) const { return ((index % n_) + n_) % n_; }
    int next(int device) const { return turn(device + 1); }

    PatternCell& cell(int device, int part) {
        return out_.steps.back()
            .places[static_cast<std::size_t>(device)][static_cast<std::size_t>(part)];
    }
    void mark(int device, int part) { cell(device, part).done = true; }

    template <typename Has>
    void begin(int parts, const Has& has, const QString& text) {
        PatternStep start;
        start.text = text;
        for (int device = 0; device < n_; ++device) {
            std::vector<PatternCell>& own = start.places.emplace_back();
            for (int part = 0; part < parts; ++part) {
                own.push_back(has(device, part) ? PatternCell{device + 1 + 10 * part, false, false}
                                                : PatternCell());
            }
        }
        out_.steps.push_back(std::move(start));
    }

    PatternStep& add(const QString& text) {
        PatternStep made;
        made.text = text;
        made.places = out_.steps.back().places;
        for (auto& own : made.places) {
            for (PatternCell& one : own) {
                one.fresh = false;
            }
        }
        out_.steps.push_back(std::move(made));
        return out_.steps.back();
    }

    /// Every device sends a part to the next one, all at once.
    template <typename Part>
    void ring(const Part& part_of, bool adds, bool done, const QString& text) {
        PatternStep& made = add(text);
        for (int device = 0; device < n_; ++device) {
            const int part = part_of(device);
            made.messages.push_back(
                {device, next(device), part, part, *cell(device, part).value, adds});
        }
        for (const PatternMessage& message : made.messages) {
            PatternCell& target = cell(message.to, message.to_row);
            target = {adds ? *target.value + message.value : message.value, true, done};
        }
    }

    /// In the end device d has the sum of part d + 1 + shift.
    void reduce(int shift, const QString& text) {
        for (int step = 0; step < n_ - 1; ++step) {
            ring([&](int device) { return turn(device - step + shift); }, true, false, text);
        }
    }

    void number() {
        const int last = out_.lastStep();
        for (int step = 1; step <= last; ++step) {
            QString& text = out_.steps[static_cast<std::size_t>(step)].text;
            text = PatternStepsText::tr("Step %1 of %2: %3.").arg(step).arg(last).arg(text);
        }
    }

    /// The steps' numbers, and what a device sent.
    Pattern finish(int parts, const QString& formula) {
        number();
        out_.steps.back().text +=
            QLatin1Char(' ') +
            PatternStepsText::tr("Each sent %1 parts, and the array has %2: %3 of its S bytes.")
                .arg(parts)
                .arg(n_)
                .arg(formula);
        return std::move(out_);
    }

    const int n_;
    Pattern out_;
};

} // namespace

Pattern communicationPattern(const std::string& kind, std::vector<int> devices,
                             std::vector<int> mesh) {
    const int most = kind == "all_to_all" ? kMostOfAllToAll : kMostPatternDevices;
    devices.resize(std::min(devices.size(), static_cast<std::size_t>(most)));
    Maker maker(std::move(devices), std::move(mesh));
    return kind == "all_reduce"       ? maker.all_reduce()
           : kind == "reduce_scatter" ? maker.reduce_scatter()
           : kind == "all_gather"     ? maker.all_gather()
           : kind == "all_to_all"     ? maker.all_to_all()
           : kind == "permute"        ? maker.permute()
           : kind == "broadcast"      ? maker.broadcast()
                                      : maker.send();
}

} // namespace weft::ui
