// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of a mesh: where they stand, from two to thousands, what is drawn of each, and how
// one gets closer.
#include "tests/support/weft_test.h"
#include "tests/widgets/writing.h"
#include "widgets/look/theme_controller.h"
#include "widgets/mesh/device_grid.h"
#include "widgets/mesh/device_palette.h"

#include <QAccessible>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QWheelEvent>

#include <memory>
#include <numeric>

using namespace weft::widgets;

namespace {

constexpr QSize kPanel(346, 198); // what the mesh page has for them at its designed size

/// Devices along axes a, b, c ... of these sizes; those of each place on the first axis are a group
/// that needs more than the one before.
std::shared_ptr<const DeviceSet> devicesOn(const std::vector<int>& mesh,
                                           std::optional<qint64> limit = qint64{80} << 30) {
    auto out = std::make_shared<DeviceSet>();
    out->kind = "cpu";
    int count = 1;
    for (const int size : mesh) {
        out->axes.push_back({QString(QChar('a' + static_cast<int>(out->axes.size()))), size});
        count *= size;
    }
    for (int group = 0; group < mesh.front(); ++group) {
        const qint64 bytes = (qint64{20} << 30) + (qint64{group} << 28);
        out->groups.push_back(
            {{{MemoryCategory::Parameters, bytes / 2}, {MemoryCategory::Activations, bytes / 2}},
             bytes});
    }
    for (int device = 0; device < count; ++device) {
        out->group_of.push_back(device / (count / mesh.front()));
        out->notes.emplace_back();
    }
    out->limit = limit;
    return out;
}

/// A vector split over the last axis; all others hold copies.
ShardGroups splitOverLast(const std::vector<int>& mesh) {
    const int count = std::accumulate(mesh.begin(), mesh.end(), 1, std::multiplies<>());
    TileArray array{{mesh.back()}, {{}}, {}, mesh};
    for (int i = 0; i < mesh.back(); ++i) {
        array.dims[0].push_back({i, 1, 0});
        std::vector<int>& owners = array.holders.emplace_back();
        for (int device = i; device < count; device += mesh.back()) {
            owners.push_back(device);
        }
    }
    return shardGroups(array);
}

void turnWheel(QWidget& widget, const QPointF& at, Qt::KeyboardModifiers modifiers) {
    QWheelEvent turn(at, widget.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, modifiers,
                     Qt::NoScrollPhase, false);
    QApplication::sendEvent(&widget, &turn);
}

int sideBySide(const DeviceGrid& grid) {
    int out = 0;
    while (out < grid.itemCount() && grid.item(out).rect.top() == grid.item(0).rect.top()) {
        ++out;
    }
    return out;
}

} // namespace

class DeviceGridTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { controller_ = std::make_unique<ThemeController>(); }

    void every_device_has_a_place_of_its_own_in_the_room_data() {
        QTest::addColumn<std::vector<int>>("mesh");
        const std::vector<std::vector<int>> meshes = {
            {2},       {3},    {8},        {2, 2},      {4, 2},
            {2, 2, 2}, {64},   {4, 4, 4},  {1, 8, 1},   {512, 2},
            {1021},    {1024}, {16, 8, 8}, {64, 16, 8}, {2, 2, 2, 2, 2, 2, 2, 2}};
        for (const std::vector<int>& mesh : meshes) {
            QStringList name;
            for (const int size : mesh) {
                name.append(QString::number(size));
            }
            QTest::newRow(qPrintable(name.join('x'))) << mesh;
        }
    }

    void every_device_has_a_place_of_its_own_in_the_room() {
        QFETCH(std::vector<int>, mesh);
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn(mesh));
        for (int device = 0; device < grid.itemCount(); ++device) {
            const QRectF rect = grid.item(device).rect;
            QVERIFY(QRectF(grid.rect()).adjusted(-0.5, -0.5, 0.5, 0.5).contains(rect));
            QVERIFY(rect.width() > 1.0 && rect.height() > 1.0);
            QCOMPARE(grid.hitTest(rect.center()), device);
        }
    }

    // The room of the mesh page: two, four and eight are cards, and one side by side with another.
    void few_devices_are_cards() {
        DeviceGrid grid;
        grid.resize(kPanel);
        for (const auto& [mesh, columns] : {std::pair{std::vector{2}, 2},
                                            {{4}, 2},
                                            {{2, 2}, 2},
                                            {{8}, 2},
                                            {{4, 2}, 2},
                                            {{2, 2, 2}, 2},
                                            {{2, 2}, 2}}) {
            grid.setDevices(devicesOn(mesh));
            QCOMPARE(grid.detail(), DeviceGrid::Detail::Cards);
            QCOMPARE(sideBySide(grid), columns);
        }
    }

    void no_label_of_an_axis_runs_into_another_data() {
        QTest::addColumn<std::vector<int>>("mesh");
        QTest::addColumn<QSize>("room");
        for (const QSize room : {kPanel, QSize(250, 230), QSize(1240, 560)}) {
            for (const std::vector<int>& mesh :
                 {std::vector{4, 4, 4}, {16, 8, 8}, {64, 16, 8}, {1024}, {64, 16}, {8, 8, 128}}) {
                QStringList name;
                for (const int size : mesh) {
                    name.append(QString::number(size));
                }
                QTest::addRow("%s in %d x %d", qPrintable(name.join('x')), room.width(),
                              room.height())
                    << mesh << room;
            }
        }
    }

    void no_label_of_an_axis_runs_into_another() {
        QFETCH(std::vector<int>, mesh);
        QFETCH(QSize, room);
        DeviceGrid grid;
        grid.resize(room);
        auto devices = std::make_shared<DeviceSet>(*devicesOn(mesh));
        const char* names[] = {"data", "pipeline", "model"};
        for (std::size_t i = 0; i < devices->axes.size(); ++i) {
            devices->axes[i].name = names[i];
        }
        grid.setDevices(devices);
        grid.setShards(splitOverLast(mesh));
        weft::test::Writing writing(room);
        grid.renderTo(&writing, room);
        QVERIFY(writing.texts.size() > 2);
        for (std::size_t i = 0; i < writing.texts.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const auto& [one, place] = writing.texts[i];
                const auto& [other, there] = writing.texts[j];
                QVERIFY2(!place.intersects(there),
                         qPrintable(QString("\"%1\" lies over \"%2\"").arg(one, other)));
            }
        }
    }

    void many_devices_are_cells_along_the_axes() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({4, 4, 4}));
        QCOMPARE(grid.detail(), DeviceGrid::Detail::Cells);
        // The last axis runs across, the one before down; the first is one of four blocks.
        const auto left = [&](int device) { return grid.item(device).rect.left(); };
        const auto top = [&](int device) { return grid.item(device).rect.top(); };
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(top(i), top(0));
            QCOMPARE(left(4 * i), left(0));
        }
        QVERIFY(left(1) > left(0));
        QVERIFY(top(4) > top(0));
        const double pitch = left(1) - left(0);
        QVERIFY(left(16) > left(3) + 1.2 * pitch || top(16) > top(12) + 1.2 * (top(4) - top(0)));
    }

    void arrows_walk_over_blocks_as_they_are_seen() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({2, 4, 4}));
        grid.show();
        grid.setCursorItem(3);
        const bool across = grid.item(16).rect.top() == grid.item(0).rect.top();
        QTest::keyClick(&grid, across ? Qt::Key_Right : Qt::Key_Down);
        QCOMPARE(grid.cursorItem(), across ? 16 : 7);
        grid.setCursorItem(5);
        QTest::keyClick(&grid, Qt::Key_Down);
        QCOMPARE(grid.cursorItem(), 9);
        QTest::keyClick(&grid, Qt::Key_Return);
        QCOMPARE(grid.selectedDevice(), 9);
    }

    void cells_fill_to_the_scale_of_a_devices_memory() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({4, 4, 4}, qint64{40} << 30)); // the first need half of it
        const QImage image = grid.grab().toImage();
        const QRectF cell = grid.item(5).rect;
        int filled = 0;
        for (int y = static_cast<int>(cell.top()); y < cell.bottom(); ++y) {
            const QColor color = image.pixelColor(static_cast<int>(cell.center().x()), y);
            filled += color != Theme::current().color(Role::EmptyBar);
        }
        // The rest of a cell below its strip of at most five pixels; a pixel at each end.
        QVERIFY(std::abs(filled - (cell.height() - 5) / 2) <= 3);
    }

    // So many that no amount can be read off one: whole cells say who holds the same, and red ones
    // which devices need more than they have.
    void cells_too_low_to_be_filled_have_the_colour_of_their_shard() {
        const std::vector<int> mesh = {16, 8, 8};
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn(mesh));
        grid.setShards(splitOverLast(mesh));
        const std::vector<QColor> colors = shardPalette(splitOverLast(mesh), mesh);
        QImage image(kPanel, QImage::Format_ARGB32_Premultiplied);
        grid.renderTo(&image, kPanel);
        for (const int device : {0, 9, 511, 1023}) {
            const QRectF cell = grid.item(device).rect;
            QVERIFY(cell.height() < 12.0);
            QCOMPARE(image.pixelColor(QPointF(cell.center().x(), cell.bottom() - 1.5).toPoint()),
                     colors[static_cast<std::size_t>(device)]);
        }
        grid.setDevices(devicesOn(mesh, qint64{21} << 30)); // the last groups need 23.75 GiB
        grid.renderTo(&image, kPanel);
        const auto lower = [&](int device) {
            const QRectF cell = grid.item(device).rect;
            return image.pixelColor(QPointF(cell.center().x(), cell.bottom() - 1.5).toPoint());
        };
        QCOMPARE(lower(0), colors[0]);
        QCOMPARE(lower(1023), Theme::current().color(Role::Error));
    }

    void a_selected_device_lights_the_owners_of_its_shard() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({4, 4, 4}));
        grid.setShards(splitOverLast({4, 4, 4}));
        grid.setSelectedDevice(6);
        for (int device = 0; device < 64; ++device) {
            QCOMPARE(grid.isLit(device), device % 4 == 2);
        }
        QVERIFY(grid.item(6).name.endsWith("shard 2"));
        grid.setSelectedDevice(-1);
        QVERIFY(!grid.isLit(6));
    }

    void owners_of_a_shard_have_strips_of_one_colour() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({4, 4, 4}));
        grid.setShards(splitOverLast({4, 4, 4}));
        const QImage image = grid.grab().toImage();
        const auto strip = [&](int device) {
            return image.pixel((grid.item(device).rect.topLeft() + QPointF(2, 1)).toPoint());
        };
        QCOMPARE(strip(0), Theme::current().series(0).rgb());
        QCOMPARE(strip(4), strip(0));
        QCOMPARE(strip(60), strip(0));
        QVERIFY(strip(1) != strip(0));
    }

    void the_wheel_looks_more_closely_where_it_points() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({16, 8, 8}));
        grid.show();
        QSignalSpy told(&grid, &DeviceGrid::zoomChanged);
        const QSizeF before = grid.item(700).rect.size();
        const QPointF at = grid.item(700).rect.center();
        turnWheel(grid, at, Qt::NoModifier); // the page's
        QCOMPARE(grid.zoom(), 1.0);
        for (int i = 0; i < 40; ++i) {
            turnWheel(grid, at, Qt::ControlModifier);
        }
        QVERIFY(told.count() > 1);
        QCOMPARE(grid.detail(), DeviceGrid::Detail::Cards); // as close as one gets
        QVERIFY(grid.item(700).rect.width() > 10 * before.width());
        QVERIFY(grid.hitTest(at) >= 0);
        QVERIFY(grid.item(700).rect.adjusted(-40, -40, 40, 40).contains(at));
        QTest::keyClick(&grid, Qt::Key_F);
        QCOMPARE(grid.zoom(), 1.0);
        QCOMPARE(grid.item(700).rect.size(), before);
    }

    void what_is_looked_at_closely_is_dragged_and_not_chosen() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({16, 8, 8}));
        grid.show();
        for (int i = 0; i < 4; ++i) {
            QTest::keyClick(&grid, Qt::Key_Plus);
        }
        QVERIFY(grid.zoom() > 1.0);
        QSignalSpy chosen(&grid, &DeviceGrid::deviceSelected);
        const QPoint from(200, 100);
        const int grabbed = grid.hitTest(from) >= 0 ? grid.hitTest(from) : 500;
        const QPointF place = grid.item(grabbed).rect.topLeft();
        QTest::mousePress(&grid, Qt::LeftButton, {}, from);
        QTest::mouseMove(&grid, from + QPoint(-30, -20));
        QTest::mouseRelease(&grid, Qt::LeftButton, {}, from + QPoint(-30, -20));
        QCOMPARE(grid.item(grabbed).rect.topLeft(), place - QPointF(30, 20));
        QCOMPARE(chosen.count(), 0);
        // The keys bring what they lead to into view.
        grid.setCursorItem(0);
        QVERIFY(QRectF(grid.rect()).contains(grid.item(0).rect));
    }

    void the_card_tells_of_what_is_pointed_at() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({4, 4, 4}));
        grid.show();
        QCOMPARE(grid.cardDevice(), 0);
        grid.setSelectedDevice(9);
        QCOMPARE(grid.cardDevice(), 9);
        QTest::mouseMove(&grid, grid.item(30).rect.center().toPoint());
        QCOMPARE(grid.cardDevice(), 30);
    }

    void a_screen_reader_gets_every_device() {
        DeviceGrid grid;
        grid.resize(kPanel);
        grid.setDevices(devicesOn({16, 8, 8}));
        QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(&grid);
        QCOMPARE(reader->childCount(), 1024);
        QCOMPARE(reader->child(73)->text(QAccessible::Name),
                 QString("device 73, cpu:73, a=1 b=1 c=1, needs 20.3 GiB of 80.0 GiB"));
    }

    // Where the data of a run leave the devices nothing, no device has "of 0 B".
    void memory_that_is_not_there_is_said_in_words() {
        for (const QSize room : {QSize(900, 400), QSize(760, 120)}) { // whole cards, and lines
            DeviceGrid grid;
            grid.resize(room);
            grid.setDevices(devicesOn({2}, 0));
            weft::test::Writing writing(room);
            grid.renderTo(&writing, room);
            QStringList texts;
            for (const auto& [text, place] : writing.texts) {
                texts << text;
            }
            QVERIFY2(texts.contains("20.0 GiB, none free"), qPrintable(texts.join('|')));
            QVERIFY(grid.item(0).name.endsWith("needs 20.0 GiB, none free"));
        }
    }

    void bars_of_devices_have_one_scale_and_a_lens_on_what_they_hold() {
        constexpr qint64 kLimit = 80;
        // How much of the line at a height has the colour of parameters.
        const auto share = [&](qint64 bytes, DeviceGrid::CardPart part) {
            auto devices = std::make_shared<DeviceSet>();
            devices->axes = {{"data", 1}};
            devices->groups = {{{{MemoryCategory::Parameters, bytes}}, bytes}};
            devices->group_of = {0};
            devices->notes = {{}};
            devices->limit = kLimit;
            DeviceGrid grid;
            grid.resize(400, 200);
            grid.setDevices(devices);
            const QRectF where = grid.cardPart(0, part);
            const QImage image = grid.grab().toImage();
            const QColor color = Theme::current().memory(MemoryCategory::Parameters);
            int filled = 0;
            for (int x = static_cast<int>(where.left()); x < where.right(); ++x) {
                filled += image.pixelColor(x, static_cast<int>(where.center().y())) == color;
            }
            return filled / where.width();
        };
        // A pixel at each end.
        constexpr double kPixels = 0.02;
        for (const qint64 bytes : {2, 8, 40}) {
            const double part = static_cast<double>(bytes) / kLimit;
            QVERIFY(std::abs(share(bytes, DeviceGrid::CardPart::Scale) - part) < kPixels);
            QVERIFY(share(bytes, DeviceGrid::CardPart::Lens) > 1 - kPixels);
        }
    }

    // UX.md, target 3: 16 ms for a frame. Debug builds and busy machines take longer: the best of
    // several, and four times the target, so that only a change of order fails it.
    void thousands_of_devices_are_painted_at_once() {
        DeviceGrid grid;
        grid.resize(640, 480);
        grid.setDevices(devicesOn({64, 16, 8}));
        grid.setShards(splitOverLast({64, 16, 8}));
        grid.setSelectedDevice(77);
        QImage image(grid.size(), QImage::Format_ARGB32_Premultiplied);
        double best = 1e9;
        for (int i = 0; i < 10; ++i) {
            QElapsedTimer timer;
            timer.start();
            grid.renderTo(&image, grid.size());
            best = std::min(best, static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        qInfo("8,192 devices: %.2f ms", best);
        QVERIFY2(best < 64.0, qPrintable(QString("%1 ms").arg(best)));
    }

private:
    std::unique_ptr<ThemeController> controller_;
};

WEFT_TEST(DeviceGridTest)
#include "device_grid_test.moc"
