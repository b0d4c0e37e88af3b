// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/weft_test.h"
#include "widgets/controls/card.h"
#include "widgets/controls/command_palette.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/nav_rail.h"
#include "widgets/controls/number_strip.h"
#include "widgets/controls/phase_list.h"
#include "widgets/controls/pill.h"
#include "widgets/curves/checkpoint_timeline.h"
#include "widgets/look/icon.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/memory_bar.h"

#include <QAccessible>
#include <QAction>
#include <QHeaderView>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <QPointer>
#include <QScrollBar>
#include <QTableWidget>

using namespace weft::widgets;

class WidgetsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }

    void digits_of_a_counting_number_do_not_move() {
        NumberStrip strip(5);
        strip.resize(1200, strip.sizeHint().height());
        strip.setValue(0, QStringLiteral("1,111"), {});
        const std::vector<QRectF> narrow = strip.characterCells(0);
        strip.setValue(0, QStringLiteral("8,408"), {});
        QCOMPARE(strip.characterCells(0), narrow);
        // All digit cells are equal; the comma's is its own.
        QCOMPARE(narrow[0].width(), narrow[4].width());
        QVERIFY(narrow[1].width() < narrow[0].width());
    }

    void a_title_of_numbers_ends_where_they_do_also_where_it_is_sorted_by() {
        QTableWidget table(1, 1);
        auto* title = new QTableWidgetItem(QStringLiteral("size"));
        title->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        table.setHorizontalHeaderItem(0, title);
        QHeaderView* header = table.horizontalHeader();
        table.show();
        // Columns with something on them, without the line below.
        const auto ink = [header] {
            const QImage image = header->grab().toImage();
            std::pair<int, int> ends{image.width(), -1};
            const int right = header->sectionSize(0);
            for (int x = 0; x < right; ++x) {
                for (int y = 0; y + 3 < image.height(); ++y) {
                    if (image.pixelColor(x, y) != Theme::current().color(Role::Surface)) {
                        ends = {std::min(ends.first, x), x};
                    }
                }
            }
            return ends;
        };
        const auto [plain_left, plain_right] = ink();
        QVERIFY(plain_right > plain_left);
        header->setSortIndicatorShown(true);
        header->setSortIndicator(0, Qt::AscendingOrder);
        const auto [left, right] = ink();
        QCOMPARE(right, plain_right);
        QVERIFY(left < plain_left - 8); // the arrow
        // It fits into what it asks for.
        header->resizeSection(0, header->sectionSizeHint(0));
        const auto [fitted_left, fitted_right] = ink();
        QCOMPARE(fitted_right - fitted_left, right - left);
    }

    void numbers_of_the_strip_stay_in_their_cells_at_every_text_size() {
        for (const double scale : {1.0, 1.5}) {
            controller_->setFontScale(scale);
            NumberStrip strip(5);
            strip.resize(976, strip.sizeHint().height());
            strip.setValue(4, QStringLiteral("5 m 26 s"), {});
            QVERIFY(strip.characterCells(4).back().right() <= strip.width());
        }
        controller_->setFontScale(1.0);
    }

    void the_number_strip_shows_its_lines_inside_its_height() {
        NumberStrip strip(5);
        strip.resize(1200, strip.sizeHint().height());
        const std::vector<QRectF> cells = [&] {
            strip.setValue(0, QStringLiteral("8"), QStringLiteral("sub"));
            return strip.characterCells(0);
        }();
        QVERIFY(cells[0].top() >= 12.0);
        const QFontMetrics caption(Theme::current().font(TextStyle::Caption));
        QVERIFY(strip.height() >= cells[0].bottom() + caption.height() - 8.0);
    }

    void the_rail_walks_with_keys_and_says_its_states() {
        NavRail rail;
        rail.addPage(QStringLiteral("home"), QStringLiteral("Home"));
        rail.addPage(QStringLiteral("data"), QStringLiteral("Data"));
        rail.addPage(QStringLiteral("train"), QStringLiteral("Train"));
        rail.show();
        auto* list = rail.findChild<QListWidget*>(QStringLiteral("navRailList"));
        QSignalSpy spy(&rail, &NavRail::currentPageChanged);
        QTest::keyClick(list, Qt::Key_Down);
        QCOMPARE(rail.currentPage(), 1);
        QTest::keyClick(list, Qt::Key_End);
        QCOMPARE(rail.currentPage(), 2);
        QCOMPARE(spy.count(), 2);
        rail.setPageState(1, NavState::Warning);
        QCOMPARE(list->item(1)->data(Qt::AccessibleTextRole).toString(),
                 QStringLiteral("Data, has warnings"));
        rail.setCollapsed(true);
        QCOMPARE(rail.width(), 48);
        rail.setCollapsed(false);
        QCOMPARE(rail.width(), 160);
    }

    void all_pages_of_a_low_rail_are_seen() {
        NavRail rail;
        for (int i = 0; i < 10; ++i) {
            rail.addPage(QStringLiteral("home"), QString("Page %1").arg(i));
        }
        auto* list = rail.findChild<QListWidget*>(QStringLiteral("navRailList"));
        rail.resize(160, 600);
        rail.show();
        QTRY_COMPARE(list->visualItemRect(list->item(9)).height(), 36);
        rail.resize(160, 370);
        QTRY_VERIFY(list->visualItemRect(list->item(0)).height() < 36);
        QTRY_VERIFY(list->viewport()->rect().contains(list->visualItemRect(list->item(9))));
        QCOMPARE(list->verticalScrollBar()->maximum(), 0);
        rail.resize(160, 200); // icons are no smaller than that
        QTRY_COMPARE(list->visualItemRect(list->item(0)).height(), 28);
        QVERIFY(list->verticalScrollBar()->maximum() > 0);
    }

    void segments_that_are_hidden_are_as_if_they_were_not_there() {
        SegmentedControl two({QStringLiteral("Curves"), QStringLiteral("Boards")});
        SegmentedControl three(
            {QStringLiteral("Curves"), QStringLiteral("Boards"), QStringLiteral("Failure")});
        three.setSegmentVisible(2, false);
        two.show();
        three.show();
        three.resize(two.size());
        QTRY_COMPARE(three.grab().toImage(), two.grab().toImage()); // with its last border
        three.setCurrentIndex(1);
        QTest::keyClick(three.findChildren<QPushButton*>().at(1), Qt::Key_Right);
        QCOMPARE(three.currentIndex(), 1);
        three.setSegmentVisible(2, true);
        QTest::keyClick(three.findChildren<QPushButton*>().at(1), Qt::Key_Right);
        QCOMPARE(three.currentIndex(), 2);
    }

    void segments_are_exclusive_and_skip_disabled_ones() {
        SegmentedControl control(
            {QStringLiteral("f32"), QStringLiteral("bf16"), QStringLiteral("f16")});
        control.show();
        QCOMPARE(control.currentIndex(), 0);
        control.setSegmentEnabled(1, false, QStringLiteral("not here"));
        QSignalSpy spy(&control, &SegmentedControl::currentIndexChanged);
        QTest::keyClick(control.findChildren<QPushButton*>().first(), Qt::Key_Right);
        QCOMPARE(control.currentIndex(), 2);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(spy.first().first().toInt(), 2);
    }

    void a_split_button_triggers_by_its_left_part() {
        SplitButton split(QStringLiteral("Stop"));
        split.addAction(QStringLiteral("Stop now"));
        QSignalSpy spy(&split, &SplitButton::clicked);
        QTest::mouseClick(split.button(), Qt::LeftButton);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(split.menu()->actions().size(), 1);
        split.setEnabledWithReason(false, QStringLiteral("Nothing runs"));
        QCOMPARE(split.button()->toolTip(), QStringLiteral("Nothing runs"));
        QTest::mouseClick(split.button(), Qt::LeftButton);
        QCOMPARE(spy.count(), 1);
    }

    void controls_are_28_pixels_high_and_compact_ones_24() {
        QPushButton normal(QStringLiteral("Normal"));
        normal.ensurePolished();
        QCOMPARE(normal.sizeHint().height(), 28);
        setCompact(&normal);
        QCOMPARE(normal.sizeHint().height(), 24);
        QLineEdit edit;
        edit.ensurePolished();
        QCOMPARE(edit.sizeHint().height(), 28);
    }

    void icons_grow_with_the_text_beside_them() {
        QPushButton words(icon(QStringLiteral("export")), QStringLiteral("Export"));
        QPushButton alone(icon(QStringLiteral("export")), {});
        words.ensurePolished();
        alone.ensurePolished();
        QCOMPARE(words.iconSize(), QSize(size::kIcon, size::kIcon));
        const QSize box = alone.sizeHint();
        controller_->setFontScale(1.5);
        QVERIFY(words.iconSize().width() > size::kIcon);
        // One without words needs no more room, and has it.
        QCOMPARE(alone.sizeHint(), box);
        QVERIFY(alone.iconSize().width() < box.width());
        controller_->setFontScale(1.0);
    }

    void every_state_has_a_text_of_its_own() {
        QSet<QString> texts;
        for (int i = 0; i <= static_cast<int>(RunState::Failed); ++i) {
            texts.insert(runStateText(static_cast<RunState>(i)));
        }
        QCOMPARE(texts.size(), 9);
        StatePill pill;
        pill.setState(RunState::Saving, QStringLiteral("writing checkpoint 42 %"));
        QCOMPARE(pill.accessibleName(), QStringLiteral("Saving, writing checkpoint 42 %"));
    }

    void timeline_is_walked_by_keys_and_clicked() {
        CheckpointTimeline timeline;
        timeline.resize(600, 32);
        timeline.setRange(0, 3000);
        timeline.setCheckpoints({{1000, true, false, false, {}},
                                 {2000, false, false, false, {}},
                                 {3000, true, true, false, {}}});
        timeline.show();
        QSignalSpy spy(&timeline, &CheckpointTimeline::selectionChanged);
        QTest::keyClick(&timeline, Qt::Key_Right);
        QCOMPARE(timeline.selected(), 0);
        QTest::keyClick(&timeline, Qt::Key_End);
        QCOMPARE(timeline.selected(), 2);
        QTest::mouseClick(&timeline, Qt::LeftButton, {},
                          timeline.item(1).rect.center().toPoint());
        QCOMPARE(timeline.selected(), 1);
        QCOMPARE(spy.count(), 3);
    }

    void painted_items_are_children_for_assistive_tools() {
        CheckpointTimeline timeline;
        timeline.resize(600, 32);
        timeline.setRange(0, 3000);
        timeline.setCheckpoints({{1000, true, false, false, {}}, {3000, true, true, false, {}}});
        QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&timeline);
        QVERIFY(interface);
        QCOMPARE(interface->childCount(), 2);
        QCOMPARE(interface->child(1)->text(QAccessible::Name),
                 QStringLiteral("step 3,000, best"));
        QCOMPARE(interface->indexOfChild(interface->child(1)), 1);
    }

    void image_grid_moves_by_rows_and_names_what_is_wrong() {
        ImageGrid grid;
        grid.setColumns(4);
        grid.resize(400, 400);
        std::vector<GridImage> images(8);
        images[5] = {{}, QStringLiteral("Coat"), QStringLiteral("0.49"),
                     QStringLiteral("is Pullover"), true};
        grid.setImages(images);
        grid.show();
        grid.setCursorItem(1);
        QTest::keyClick(&grid, Qt::Key_Down);
        QCOMPARE(grid.cursorItem(), 5);
        QVERIFY(grid.item(5).name.contains(QStringLiteral("is Pullover")));
        QSignalSpy spy(&grid, &PaintedView::itemActivated);
        QTest::keyClick(&grid, Qt::Key_Return);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(grid.hitTest(grid.item(2).rect.center()), 2);
    }

    void rows_of_pictures_stay_where_they_are_when_one_gets_a_note() {
        ImageGrid grid;
        grid.setColumns(2);
        grid.setNotesExpected(true);
        grid.resize(300, 400);
        std::vector<GridImage> images(4);
        grid.setImages(images);
        const QRectF before = grid.item(2).rect;
        images[0].note = QStringLiteral("is Shirt");
        grid.setImages(images);
        QCOMPARE(grid.item(2).rect, before);
    }

    void float_images_are_scaled_and_bounded() {
        const std::vector<float> pixels{-1.0f, 0.0f, 1.0f, 5.0f};
        const QImage image = imageFromFloats(pixels, 2, 2, 1, 0.0f, 1.0f);
        QCOMPARE(qGray(image.pixel(0, 0)), 0);
        QCOMPARE(qGray(image.pixel(0, 1)), 255);
        QCOMPARE(qGray(image.pixel(1, 1)), 255);
    }

    void memory_segments_keep_the_one_order_and_sum_up() {
        MemoryBar bar;
        bar.resize(600, 80);
        bar.setMeasured({{MemoryCategory::Activations, 300}, {MemoryCategory::Parameters, 100},
                         {MemoryCategory::Batch, 0}});
        QCOMPARE(bar.measuredBytes(), qint64{400});
        QCOMPARE(bar.itemCount(), 2);
        const QRectF first = bar.item(0).rect;
        const QRectF second = bar.item(1).rect;
        QVERIFY(bar.item(0).name.contains(QStringLiteral("Parameters")));
        QCOMPARE(first.right(), second.left());
        // Edges are rounded to pixels.
        QVERIFY(std::abs(second.width() - 3.0 * first.width()) <= 3.0);
    }

    void figures_of_a_bar_share_its_unit() {
        constexpr qint64 kMiB = 1LL << 20;
        MemoryBar bar;
        bar.resize(600, 80);
        bar.setMeasured({{MemoryCategory::Parameters, 3072 * kMiB},
                         {MemoryCategory::Batch, 20 * kMiB},
                         {MemoryCategory::Workspace, 1}});
        QVERIFY(bar.item(0).name.endsWith(QStringLiteral("3.0 GiB")));
        QVERIFY(bar.item(1).name.endsWith(QStringLiteral("0.02 GiB")));
        QVERIFY(bar.item(2).name.endsWith(QStringLiteral("< 0.01 GiB")));
    }

    void a_total_stands_clear_of_the_mark_of_the_limit() {
        constexpr qint64 kGiB = 1LL << 30;
        MemoryBar bar;
        bar.setLegendVisible(false);
        bar.setMeasured({{MemoryCategory::Parameters, 103 * kGiB}});
        for (int limit = 106; limit < 160; ++limit) {
            bar.setLimit(limit * kGiB);
            bar.resize(300, bar.heightForWidth(300));
            QImage image(bar.size(), QImage::Format_RGB32);
            image.fill(Qt::white);
            bar.render(&image, {}, {}, QWidget::DrawChildren);
            const auto ink = [&](int x) { // how many pixels of a column are not blank
                int count = 0;
                for (int y = 0; y < image.height(); ++y) {
                    count += image.pixel(x, y) != image.pixel(image.width() - 1, 0) ? 1 : 0;
                }
                return count;
            };
            int mark = image.width() - 1;
            while (mark > 0 && ink(mark) < image.height()) {
                --mark;
            }
            QVERIFY2(mark > 0, qPrintable(QString::number(limit)));
            QVERIFY2(ink(mark + 1) == 0 || ink(mark + 2) == 0, qPrintable(QString::number(limit)));
            QVERIFY2(ink(mark - 2) == 0, qPrintable(QString::number(limit)));
        }
    }

    void a_total_over_the_limit_stands_behind_the_bar() {
        constexpr qint64 kGiB = 1LL << 30;
        MemoryBar bar;
        bar.setLegendVisible(false);
        bar.setMeasured({{MemoryCategory::Parameters, 258 * kGiB}});
        bar.setLimit(18 * kGiB);
        bar.resize(300, bar.heightForWidth(300));
        QImage image(bar.size(), QImage::Format_RGB32);
        image.fill(Qt::white);
        bar.render(&image, {}, {}, QWidget::DrawChildren);
        const int end = static_cast<int>(std::ceil(bar.item(0).rect.right()));
        for (int x = end + 1; x < end + 8; ++x) {
            for (int y = 0; y < image.height(); ++y) {
                QCOMPARE(QColor(image.pixel(x, y)).name(), QStringLiteral("#ffffff"));
            }
        }
    }

    void cards_answer_keys_and_clicks_when_clickable() {
        Card card;
        card.resize(100, 60);
        card.show();
        QSignalSpy spy(&card, &Card::clicked);
        QTest::mouseClick(&card, Qt::LeftButton);
        QCOMPARE(spy.count(), 0);
        card.setClickable(true);
        QTest::mouseClick(&card, Qt::LeftButton);
        QTest::keyClick(&card, Qt::Key_Space);
        QCOMPARE(spy.count(), 2);
    }

    void dropped_files_come_out_as_paths() {
        DropZone zone;
        zone.resize(200, 100);
        zone.show();
        QSignalSpy spy(&zone, &DropZone::pathsDropped);
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(QStringLiteral("/data/a.csv")),
                      QUrl(QStringLiteral("https://example.org/b.csv"))});
        QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton,
                              Qt::NoModifier);
        QApplication::sendEvent(&zone, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&zone, &drop);
        QCOMPARE(spy.count(), 1);
        QCOMPARE(spy.first().first().toStringList(), QStringList{QStringLiteral("/data/a.csv")});
    }

    void an_icon_beside_text_follows_the_theme() {
        controller_->setMode(ThemeController::Mode::Light);
        IconLabel label(QStringLiteral("chevron-down"), Role::Muted);
        const QImage light = label.grab().toImage();
        controller_->setMode(ThemeController::Mode::Dark);
        QVERIFY(label.grab().toImage() != light);
        QPixmap wanted(label.size());
        wanted.fill(label.palette().color(QPalette::Window));
        QPainter painter(&wanted);
        paintIcon(painter, label.rect(), QStringLiteral("chevron-down"),
                  Theme::current().color(Role::Muted));
        painter.end();
        QCOMPARE(label.grab().toImage().convertToFormat(QImage::Format_RGB32),
                 wanted.toImage().convertToFormat(QImage::Format_RGB32));
        controller_->setMode(ThemeController::Mode::Light);
    }

    void the_palette_finds_by_letters_and_runs_by_enter() {
        QVERIFY(fuzzyScore(QStringLiteral("ckp"), QStringLiteral("Checkpoint now")) > 0);
        QCOMPARE(fuzzyScore(QStringLiteral("xyz"), QStringLiteral("Checkpoint now")), -1);
        QVERIFY(fuzzyScore(QStringLiteral("stop"), QStringLiteral("Stop now")) >
                fuzzyScore(QStringLiteral("stop"), QStringLiteral("Show the options of a plot")));
        QAction pause(QStringLiteral("&Pause"));
        QAction step(QStringLiteral("Run one step"));
        QAction off(QStringLiteral("Pause later"));
        off.setEnabled(false);
        QWidget window;
        window.resize(800, 600);
        CommandPalette palette(&window);
        palette.setActions({&step, &off, &pause});
        palette.open();
        QTest::keyClicks(palette.filter(), QStringLiteral("pau"));
        QCOMPARE(palette.visibleTexts(),
                 (QStringList{QStringLiteral("Pause"), QStringLiteral("Pause later")}));
        QSignalSpy spy(&pause, &QAction::triggered);
        QTest::keyClick(palette.filter(), Qt::Key_Down);
        QTest::keyClick(palette.filter(), Qt::Key_Return); // disabled: nothing happens
        QVERIFY(palette.isVisible());
        QTest::keyClick(palette.filter(), Qt::Key_Up);
        QTest::keyClick(palette.filter(), Qt::Key_Return);
        QCOMPARE(spy.count(), 1);
        QVERIFY(!palette.isVisible());
        QAction both(QStringLiteral("Go to &Mesh && Plan")); // a mnemonic, and a sign of the name
        palette.setActions({&both});
        palette.open();
        QCOMPARE(palette.visibleTexts(), QStringList{QStringLiteral("Go to Mesh & Plan")});
        // What fits nothing is said, and cannot be run.
        palette.open();
        QTest::keyClicks(palette.filter(), QStringLiteral("xyzzy"));
        QVERIFY(palette.visibleTexts().isEmpty());
        auto* list = palette.findChild<QListView*>();
        QCOMPARE(list->model()->rowCount(), 1);
        QVERIFY(!list->model()->index(0, 0).data().toString().isEmpty());
        QTest::keyClick(palette.filter(), Qt::Key_Down);
        QTest::keyClick(palette.filter(), Qt::Key_Return);
        QVERIFY(palette.isVisible());
    }

    void toasts_keep_a_history() {
        QWidget window;
        window.resize(800, 600);
        auto* toasts = new ToastHost(&window);
        window.show();
        toasts->show(MessageKind::Info, QStringLiteral("one"));
        toasts->show(MessageKind::Error, QStringLiteral("two"));
        QCOMPARE(toasts->visibleCount(), 2);
        toasts->dismissAll();
        QTRY_COMPARE(toasts->visibleCount(), 0);
        QCOMPARE(toasts->history().size(), std::size_t{2});
        QCOMPARE(toasts->history()[1].text, QStringLiteral("two"));
    }

    void a_note_covers_no_control_nor_one_that_comes_later() {
        QWidget window;
        window.resize(800, 400);
        QLineEdit field(&window);
        field.setGeometry(300, 10, 490, 30);
        QPushButton later(QStringLiteral("later"), &window);
        later.hide();
        auto* toasts = new ToastHost(&window);
        window.show();
        toasts->show(MessageKind::Info, QStringLiteral("a note"));
        const auto* toast = qobject_cast<const QWidget*>(window.children().last());
        QVERIFY(toast != nullptr && !toast->geometry().intersects(field.geometry()));
        later.setGeometry(toast->geometry());
        later.show();
        QTRY_VERIFY(!toast->geometry().intersects(later.geometry()));
        QVERIFY(!toast->geometry().intersects(field.geometry()));
        QVERIFY(window.rect().contains(toast->geometry()));
    }

    void a_place_is_free_if_there_is_one_and_else_covers_least_data() {
        QTest::addColumn<QRect>("control");
        QTest::addColumn<QRect>("words");
        QTest::addColumn<QRect>("place");
        // Of 400 x 200, 100 x 40 in the upper right corner unless something is there.
        QTest::newRow("nothing there") << QRect() << QRect() << QRect(300, 0, 100, 40);
        QTest::newRow("a control in the corner")
            << QRect(360, 0, 40, 20) << QRect() << QRect(300, 20, 100, 40);
        QTest::newRow("words in the corner")
            << QRect() << QRect(380, 0, 20, 200) << QRect(280, 0, 100, 40);
        QTest::newRow("a control above, words below")
            << QRect(0, 0, 400, 80) << QRect(0, 80, 400, 120) << QRect(300, 80, 100, 40);
        QTest::newRow("controls everywhere but for a strip")
            << QRect(0, 0, 400, 180) << QRect() << QRect(300, 160, 100, 40);
    }

    void a_place_is_free_if_there_is_one_and_else_covers_least() {
        QFETCH(QRect, control);
        QFETCH(QRect, words);
        QFETCH(QRect, place);
        FreePlaces places(QRect(0, 0, 400, 200));
        places.keep(control, FreePlaces::Keep::Free);
        places.keep(words, FreePlaces::Keep::Seen);
        QCOMPARE(places.find(QSize(100, 40)).rect, place);
    }

    void a_toast_replaces_those_whose_button_would_do_something_else() {
        QWidget window;
        window.resize(800, 600);
        auto* toasts = new ToastHost(&window);
        window.show();
        QAction undo(QStringLiteral("Undo"));
        QAction open(QStringLiteral("Open"));
        toasts->show(MessageKind::Success, QStringLiteral("one"), &undo);
        toasts->show(MessageKind::Success, QStringLiteral("two"), &open);
        toasts->show(MessageKind::Success, QStringLiteral("three"), &undo);
        QCOMPARE(toasts->visibleCount(), 2);
        QCOMPARE(toasts->history().size(), std::size_t{3});
        // Without a button only what says the same.
        toasts->show(MessageKind::Error, QStringLiteral("four"));
        toasts->show(MessageKind::Error, QStringLiteral("five"));
        toasts->show(MessageKind::Error, QStringLiteral("four"));
        QCOMPARE(toasts->visibleCount(), 4);
    }

    void a_note_lies_at_the_upper_right_and_goes_with_its_page() {
        QWidget window;
        window.resize(800, 600);
        QWidget page(&window);
        page.setGeometry(100, 50, 700, 500);
        auto* toasts = new ToastHost(&window);
        toasts->setArea(&page);
        window.show();
        toasts->show(MessageKind::Info, QStringLiteral("of the window"));
        toasts->show(MessageKind::Info, QStringLiteral("of the page"), nullptr, &page);
        QCoreApplication::processEvents();
        QRect before;
        for (const QObject* child : window.children()) {
            const auto* toast = qobject_cast<const QWidget*>(child);
            if (toast != nullptr && toast != &page) {
                QVERIFY(toast->geometry().left() > 400 && toast->geometry().bottom() < 200);
                QVERIFY(page.geometry().contains(toast->geometry()));
                QVERIFY(!toast->geometry().intersects(before));
                before = toast->geometry();
            }
        }
        page.hide();
        QTRY_COMPARE(toasts->visibleCount(), 1);
        // A note that sends the user on goes on with him.
        page.show();
        toasts->show(MessageKind::Info, QStringLiteral("done, look there"), nullptr, &page);
        page.hide();
        QCoreApplication::processEvents();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCOMPARE(toasts->visibleCount(), 2);
    }

    void phases_end_when_the_next_begins() {
        PhaseList list;
        list.begin(QStringLiteral("Reading data"));
        list.begin(QStringLiteral("Compiling"));
        QCOMPARE(list.phases()[0].state, PhaseState::Done);
        QVERIFY(list.phases()[0].seconds >= 0.0);
        QCOMPARE(list.phases()[1].state, PhaseState::Active);
        list.finish(true, QStringLiteral("out of memory"));
        QCOMPARE(list.phases()[1].state, PhaseState::Failed);
    }

    // AddressSanitizer sees who touches one afterwards.
    void what_is_clicked_may_go_by_the_click() {
        auto* card = new Card;
        card->setClickable(true);
        connect(card, &Card::clicked, card, [card] { delete card; });
        auto* strip = new NumberStrip(5);
        connect(strip, &NumberStrip::numberClicked, strip, [strip] { delete strip; });
        auto* bar = new MemoryBar;
        bar->setMeasured({{MemoryCategory::Library, 100}});
        connect(bar, &PaintedView::itemActivated, bar, [bar] { delete bar; });
        auto* chosen = new MemoryBar;
        chosen->setMeasured({{MemoryCategory::Library, 100}});
        connect(chosen, &PaintedView::itemActivated, chosen, [chosen] { delete chosen; });
        for (const QPointer<QWidget> one : std::initializer_list<QWidget*>{card, strip, bar}) {
            one->resize(600, std::max(60, one->sizeHint().height()));
            one->show();
            const auto* view = qobject_cast<PaintedView*>(one);
            const QPoint place =
                view != nullptr ? view->item(0).rect.center().toPoint() : QPoint(20, 20);
            QMouseEvent press(QEvent::MouseButtonPress, place, one->mapToGlobal(place),
                              Qt::LeftButton, Qt::LeftButton, {});
            QCoreApplication::sendEvent(one, &press);
            QMouseEvent release(QEvent::MouseButtonRelease, place, one->mapToGlobal(place),
                                Qt::LeftButton, {}, {});
            QCoreApplication::sendEvent(one, &release);
            QVERIFY(one == nullptr);
        }
        const QPointer<QWidget> keyed = chosen;
        chosen->show();
        chosen->setCursorItem(0);
        QTest::keyClick(chosen, Qt::Key_Return);
        QVERIFY(keyed == nullptr);
    }

    void a_painted_view_exports_png_and_svg() {
        QTemporaryDir dir;
        MemoryBar bar;
        bar.resize(300, 80);
        bar.setMeasured({{MemoryCategory::Library, 100}});
        QVERIFY(bar.exportPng(dir.filePath(QStringLiteral("bar.png")), 2.0));
        QCOMPARE(QImage(dir.filePath(QStringLiteral("bar.png"))).width(), 600);
        QVERIFY(bar.exportSvg(dir.filePath(QStringLiteral("bar.svg"))));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(WidgetsTest)
#include "widgets_test.moc"
