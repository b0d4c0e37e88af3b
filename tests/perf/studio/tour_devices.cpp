// SPDX-License-Identifier: GPL-3.0-or-later
// Part Mesh of Mesh & Plan with one device and with thousands: cards, cells, cells along axes.
#include "tests/perf/studio/tour.h"
#include "widgets/mesh/device_grid.h"

#include <QAbstractButton>

namespace weft::tour {
namespace {

struct Fleet {
    const char* name;
    const char* mesh;
    const char* batch;
};

constexpr Fleet kFleets[] = {{"8", R"({"devices": "h100:8", "strategy": "3d",
              "axes": [["data", 2], ["pipeline", 2], ["model", 2]]})",
                              "128"},
                             {"64", R"({"devices": "h100:64", "strategy": "3d",
               "axes": [["pipeline", 4], ["data", 4], ["model", 4]]})",
                              "256"},
                             {"1024", R"({"devices": "h100:1024", "strategy": "3d",
                 "axes": [["data", 16], ["pipeline", 8], ["model", 8]]})",
                              "1024"},
                             {"8192", R"({"devices": "h100:8192", "strategy": "3d",
                 "axes": [["data", 64], ["pipeline", 16], ["model", 8]]})",
                              "4096"}};

} // namespace

void tourDevices(Tour& tour) {
    tour.openPreset("fashion-cnn");
    tour.window.showPage("plan");
    wait_for([&] { return tour.find<QWidget>("planTab")->isVisible(); }, 20000);
    tour.choose("planTab", 0);
    settle(3000);
    tour.shootAll("plan", "devices-1");
    for (const Fleet& fleet : kFleets) {
        tour.openPreset("llama3-8b-8");
        tour.studio.draft().apply({"model.layers=16", std::string("mesh=") + fleet.mesh,
                                   "training.micro_batch_size=1",
                                   std::string("training.global_batch_size=") + fleet.batch});
        tour.window.showPage("plan");
        auto* grid = tour.find<widgets::DeviceGrid>("meshGrid");
        wait_for([&] { return grid->itemCount() == std::atoi(fleet.name); }, 60000);
        settle(6000); // the plan, and what is looked for after it
        const auto parts = tour.find<QWidget>("meshDrawer")->findChildren<QAbstractButton*>();
        for (const QString part : {"Rules", "Findings", "Advice", "Step"}) {
            for (QAbstractButton* one : parts) {
                if (one->text().startsWith(part)) {
                    one->click();
                }
            }
            tour.shootAll("plan", QString("devices-%1-%2").arg(fleet.name, part.toLower()));
        }
    }
    tour.choose("planTab", 1);
}

} // namespace weft::tour
