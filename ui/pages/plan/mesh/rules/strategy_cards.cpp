// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/strategy_cards.h"

#include "core/sharding/strategies/strategy_list.h"
#include "ui/bridge/convert.h"
#include "widgets/look/painting.h"

#include <QCoreApplication>
#include <QKeyEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;
using widgets::Theme;

constexpr double kPicture = 26;

int scaled(int length) {
    return static_cast<int>(length * Theme::current().fontScale());
}
int cardHeight() {
    return scaled(44);
}
int leastWidth() {
    return scaled(118);
}

struct Words {
    QString title, remark;
};

/// Names and remarks of the cards; strategies without an entry show their own name.
Words wordsOf(const std::string& strategy) {
    const auto translated = [](const char* text) {
        return QCoreApplication::translate("StrategyCards", text);
    };
    static const std::vector<std::tuple<const char*, const char*, const char*>> kWords = {
        {"replicated", QT_TRANSLATE_NOOP("StrategyCards", "Replicated"),
         QT_TRANSLATE_NOOP("StrategyCards", "baseline")},
        {"data_parallel", QT_TRANSLATE_NOOP("StrategyCards", "Data"),
         QT_TRANSLATE_NOOP("StrategyCards", "more samples")},
        {"fsdp", QT_TRANSLATE_NOOP("StrategyCards", "FSDP"),
         QT_TRANSLATE_NOOP("StrategyCards", "ZeRO 3, all split")},
        {"hybrid_fsdp", QT_TRANSLATE_NOOP("StrategyCards", "Hybrid"),
         QT_TRANSLATE_NOOP("StrategyCards", "FSDP in groups")},
        {"tensor_parallel", QT_TRANSLATE_NOOP("StrategyCards", "Model"),
         QT_TRANSLATE_NOOP("StrategyCards", "wide layers")},
        {"2d", QT_TRANSLATE_NOOP("StrategyCards", "2D"),
         QT_TRANSLATE_NOOP("StrategyCards", "data × model")},
        {"pipeline", QT_TRANSLATE_NOOP("StrategyCards", "Pipeline"),
         QT_TRANSLATE_NOOP("StrategyCards", "deep models")},
        {"3d", QT_TRANSLATE_NOOP("StrategyCards", "3D"),
         QT_TRANSLATE_NOOP("StrategyCards", "many hosts")},
        {"context_parallel", QT_TRANSLATE_NOOP("StrategyCards", "Context"),
         QT_TRANSLATE_NOOP("StrategyCards", "long inputs")},
        {"expert_parallel", QT_TRANSLATE_NOOP("StrategyCards", "Expert"),
         QT_TRANSLATE_NOOP("StrategyCards", "mixtures")},
        {"custom", QT_TRANSLATE_NOOP("StrategyCards", "Custom"),
         QT_TRANSLATE_NOOP("StrategyCards", "your rules")},
    };
    for (const auto& [name, title, remark] : kWords) {
        if (strategy == name) {
            return {translated(title), translated(remark)};
        }
    }
    return {toQString(strategy), {}};
}

/// Those that few choose have a card only while they are chosen.
bool isRare(const std::string& strategy) {
    return strategy == "hybrid_fsdp" || strategy == "custom";
}

/// Blocks of a picture: which device's colour fills which part of the unit square.
struct Block {
    QRectF area;
    int device;
    bool faint = false;
};

std::vector<Block> pictureOf(const std::string& strategy) {
    std::vector<Block> out;
    const auto rows = [&](int count, double indent) {
        for (int i = 0; i < count; ++i) {
            out.push_back(
                {{i * indent, double(i) / count, 1 - (count - 1) * indent, 0.8 / count}, i});
        }
    };
    const auto columns = [&](double top, double height) {
        for (int i = 0; i < 4; ++i) {
            out.push_back({{i / 4.0, top, 0.19, height}, i});
        }
    };
    const auto quarters = [&](double gap) {
        for (int i = 0; i < 4; ++i) {
            out.push_back({{(i % 2) * 0.5, (i / 2) * 0.5, 0.5 - gap, 0.5 - gap}, i});
        }
    };
    if (strategy == "replicated" || strategy == "custom") {
        quarters(0.06);
        for (Block& block : out) {
            block.device = strategy == "replicated" ? -1 : block.device;
            block.faint = strategy == "custom" && block.device % 2 == 1;
        }
    } else if (strategy == "data_parallel") {
        rows(4, 0);
    } else if (strategy == "fsdp" || strategy == "hybrid_fsdp") {
        quarters(0.06);
        for (int i = 0; i < 4; ++i) {
            out[static_cast<std::size_t>(i)].faint = true;
            const QRectF own = out[static_cast<std::size_t>(i)].area;
            const int device = strategy == "fsdp" ? i : i % 2;
            out.push_back({{own.left(), own.top(), own.width(), own.height() / 2}, device});
        }
    } else if (strategy == "tensor_parallel") {
        columns(0, 1);
    } else if (strategy == "2d") {
        quarters(0.06);
    } else if (strategy == "pipeline") {
        rows(4, 0.15);
    } else if (strategy == "3d") {
        quarters(0.12);
        for (int i = 0; i < 4; ++i) {
            const QRectF own = out[static_cast<std::size_t>(i)].area;
            out.insert(out.begin(), {own.translated(0.1, 0.1), i, true});
        }
    } else if (strategy == "context_parallel") {
        columns(0.25, 0.5);
    } else {
        columns(0.7, 0.3);
        out.push_back({{0.38, 0, 0.24, 0.3}, -1});
        out.push_back({{0.08, 0.42, 0.84, 0.1}, -1, true});
    }
    return out;
}

void paintPicture(QPainter& painter, const QRectF& rect, const std::string& strategy) {
    const Theme& theme = Theme::current();
    for (const Block& block : pictureOf(strategy)) {
        const QColor color =
            block.device < 0 ? theme.color(Role::Muted) : theme.series(block.device);
        const QRectF area(rect.left() + block.area.left() * rect.width(),
                          rect.top() + block.area.top() * rect.height(),
                          block.area.width() * rect.width(), block.area.height() * rect.height());
        widgets::paintSurface(painter, area, 1.5,
                              block.faint ? widgets::mixed(color, theme.color(Role::Surface), 0.35)
                                          : color,
                              QColor());
    }
}

} // namespace

StrategyCard::StrategyCard(std::string strategy, const QString& title, const QString& remark,
                           const QString& help, QWidget* parent)
    : QAbstractButton(parent), strategy_(std::move(strategy)), remark_(remark) {
    setText(title);
    setObjectName("strategy_" + toQString(strategy_));
    setCheckable(true);
    setAutoExclusive(true);
    setFocusPolicy(Qt::StrongFocus);
    setToolTip(help);
    setAccessibleName(title);
    setAccessibleDescription(help);
    setCursor(Qt::PointingHandCursor);
}

void StrategyCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::current();
    const QRectF box(rect());
    const Role fill = isChecked() ? Role::AccentTint : underMouse() ? Role::Inset : Role::Surface;
    widgets::paintSurface(painter, box, widgets::size::kCardRadius, theme.color(fill),
                          theme.color(isChecked() ? Role::Accent : Role::Border));
    const QRectF picture(box.left() + widgets::space::kControl, box.center().y() - kPicture / 2,
                         kPicture, kPicture);
    paintPicture(painter, picture, strategy_);
    const QRectF words =
        box.adjusted(widgets::space::kControl + kPicture + widgets::space::kControl,
                     widgets::space::kTight, -widgets::space::kTight, -widgets::space::kTight);
    const QRectF upper(words.left(), words.top(), words.width(), words.height() / 2);
    widgets::paintText(painter, upper, Qt::AlignLeft | Qt::AlignVCenter, text(),
                       theme.font(TextStyle::Strong),
                       theme.color(isChecked() ? Role::Accent : Role::Text));
    widgets::paintText(painter, upper.translated(0, upper.height()),
                       Qt::AlignLeft | Qt::AlignVCenter, remark_, theme.font(TextStyle::Caption),
                       theme.color(Role::Muted));
    if (hasFocus()) {
        widgets::paintFocus(painter, box, widgets::size::kCardRadius);
    }
}

void StrategyCard::changeEvent(QEvent* event) {
    QAbstractButton::changeEvent(event);
    update();
}

void StrategyCard::enterEvent(QEnterEvent* event) {
    QAbstractButton::enterEvent(event);
    update();
}

void StrategyCard::leaveEvent(QEvent* event) {
    QAbstractButton::leaveEvent(event);
    update();
}

StrategyCards::StrategyCards(QWidget* parent) : QWidget(parent) {
    setObjectName("strategyCards");
    for (const sharding::StrategyDef* def : sharding::all_strategies()) {
        const std::string name(def->name);
        const Words words = wordsOf(name);
        auto* card = new StrategyCard(
            name, words.title, words.remark,
            toQString(std::string(def->help)) + "\n" + toQString(std::string(def->when)), this);
        card->installEventFilter(this);
        connect(card, &QAbstractButton::clicked, this, [this, name] { emit strategyChosen(name); });
        cards_.push_back(card);
    }
    setStrategy({});
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void StrategyCards::setStrategy(const std::string& strategy) {
    shown_.clear();
    for (StrategyCard* card : cards_) {
        const bool own = card->strategy() == strategy;
        const bool shown = own || !isRare(card->strategy());
        card->setChecked(own);
        // Tab leads to the chosen one, arrows to the others.
        card->setFocusPolicy(own || strategy.empty() ? Qt::StrongFocus : Qt::ClickFocus);
        card->setVisible(shown);
        if (shown) {
            shown_.push_back(card);
        }
    }
    arrange();
    updateGeometry();
}

int StrategyCards::columnsIn(int width) const {
    const int gap = widgets::space::kControl;
    const int count = static_cast<int>(shown_.size());
    const int room = std::clamp((width + gap) / (leastWidth() + gap), 1, count);
    const int rows = (count + room - 1) / room;
    return (count + rows - 1) / rows; // rows as even as they can be
}

int StrategyCards::heightForWidth(int width) const {
    const int columns = columnsIn(width);
    const int rows = (static_cast<int>(shown_.size()) + columns - 1) / columns;
    return rows * cardHeight() + (rows - 1) * widgets::space::kControl;
}

void StrategyCards::resizeEvent(QResizeEvent*) {
    arrange();
}

void StrategyCards::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        updateGeometry();
        arrange();
    }
}

void StrategyCards::arrange() {
    const int gap = widgets::space::kControl;
    const int columns = columnsIn(width());
    const int card = (width() - (columns - 1) * gap) / columns;
    const int height = cardHeight();
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        const int column = static_cast<int>(i) % columns;
        const int row = static_cast<int>(i) / columns;
        shown_[i]->setGeometry(column * (card + gap), row * (height + gap), card, height);
    }
}

bool StrategyCards::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Right || key == Qt::Key_Down ? 1
                         : key == Qt::Key_Left || key == Qt::Key_Up  ? -1
                                                                     : 0;
        const auto found = std::find(shown_.begin(), shown_.end(), watched);
        const auto next = (found - shown_.begin()) + step;
        if (step != 0 && next >= 0 && next < static_cast<std::ptrdiff_t>(shown_.size())) {
            shown_[static_cast<std::size_t>(next)]->setFocus(Qt::TabFocusReason);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

StrategyBox::StrategyBox(QWidget* parent) : QComboBox(parent) {
    setObjectName("meshStrategy");
    setAccessibleName(tr("Strategy"));
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
    fill();
    connect(this, &QComboBox::activated, this,
            [this](int index) { emit strategyChosen(itemData(index).toString().toStdString()); });
}

void StrategyBox::setStrategy(const std::string& strategy) {
    if (strategy != strategy_) {
        strategy_ = strategy;
        fill();
    }
}

void StrategyBox::fill() {
    clear();
    for (const sharding::StrategyDef* def : sharding::all_strategies()) {
        const std::string name(def->name);
        if (name != strategy_ && isRare(name)) {
            continue;
        }
        QPixmap picture(QSize(widgets::size::kIcon, widgets::size::kIcon) * devicePixelRatioF());
        picture.setDevicePixelRatio(devicePixelRatioF());
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        painter.setRenderHint(QPainter::Antialiasing);
        paintPicture(painter, QRectF(0, 0, widgets::size::kIcon, widgets::size::kIcon), name);
        painter.end();
        const Words words = wordsOf(name);
        addItem(picture, words.title, toQString(name));
        setItemData(count() - 1, words.remark, Qt::ToolTipRole);
    }
    setCurrentIndex(findData(toQString(strategy_)));
    setToolTip(tr("Strategy: %1").arg(wordsOf(strategy_).remark));
}

void StrategyBox::changeEvent(QEvent* event) {
    QComboBox::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) { // pictures have the colours of the theme
        fill();
    }
}

} // namespace weft::ui
