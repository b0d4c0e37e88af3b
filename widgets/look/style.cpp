// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/style.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style_internal.h"
#include "widgets/look/theme_controller.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QListView>
#include <QPointer>
#include <QScrollBar>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QTreeView>

namespace weft::widgets {

using namespace style_detail;

namespace {

void mark(QWidget* widget, const char* property, int value) {
    widget->setProperty(property, value);
    widget->updateGeometry();
    widget->update();
}

constexpr auto kTextStyle = "weftTextStyle";

template <typename Option>
const Option& as(const QStyleOption* option) {
    return *static_cast<const Option*>(option);
}

void drawOutline(QPainter& painter, const QRect& rect, Role fill, Role border, double radius) {
    const Theme& theme = Theme::current();
    paintSurface(painter, rect, radius, theme.color(fill), theme.color(border));
}

} // namespace

void setButtonKind(QAbstractButton* button, ButtonKind kind) {
    mark(button, "weftKind", static_cast<int>(kind));
}

void setCompact(QWidget* control, bool compact) {
    mark(control, "weftCompact", compact);
    setTextStyle(control, compact ? TextStyle::Caption : TextStyle::Body);
}

void setTextStyle(QWidget* widget, TextStyle style) {
    widget->setProperty(kTextStyle, static_cast<int>(style));
    widget->setFont(Theme::current().font(style));
}

// Who arranges its parts anew for larger text may delete some of them.
void renewFonts() {
    QList<QPointer<QWidget>> all;
    for (QWidget* widget : QApplication::allWidgets()) {
        all << widget;
    }
    for (const QPointer<QWidget>& widget : all) {
        if (widget == nullptr) {
            continue;
        }
        const QVariant style = widget->property(kTextStyle);
        if (style.isValid()) {
            widget->setFont(Theme::current().font(static_cast<TextStyle>(style.toInt())));
        } else {
            QEvent changed(QEvent::FontChange);
            QCoreApplication::sendEvent(widget, &changed);
        }
    }
}

void setDerived(QWidget* field, bool derived) {
    mark(field, "weftDerived", derived);
}

void setInvalid(QWidget* field, bool invalid) {
    mark(field, "weftInvalid", invalid);
}

void setJoined(QWidget* button, Joined joined) {
    mark(button, "weftJoined", static_cast<int>(joined));
}

Style::Style() : QProxyStyle(QStringLiteral("Fusion")) {}

void Style::polish(QWidget* widget) {
    QProxyStyle::polish(widget);
    if (qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget) ||
        qobject_cast<QAbstractSpinBox*>(widget) || qobject_cast<QAbstractSlider*>(widget) ||
        qobject_cast<QTabBar*>(widget) || qobject_cast<QHeaderView*>(widget)) {
        widget->setAttribute(Qt::WA_Hover);
    }
}

// Fusion would derive shades of its own; the theme has named them all.
void Style::polish(QPalette&) {}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option,
                       const QWidget* widget) const {
    switch (metric) {
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
    case PM_DockWidgetFrameWidth:
    case PM_MenuPanelWidth:
    case PM_MenuBarPanelWidth:
    case PM_MenuBarHMargin:
    case PM_MenuBarVMargin:
    case PM_MenuBarItemSpacing:
    case PM_ToolBarFrameWidth:
    case PM_ScrollView_ScrollBarSpacing:
    case PM_TabBarBaseOverlap:
    case PM_TabBarTabShiftVertical: return 0;
    case PM_DefaultFrameWidth:
    case PM_SplitterWidth:
    case PM_DockWidgetSeparatorExtent:
    case PM_SpinBoxFrameWidth:
    case PM_ComboBoxFrameWidth: return 1;
    case PM_MenuHMargin:
    case PM_MenuVMargin:
    case PM_ToolBarItemMargin:
    case PM_ToolBarItemSpacing: return space::kTight;
    case PM_DockWidgetTitleBarButtonMargin: return space::kTight;
    case PM_LayoutHorizontalSpacing:
    case PM_LayoutVerticalSpacing:
    case PM_CheckBoxLabelSpacing:
    case PM_RadioButtonLabelSpacing: return space::kControl;
    case PM_FocusFrameHMargin: {
        // With Qt's own pixel, text in columns lines up with the 8 px of the header above.
        const auto* tree = qobject_cast<const QTreeView*>(widget);
        const bool columns =
            qobject_cast<const QTableView*>(widget) || (tree && !tree->isHeaderHidden());
        return columns || qobject_cast<const QListView*>(widget) ? 7 : 3;
    }
    case PM_LayoutLeftMargin:
    case PM_LayoutRightMargin:
    case PM_LayoutTopMargin:
    case PM_LayoutBottomMargin: return space::kGroup;
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight: return size::kIcon;
    case PM_SmallIconSize:
    case PM_ButtonIconSize:
    case PM_ListViewIconSize:
    case PM_ToolBarIconSize:
    case PM_TabBarIconSize: return iconSide();
    case PM_ScrollBarExtent: return 10;
    case PM_ScrollBarSliderMin: return 28;
    case PM_SliderThickness:
    case PM_SliderControlThickness:
    case PM_SliderLength: return 14;
    case PM_TabBarTabHSpace: return 24;
    case PM_TabBarTabVSpace: return 12;
    case PM_HeaderMargin: return 8;
    default: return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* result) const {
    switch (hint) {
    case SH_EtchDisabledText:
    case SH_UnderlineShortcut:
    case SH_DitherDisabledText:
    case SH_ComboBox_Popup:
    case SH_ScrollBar_Transient:
    case SH_DialogButtonBox_ButtonsHaveIcons:
    case SH_ItemView_ActivateItemOnSingleClick: return 0;
    case SH_ItemView_ShowDecorationSelected:
    case SH_ScrollBar_MiddleClickAbsolutePosition:
    case SH_ToolTipLabel_Opacity: return hint == SH_ToolTipLabel_Opacity ? 255 : 1;
    case SH_Slider_AbsoluteSetButtons: return Qt::LeftButton;
    case SH_Widget_Animate:
    case SH_Widget_Animation_Duration:
        return ThemeController::reducedMotion()
                   ? 0
                   : QProxyStyle::styleHint(hint, option, widget, result);
    case SH_Table_GridLineColor:
        return static_cast<int>(Theme::current().color(Role::Hairline).rgba());
    default: return QProxyStyle::styleHint(hint, option, widget, result);
    }
}

// The buttons of a dock's title.
QIcon Style::standardIcon(StandardPixmap which, const QStyleOption* option,
                          const QWidget* widget) const {
    switch (which) {
    case SP_TitleBarNormalButton: return icon(QStringLiteral("expand"), Role::Muted);
    case SP_TitleBarCloseButton:
    case SP_DockWidgetCloseButton: return icon(QStringLiteral("close"), Role::Muted);
    // Of Qt's dialog for files.
    case SP_ArrowBack: return icon(QStringLiteral("chevron-left"));
    case SP_ArrowForward: return icon(QStringLiteral("chevron-right"));
    case SP_FileDialogToParent: return icon(QStringLiteral("chevron-up"));
    case SP_FileDialogNewFolder: return icon(QStringLiteral("plus"));
    case SP_FileDialogListView: return icon(QStringLiteral("mesh"));
    case SP_FileDialogDetailedView: return icon(QStringLiteral("runs"));
    default: return QProxyStyle::standardIcon(which, option, widget);
    }
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
                              const QWidget* widget) const {
    QSize result = QProxyStyle::sizeFromContents(type, option, contents, widget);
    switch (type) {
    case CT_PushButton: return pushButtonSize(as<QStyleOptionButton>(option), widget);
    case CT_ToolButton: return toolButtonSize(as<QStyleOptionToolButton>(option), widget);
    case CT_LineEdit:
        result.setHeight(std::max(controlHeight(widget), contents.height() + 6));
        return result;
    case CT_ComboBox:
        return {contents.width() + 44,
                std::max(controlHeight(widget), option->fontMetrics.height() + 8)};
    case CT_SpinBox:
        // Arrows, paddings, and what a line edit keeps free at both ends.
        return {contents.width() + 34,
                std::max(controlHeight(widget), option->fontMetrics.height() + 8)};
    case CT_CheckBox:
    case CT_RadioButton: result.setHeight(std::max(result.height(), 20)); return result;
    case CT_MenuItem: return menuItemSize(as<QStyleOptionMenuItem>(option), contents);
    case CT_MenuBarItem: return {contents.width() + 20, std::max(28, contents.height() + 8)};
    case CT_HeaderSection:
        return {headerSectionWidth(as<QStyleOptionHeader>(option)),
                std::max(size::kRowHeight, result.height())};
    case CT_ItemViewItem: {
        // Lines that wrap keep clear of those of the next row.
        const bool wraps = result.height() >= 2 * option->fontMetrics.height();
        const int row = static_cast<int>(size::kRowHeight * Theme::current().fontScale());
        result.setHeight(std::max(row, result.height() + (wraps ? 2 * space::kTight : 0)));
        return result;
    }
    case CT_ProgressBar: return {contents.width(), 6};
    default: return result;
    }
}

QRect Style::subControlRect(ComplexControl control, const QStyleOptionComplex* option,
                            SubControl sub, const QWidget* widget) const {
    switch (control) {
    case CC_ScrollBar: return scrollBarRect(as<QStyleOptionSlider>(option), sub);
    case CC_SpinBox: return spinBoxRect(as<QStyleOptionSpinBox>(option), sub);
    case CC_ComboBox: return comboBoxRect(as<QStyleOptionComboBox>(option), sub);
    default: return QProxyStyle::subControlRect(control, option, sub, widget);
    }
}

QRect Style::subElementRect(SubElement element, const QStyleOption* option,
                            const QWidget* widget) const {
    if (element == SE_LineEditContents) {
        return option->rect.adjusted(6, 1, -6, -1);
    }
    if (element == SE_ProgressBarContents || element == SE_ProgressBarGroove) {
        return option->rect;
    }
    return QProxyStyle::subElementRect(element, option, widget);
}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const {
    switch (element) {
    case PE_PanelLineEdit:
        if (as<QStyleOptionFrame>(option).lineWidth > 0) {
            drawField(*option, *painter, widget);
        }
        return;
    case PE_FrameLineEdit:
    case PE_FrameStatusBarItem:
    case PE_FrameTabWidget:
    case PE_PanelStatusBar:
    case PE_PanelToolBar:
    case PE_FrameDockWidget:
    case PE_IndicatorHeaderArrow: // drawn with the header's label
    case PE_FrameMenu: return;
    case PE_FrameFocusRect:
        if (showsFocus(option)) {
            paintFocus(*painter, option->rect, size::kRadius);
        }
        return;
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck: drawCheckIndicator(*option, *painter, false); return;
    case PE_IndicatorRadioButton: drawCheckIndicator(*option, *painter, true); return;
    case PE_PanelItemViewItem:
        drawItemPanel(as<QStyleOptionViewItem>(option), *painter, widget);
        return;
    case PE_PanelItemViewRow:
        if (option->state & State_Selected) {
            painter->fillRect(option->rect, Theme::current().color(Role::AccentTint));
        }
        return;
    case PE_IndicatorBranch: drawBranch(*option, *painter); return;
    case PE_PanelMenu:
    case PE_PanelTipLabel:
        drawOutline(*painter, option->rect, Role::Surface, Role::Border, 0.0);
        return;
    case PE_Frame:
    case PE_FrameGroupBox:
        paintSurface(*painter, option->rect, 0.0, {}, Theme::current().color(Role::Hairline));
        return;
    case PE_FrameTabBarBase:
        paintHairline(*painter, option->rect.bottomLeft(),
                      option->rect.bottomLeft() + QPoint(option->rect.width(), 0),
                      Theme::current().color(Role::Hairline));
        return;
    case PE_PanelButtonCommand:
        paintBevel(*painter, option->rect, buttonLook(kindOf(widget), option->state),
                   joinedOf(widget));
        return;
    default: QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void Style::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                        const QWidget* widget) const {
    const Theme& theme = Theme::current();
    switch (element) {
    case CE_PushButton: drawPushButton(as<QStyleOptionButton>(option), *painter, widget); return;
    case CE_ComboBoxLabel:
        drawComboBoxLabel(as<QStyleOptionComboBox>(option), *painter, widget);
        return;
    case CE_Header: drawHeader(as<QStyleOptionHeader>(option), *painter); return;
    case CE_HeaderEmptyArea:
        painter->fillRect(option->rect, theme.color(Role::Surface));
        paintHairline(*painter, option->rect.bottomLeft(),
                      option->rect.bottomLeft() + QPoint(option->rect.width(), 0),
                      theme.color(Role::Hairline));
        return;
    case CE_MenuItem: drawMenuItem(as<QStyleOptionMenuItem>(option), *painter); return;
    case CE_MenuBarItem: drawMenuBarItem(as<QStyleOptionMenuItem>(option), *painter); return;
    case CE_MenuBarEmptyArea:
        painter->fillRect(option->rect, theme.color(Role::Background));
        return;
    case CE_TabBarTabShape: drawTabShape(as<QStyleOptionTab>(option), *painter); return;
    case CE_TabBarTabLabel: drawTabLabel(as<QStyleOptionTab>(option), *painter); return;
    case CE_DockWidgetTitle: drawDockTitle(as<QStyleOptionDockWidget>(option), *painter); return;
    case CE_Splitter: painter->fillRect(option->rect, theme.color(Role::Hairline)); return;
    case CE_ProgressBar: drawProgressBar(as<QStyleOptionProgressBar>(option), *painter); return;
    case CE_ToolBar: painter->fillRect(option->rect, theme.color(Role::Surface)); return;
    default: QProxyStyle::drawControl(element, option, painter, widget);
    }
}

void Style::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                               QPainter* painter, const QWidget* widget) const {
    switch (control) {
    case CC_ToolButton:
        drawToolButton(as<QStyleOptionToolButton>(option), *painter, widget);
        return;
    case CC_ComboBox: drawComboBox(as<QStyleOptionComboBox>(option), *painter, widget); return;
    case CC_SpinBox: drawSpinBox(as<QStyleOptionSpinBox>(option), *painter, widget); return;
    case CC_Slider:
        if (as<QStyleOptionSlider>(option).orientation == Qt::Horizontal) {
            drawSlider(as<QStyleOptionSlider>(option), *painter);
            return;
        }
        break;
    case CC_ScrollBar:
        drawScrollBar(as<QStyleOptionSlider>(option), *painter,
                      scrollBarRect(as<QStyleOptionSlider>(option), SC_ScrollBarSlider));
        return;
    default: break;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

} // namespace weft::widgets
