// SPDX-License-Identifier: GPL-3.0-or-later
// Tiles against drawings made by hand: places, colours, names, keys, and how long thousands take.
#include "tests/support/weft_test.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/device_palette.h"
#include "widgets/mesh/shard_strip.h"
#include "widgets/mesh/tile_view.h"

#include <QAccessible>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <set>

using namespace weft::widgets;

namespace {

/// The weight [384, 1536] of a 2 x 2 mesh, its columns split over the minor axis.
TileArray twoColumns() {
    return {{384, 1536}, {{{0, 384, 0}}, {{0, 768, 0}, {768, 768, 0}}}, {{0, 2}, {1, 3}}, {2, 2}};
}

/// 10 rows in two tiles of 6: the second is padded by two rows.
TileArray paddedRows() {
    return {{10, 20}, {{{0, 6, 0}, {6, 4, 2}}, {{0, 20, 0}}}, {{0}, {1}}, {2}};
}

/// `side` x `side` tiles of 4 x 4 elements, one device each.
TileArray manyTiles(int side) {
    TileArray array{{side * 4, side * 4}, {{}, {}}, {}, {side, side}};
    for (int i = 0; i < side; ++i) {
        array.dims[0].push_back({i * 4, 4, 0});
        array.dims[1].push_back({i * 4, 4, 0});
    }
    for (int tile = 0; tile < side * side; ++tile) {
        array.holders.push_back({tile});
    }
    return array;
}

/// A fused weight [8, 24] of three parts, each split over `model` = 2; `data` = 4 copies.
TileArray fusedColumns() {
    TileArray array{{8, 24}, {{{0, 8, 0}}, {}}, {}, {4, 2}};
    for (int i = 0; i < 6; ++i) {
        array.dims[1].push_back({i * 4, 4, 0});
        array.holders.push_back({i % 2, i % 2 + 2, i % 2 + 4, i % 2 + 6});
    }
    return array;
}

/// `owners` devices that all hold the whole.
TileArray replicated(int owners) {
    TileArray array{{64, 64}, {{{0, 64, 0}}, {{0, 64, 0}}}, {{}}, {owners}};
    for (int i = 0; i < owners; ++i) {
        array.holders[0].push_back(i);
    }
    return array;
}

std::set<QRgb> colorsIn(const QImage& image, const QRectF& rect) {
    std::set<QRgb> seen;
    for (int y = static_cast<int>(rect.top()); y < rect.bottom(); ++y) {
        for (int x = static_cast<int>(rect.left()); x < rect.right(); ++x) {
            seen.insert(image.pixel(x, y));
        }
    }
    return seen;
}

QImage tilePicture(const TileView& view) {
    QImage image(view.size(), QImage::Format_ARGB32_Premultiplied);
    view.renderTo(&image, view.size());
    return image;
}

} // namespace

class TileViewTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }
    void cleanup() { controller_->setMode(ThemeController::Mode::Light); }

    void tiles_are_drawn_to_scale() {
        TileView view;
        view.resize(400, 300);
        view.setArray(twoColumns());
        const QRectF left = view.item(0).rect;
        const QRectF right = view.item(1).rect;
        // Edges lie on whole pixels: half a pixel at each.
        QVERIFY(std::abs(left.width() - right.width()) <= 1.0);
        const QRectF all = left.united(right);
        QVERIFY(std::abs(all.width() / all.height() - 1536.0 / 384.0) < 0.05);
        QCOMPARE(left.right(), right.left());
    }

    void a_very_thin_array_is_drawn_thicker_than_it_is() {
        TileView view;
        view.resize(400, 300);
        view.setArray({{50257, 4}, {{{0, 50257, 0}}, {{0, 4, 0}}}, {{0}}, {1}});
        const QRectF box = view.item(0).rect;
        QVERIFY(box.width() >= 20.0); // to scale it would be a fiftieth of a pixel
        QVERIFY(box.height() > box.width());
    }

    void in_a_low_view_an_array_stays_to_scale_and_takes_all_the_height() {
        TileView view;
        view.resize(400, 76); // of which the numbers above and below take some
        view.setArray(twoColumns());
        const QRectF low = view.item(0).rect.united(view.item(1).rect);
        QVERIFY(low.height() > 30.0); // less when there were words below it
        QVERIFY(std::abs(low.width() / low.height() - 1536.0 / 384.0) < 0.15);
    }

    void a_position_belongs_to_the_tile_drawn_there() {
        TileView view;
        view.resize(300, 300);
        view.setArray(manyTiles(8));
        for (int i = 0; i < view.itemCount(); ++i) {
            QCOMPARE(view.hitTest(view.item(i).rect.center()), i);
        }
        QCOMPARE(view.hitTest({0.5, 0.5}), -1);
    }

    void a_tile_has_the_colour_of_its_device_and_the_hatch_of_its_copies() {
        for (const auto mode : {ThemeController::Mode::Light, ThemeController::Mode::Dark}) {
            controller_->setMode(mode);
            TileView view;
            view.resize(400, 200);
            view.setArray(twoColumns());
            const QImage image = tilePicture(view);
            const QRectF tile = view.item(0).rect;
            std::set<QRgb> seen;
            for (int x = static_cast<int>(tile.left()) + 2; x < tile.right() - 2; ++x) {
                seen.insert(image.pixel(x, static_cast<int>(tile.top()) + 4));
            }
            const std::vector<QColor> colors = devicePalette(std::vector{2, 2});
            QVERIFY(seen.contains(colors[0].rgb()));
            QVERIFY(seen.contains(colors[2].rgb()));
            QVERIFY(!seen.contains(colors[1].rgb()));
        }
    }

    void a_selected_device_lights_its_tiles_and_no_others() {
        TileView view;
        view.resize(400, 200);
        view.setArray(paddedRows());
        const auto color = [&](int item) {
            const QRectF rect = view.item(item).rect;
            return tilePicture(view).pixelColor((rect.topLeft() + QPointF(6, 6)).toPoint());
        };
        const QColor first = color(0);
        const QColor second = color(1);
        view.setSelectedDevice(1);
        QVERIFY(color(0) != first);
        QCOMPARE(color(1), second);
        view.setSelectedDevice(-1);
        QCOMPARE(color(0), first);
    }

    void padding_takes_room_and_is_named() {
        TileView view;
        view.resize(400, 200);
        view.setArray(paddedRows());
        const QRectF first = view.item(0).rect;
        const QRectF second = view.item(1).rect;
        QVERIFY(std::abs(first.height() - second.height()) <= 1.0); // 6 rows, and 4 with 2
        QVERIFY(!view.item(0).name.contains("padded"));
        QVERIFY(view.item(1).name.contains("padded"));
    }

    void tiles_are_named_by_their_ranges_and_devices() {
        TileView view;
        view.resize(400, 200);
        view.setArray(twoColumns());
        QCOMPARE(view.item(1).name, QString("all rows, columns 768 to 1536, devices 1 and 3"));
        QAccessibleInterface* screen_reader = QAccessible::queryAccessibleInterface(&view);
        QCOMPARE(screen_reader->childCount(), 2);
        QCOMPARE(screen_reader->child(0)->text(QAccessible::Name),
                 QString("all rows, columns 0 to 768, devices 0 and 2"));
        view.setArray({{128}, {{{0, 32, 0}, {32, 96, 0}}}, {{0}, {1, 2, 3}}, {4}});
        QCOMPARE(view.item(1).name, QString("elements 32 to 128, devices 1-3"));
    }

    void keys_walk_the_tiles_in_both_directions() {
        TileView view;
        view.resize(300, 300);
        view.setArray(manyTiles(4));
        view.show();
        view.setCursorItem(5);
        QTest::keyClick(&view, Qt::Key_Down);
        QCOMPARE(view.cursorItem(), 9);
        QTest::keyClick(&view, Qt::Key_Right);
        QCOMPARE(view.cursorItem(), 10);
        QTest::keyClick(&view, Qt::Key_Up);
        QTest::keyClick(&view, Qt::Key_Left);
        QCOMPARE(view.cursorItem(), 5);
        QTest::keyClick(&view, Qt::Key_Up);
        QTest::keyClick(&view, Qt::Key_Up);
        QCOMPARE(view.cursorItem(), 1);
    }

    void clicks_go_through_the_devices_of_a_tile() {
        TileView view;
        view.resize(400, 200);
        view.setArray(twoColumns());
        view.show();
        std::vector<int> asked;
        connect(&view, &TileView::deviceActivated, this, [&](int device) {
            asked.push_back(device);
            view.setSelectedDevice(device);
        });
        const QPoint place = view.item(1).rect.center().toPoint();
        for (int i = 0; i < 3; ++i) {
            QTest::mouseClick(&view, Qt::LeftButton, {}, place);
        }
        QCOMPARE(asked, (std::vector{1, 3, 1}));
    }

    void an_array_of_four_dimensions_is_stepped_through() {
        // [3, 8, 8, 6]: the first split in three, the last in two.
        TileArray array{
            {3, 8, 8, 6},
            {{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}, {{0, 8, 0}}, {{0, 8, 0}}, {{0, 3, 0}, {3, 3, 0}}},
            {{0}, {1}, {2}, {3}, {4}, {5}},
            {3, 2}};
        TileView view;
        view.resize(300, 300);
        view.setArray(array);
        QCOMPARE(view.rowAxis(), 0); // what is split is shown first
        QCOMPARE(view.columnAxis(), 3);
        QCOMPARE(view.itemCount(), 6);
        QCOMPARE(view.pieceCount(), 1);
        view.setAxes(1, 3);
        QCOMPARE(view.itemCount(), 2);
        QCOMPARE(view.pieceCount(), 3);
        view.setPiece(2);
        QCOMPARE(view.pieceText(), QString("[2:3, :, :, :]"));
        QVERIFY(view.item(1).name.endsWith("device 5"));
    }

    void a_single_number_is_a_square() {
        TileView view;
        view.resize(300, 200);
        view.setArray({{}, {}, {{0, 1, 2, 3}}, {4}});
        QCOMPARE(view.itemCount(), 1);
        const QRectF box = view.item(0).rect;
        QCOMPARE(box.width(), box.height());
        QCOMPARE(view.item(0).name, QString("devices 0-3"));
    }

    void sixteen_devices_have_colours_of_their_own_that_show_on_the_surface() {
        for (const auto mode : {ThemeController::Mode::Light, ThemeController::Mode::Dark}) {
            controller_->setMode(mode);
            const std::vector<QColor> colors = devicePalette(std::vector{16});
            std::set<QRgb> distinct;
            for (const QColor& color : colors) {
                distinct.insert(color.rgb());
                // 3:1 for graphics, as the theme's own series.
                QVERIFY(contrastRatio(color, Theme::current().color(Role::Surface)) >=
                        std::min(3.0, contrastRatio(Theme::current().series(4),
                                                    Theme::current().color(Role::Surface))));
            }
            QCOMPARE(distinct.size(), std::size_t{16});
            QCOMPARE(devicePalette(std::vector{8, 8}).size(), std::size_t{64});
        }
    }

    void devices_that_hold_the_same_are_the_owners_of_one_shard() {
        const ShardGroups fused = shardGroups(fusedColumns());
        QCOMPARE(fused.tiles, (std::vector<std::vector<int>>{{0, 2, 4}, {1, 3, 5}}));
        QCOMPARE(fused.owners, (std::vector<std::vector<int>>{{0, 2, 4, 6}, {1, 3, 5, 7}}));
        QCOMPARE(fused.of_device, (std::vector{0, 1, 0, 1, 0, 1, 0, 1}));
        QCOMPARE(fused.shardOf(8), -1);
        // A stage of a pipeline holds it, the others nothing.
        const ShardGroups stage = shardGroups({{8}, {{{0, 8, 0}}}, {{2, 3}}, {4}});
        QCOMPARE(stage.of_device, (std::vector{-1, -1, 0, 0}));
        QCOMPARE(shardGroups({}).count(), 0);
    }

    void owners_of_a_shard_look_alike_where_there_are_more_than_four_devices() {
        const TileArray array = fusedColumns();
        const std::vector<QColor> colors = shardPalette(shardGroups(array), array.mesh);
        QCOMPARE(colors.size(), std::size_t{8});
        QCOMPARE(colors[2], colors[0]);
        QCOMPARE(colors[7], colors[1]);
        QVERIFY(colors[0] != colors[1]);
        const std::vector<QColor> four = shardPalette(shardGroups(twoColumns()), twoColumns().mesh);
        QCOMPARE(four, devicePalette(twoColumns().mesh));
    }

    // Stripes in the colours of all owners could not be read; their badges can.
    void a_shard_of_many_owners_is_one_colour_with_their_badges() {
        TileView view;
        view.resize(400, 200);
        view.setArray(replicated(4));
        const QImage image = tilePicture(view);
        const QRectF tile = view.item(0).rect.adjusted(2, 2, -2, -2);
        const std::vector<QColor> colors = devicePalette(std::vector{4});
        QCOMPARE(colorsIn(image, {tile.left(), tile.top(), tile.width(), 8}),
                 (std::set<QRgb>{colors[0].rgb()}));
        const std::set<QRgb> all = colorsIn(image, tile);
        for (const QColor& color : colors) {
            QVERIFY(all.contains(color.rgb()));
        }
    }

    // In a tile that is too narrow for a line of badges they stand below each other.
    void badges_find_room_in_narrow_tiles() {
        TileView view;
        view.resize(150, 200);
        view.setArray(
            {{64, 24}, {{{0, 64, 0}}, {{0, 12, 0}, {12, 12, 0}}}, {{0, 2}, {1, 3}}, {2, 2}});
        const QRectF tile = view.item(0).rect.adjusted(1, 1, -1, -1);
        const double badge = deviceBadgeWidth(4);
        QVERIFY(tile.width() < 2 * badge + 12); // not two side by side
        QVERIFY(colorsIn(tilePicture(view), tile)
                    .contains(Theme::current().color(Role::Surface).rgb())); // a label
    }

    void the_strip_has_an_entry_for_each_shard() {
        ShardStrip strip;
        strip.resize(400, 40);
        strip.setArray(twoColumns(), 0, 1);
        QCOMPARE(strip.itemCount(), 2);
        QCOMPARE(strip.item(1).name, QString("shard 1, 50.0 %, on devices 1, 3, 2 copies"));
        strip.setArray(fusedColumns(), 0, 1);
        QCOMPARE(strip.itemCount(), 2);
        strip.setArray({{8}, {{{0, 8, 0}}}, {{2}}, {4}}, -1, 0);
        QCOMPARE(strip.item(0).name, QString("shard 0, all of it, on device 2"));
    }

    void clicks_go_through_the_owners_of_a_shard() {
        ShardStrip strip;
        strip.resize(400, 40);
        strip.setArray(twoColumns(), 0, 1);
        strip.show();
        std::vector<int> asked;
        connect(&strip, &ShardStrip::deviceActivated, this, [&](int device) {
            asked.push_back(device);
            strip.setSelectedDevice(device);
        });
        for (int i = 0; i < 3; ++i) {
            QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.item(1).rect.center().toPoint());
        }
        QCOMPARE(asked, (std::vector{1, 3, 1}));
    }

    void the_strip_of_many_shards_shows_that_of_the_selected_device() {
        ShardStrip strip;
        strip.resize(300, 60);
        strip.setArray(manyTiles(8), 0, 1);
        QVERIFY(strip.itemCount() < 64);
        strip.setSelectedDevice(63);
        QCOMPARE(strip.shardOf(strip.itemCount() - 1), 63);
        strip.setSelectedDevice(20);
        QVERIFY(strip.shardOf(0) <= 20 && 20 < strip.shardOf(0) + strip.itemCount());
    }

    void views_can_be_written_as_pictures() {
        QTemporaryDir dir;
        TileView view;
        view.resize(400, 200);
        view.setArray(twoColumns());
        QVERIFY(view.exportSvg(dir.filePath("tiles.svg")));
        QVERIFY(view.exportPng(dir.filePath("tiles.png")));
    }

    // UX.md, target 12: 5 ms for 4,096 tiles. Debug builds and busy machines take longer: the best
    // of several, and four times the target, so that only a change of order fails it.
    void thousands_of_tiles_are_painted_at_once_data() {
        QTest::addColumn<int>("copies");
        QTest::newRow("on a device each") << 1;
        QTest::newRow("on two devices each") << 2;
    }

    void thousands_of_tiles_are_painted_at_once() {
        QFETCH(int, copies);
        TileArray array = manyTiles(64);
        if (copies == 2) {
            array.mesh = {2, 64};
            for (int tile = 0; tile < array.tileCount(); ++tile) {
                array.holders[static_cast<std::size_t>(tile)] = {tile % 64, 64 + tile % 64};
            }
        }
        TileView view;
        view.resize(640, 480);
        view.setArray(array);
        QCOMPARE(view.itemCount(), 4096);
        QImage image(view.size(), QImage::Format_ARGB32_Premultiplied);
        double best = 1e9;
        for (int i = 0; i < 10; ++i) {
            QElapsedTimer timer;
            timer.start();
            view.renderTo(&image, view.size());
            best = std::min(best, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        qInfo("4,096 tiles: %.2f ms", best);
        QVERIFY2(best < 20.0, qPrintable(QString("%1 ms").arg(best)));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(TileViewTest)
#include "tile_view_test.moc"
