// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/axis_row.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/icon_button.h"
#include "widgets/controls/short_spin_box.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/mesh/axis_chip.h"

#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include <algorithm>
#include <cstdlib>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kAxisRowMostDevices = 1 << 20; // that can be planned for
constexpr int kAxisRowDigits = 2;            // of a size, at least
constexpr int kCross = 20;
constexpr int kAxisRowGap = 6;

} // namespace

AxisRow::AxisRow(QWidget* parent) : QWidget(parent), flow_(new widgets::FlowLayout(this)) {
    setObjectName("meshAxes");
    setAcceptDrops(true);
    flow_->setContentsMargins(0, 0, 0, 0);
    flow_->setSpacing(kAxisRowGap);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    add_ = new QPushButton(widgets::icon("plus"), {}, this);
    add_->setObjectName("axisAdd");
    add_->setAccessibleName(tr("Add an axis"));
    add_->setToolTip(tr("One more axis of the mesh"));
    menu_ = new QMenu(add_);
    connect(menu_, &QMenu::aboutToShow, this, &AxisRow::fillMenu);
    add_->setMenu(menu_);
    product_ = new TextLabel({}, TextStyle::MonoSmall, Role::Muted, this);
    product_->setObjectName("meshProduct");
    product_->setToolTip(tr("Devices that the axes multiply to, of all"));
    order_ = new TextLabel({}, TextStyle::Caption, Role::Muted, this);
    order_->setObjectName("meshOrder");
}

void AxisRow::setEdit(const MeshEdit& edit) {
    edit_ = edit;
    std::vector<std::string> names;
    for (const MeshAxis& axis : edit_.axes) {
        names.push_back(axis.name);
    }
    if (names == shown_) {
        renewSizes(); // a size that is being typed stays in its box
    } else {
        shown_ = std::move(names);
        rebuild();
    }
    describe();
    arrange();
}

void AxisRow::renewSizes() {
    for (std::size_t i = 0; i < chips_.size(); ++i) {
        auto* box = chips_[i]->findChild<QSpinBox*>();
        const QSignalBlocker quiet(box);
        box->setValue(edit_.axes[i].size);
    }
}

void AxisRow::rebuild() {
    const widgets::KeptFocus focus(*this);
    while (QLayoutItem* item = flow_->takeAt(0)) {
        delete item;
    }
    for (std::vector<QWidget*>* old : {&chips_, &signs_}) {
        for (QWidget* widget : *old) {
            widget->setParent(nullptr);
            widget->deleteLater(); // the edit may come from one of its buttons
        }
        old->clear();
    }
    signs_.push_back(new TextLabel(tr("Axes"), TextStyle::Caption, Role::Muted));
    flow_->addWidget(signs_.back());
    for (std::size_t i = 0; i < edit_.axes.size(); ++i) {
        if (i > 0) {
            signs_.push_back(new TextLabel(QStringLiteral("×"), TextStyle::Body, Role::Muted));
            flow_->addWidget(signs_.back());
        }
        chips_.push_back(createChip(i));
        flow_->addWidget(chips_.back());
    }
    flow_->addWidget(add_);
    flow_->addWidget(product_);
    flow_->addWidget(order_);
    add_->raise(); // as a child it comes behind the chips
    focus.giveBack(add_);
}

QWidget* AxisRow::createChip(std::size_t axis) {
    const MeshAxis& own = edit_.axes[axis];
    const QString name = toQString(own.name);
    auto* chip = new widgets::Card;
    chip->setObjectName("axis_" + name);
    auto* row = new QHBoxLayout(chip);
    row->setContentsMargins(2, 1, 1, 1);
    row->setSpacing(2);
    auto* grip = new widgets::AxisGrip(name, chip);
    grip->setObjectName("axisGrip_" + name);
    connect(grip, &widgets::AxisGrip::moveRequested, this,
            [this, axis](int step) { move(axis, step); });
    connect(grip, &widgets::AxisGrip::removeRequested, this, [this, axis] { remove(axis); });
    row->addWidget(grip);
    auto* size = new widgets::ShortSpinBox(kAxisRowDigits);
    size->setObjectName("axisSize_" + name);
    size->setAccessibleName(tr("Size of axis %1").arg(name));
    size->setRange(1, kAxisRowMostDevices);
    size->setKeyboardTracking(false);
    size->setFrame(false);
    size->setValue(own.size);
    connect(size, &QSpinBox::valueChanged, this,
            [this, axis](int value) { emit edited(withAxisSize(edit_, axis, value)); });
    row->addWidget(size);
    if (edit_.axes.size() > 1) {
        QPushButton* cross =
            widgets::iconButton("close", "axisRemove_" + name, tr("Remove axis %1").arg(name));
        cross->setIcon(widgets::icon("close", Role::Muted));
        cross->setToolTip(tr("Remove %1: its devices go to the first axis").arg(name));
        cross->setFixedWidth(kCross);
        connect(cross, &QPushButton::clicked, this, [this, axis] { remove(axis); });
        row->addWidget(cross);
    }
    return chip;
}

void AxisRow::move(std::size_t axis, int step) {
    const auto to = static_cast<std::ptrdiff_t>(axis) + step;
    if (to >= 0 && to < static_cast<std::ptrdiff_t>(edit_.axes.size())) {
        emit edited(withAxisMoved(edit_, axis, static_cast<std::size_t>(to)));
    }
}

void AxisRow::remove(std::size_t axis) {
    if (edit_.axes.size() > 1) {
        emit edited(withAxisRemoved(edit_, axis));
    }
}

void AxisRow::fillMenu() {
    menu_->clear();
    for (const AxisOffer& offer : axisOffers()) {
        if (axisNameProblem(edit_, offer.name).empty()) {
            QAction* action = menu_->addAction(
                tr("%1: splits %2").arg(toQString(offer.name), toQString(offer.splits)));
            action->setObjectName("axisAdd_" + toQString(offer.name));
            connect(action, &QAction::triggered, this, [this, name = offer.name] { add(name); });
        }
    }
    menu_->addSeparator();
    QAction* own = menu_->addAction(tr("A name of your own…"));
    own->setObjectName("axisAdd_own");
    connect(own, &QAction::triggered, this, &AxisRow::askName);
}

void AxisRow::add(const std::string& name) {
    emit edited(withAxisAdded(edit_, name));
}

void AxisRow::askName() {
    auto* dialog = new QInputDialog(this);
    dialog->setObjectName("axisName");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Add an axis"));
    const QString words = tr("Its name. Rules and overrides can then split something over it.");
    dialog->setLabelText(words);
    connect(dialog, &QInputDialog::textValueChanged, this,
            [this, dialog, words](const QString& name) {
                const std::string wrong = axisNameProblem(edit_, name.toStdString());
                dialog->setLabelText(wrong.empty() || name.isEmpty() ? words : toQString(wrong));
            });
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& name) {
        if (axisNameProblem(edit_, name.toStdString()).empty()) {
            add(name.toStdString());
        }
    });
    dialog->open();
}

void AxisRow::describe() {
    int product = 1;
    for (const MeshAxis& axis : edit_.axes) {
        product *= axis.size;
    }
    product_->setText(
        tr("= %1 of %2").arg(widgets::formatCount(product), widgets::formatCount(edit_.devices)));
    const auto last = std::find_if(edit_.axes.rbegin(), edit_.axes.rend(),
                                   [](const MeshAxis& axis) { return axis.size > 1; });
    order_->setText(
        edit_.axes.size() > 1 && last != edit_.axes.rend()
            ? tr("left is major: %1 partners sit side by side").arg(toQString(last->name))
            : QString());
}

void AxisRow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

// What the order means stands there only where there is room for it. Nothing is shown for trying:
// that would lay the page out in between.
void AxisRow::arrange() {
    const int words = order_->sizeHint().width() + flow_->spacing();
    const int others = flow_->sizeHint().width() - (order_->isHidden() ? 0 : words);
    order_->setVisible(!order_->text().isEmpty() && others + words <= width());
    updateGeometry();
}

QSize AxisRow::sizeHint() const {
    const int words = order_->isHidden() ? 0 : order_->sizeHint().width() + flow_->spacing();
    return flow_->sizeHint() - QSize(words, 0);
}

QString AxisRow::orderText() const {
    return order_->text();
}

int AxisRow::placeAt(const QPoint& point) const {
    int best = 0;
    int nearest = -1;
    for (int place = 0; place <= static_cast<int>(chips_.size()); ++place) {
        const bool last = place == static_cast<int>(chips_.size());
        const QRect chip = chips_[static_cast<std::size_t>(last ? place - 1 : place)]->geometry();
        const QPoint at(last != isRightToLeft() ? chip.right() : chip.left(), chip.center().y());
        const int distance = (at - point).manhattanLength();
        if (nearest < 0 || distance < nearest) {
            nearest = distance;
            best = place;
        }
    }
    return best;
}

void AxisRow::dragEnterEvent(QDragEnterEvent* event) {
    const std::string name = widgets::axisOf(event->mimeData()).toStdString();
    if (std::find(shown_.begin(), shown_.end(), name) != shown_.end()) {
        event->acceptProposedAction();
    }
}

void AxisRow::dragMoveEvent(QDragMoveEvent* event) {
    drop_ = placeAt(event->position().toPoint());
    event->acceptProposedAction();
    update();
}

void AxisRow::dragLeaveEvent(QDragLeaveEvent*) {
    drop_ = -1;
    update();
}

void AxisRow::dropEvent(QDropEvent* event) {
    const std::string name = widgets::axisOf(event->mimeData()).toStdString();
    const auto from = std::find(shown_.begin(), shown_.end(), name) - shown_.begin();
    const int place = placeAt(event->position().toPoint());
    drop_ = -1;
    update();
    event->acceptProposedAction();
    const auto to = place > from ? place - 1 : place; // it leaves its own place first
    if (from < static_cast<std::ptrdiff_t>(shown_.size()) && to != from) {
        emit edited(
            withAxisMoved(edit_, static_cast<std::size_t>(from), static_cast<std::size_t>(to)));
    }
}

void AxisRow::paintEvent(QPaintEvent*) {
    if (drop_ < 0) {
        return;
    }
    QPainter painter(this);
    const bool last = drop_ == static_cast<int>(chips_.size());
    const QRect chip = chips_[static_cast<std::size_t>(last ? drop_ - 1 : drop_)]->geometry();
    const int x = last != isRightToLeft() ? chip.right() + 3 : chip.left() - 4;
    painter.fillRect(QRect(x, chip.top(), 2, chip.height()),
                     widgets::Theme::current().color(Role::Accent));
}

} // namespace weft::ui
