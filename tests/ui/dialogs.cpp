// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/dialogs.h"

#include "tests/ui/patience.h"
#include "ui/pages/checkpoints/checkpoint_trash_dialog.h"
#include "ui/pages/checkpoints/compare_dialog.h"
#include "ui/pages/checkpoints/fork_dialog.h"
#include "ui/pages/live/live_settings_dialog.h"
#include "ui/pages/page_list.h"
#include "ui/pages/queue/sweep_dialog.h"
#include "ui/pages/runs/trash_dialog.h"
#include "ui/settings/settings_dialog.h"
#include "ui/shell/config_dialog.h"
#include "ui/shell/draft_compare_dialog.h"
#include "ui/shell/help_dialog.h"
#include "ui/shell/new_run_dialog.h"
#include "widgets/controls/command_palette.h"
#include "widgets/controls/controls.h"

#include <QTest>

namespace weft::test {
namespace {

std::vector<ui::CheckpointRow> rows_of(StudioFixture& fixture) {
    std::vector<ui::CheckpointRow> rows;
    for (const auto& entry :
         checkpoint::list_checkpoints(fixture.studio().run().folder() / "checkpoints")) {
        ui::CheckpointRow row;
        row.step = entry.step;
        row.on_disk = true;
        row.newest = rows.empty();
        row.path = entry.path;
        row.bytes = entry.bytes;
        row.record = entry.record;
        rows.push_back(std::move(row));
    }
    return rows;
}

template <typename Dialog, typename... Arguments>
QWidget* shown(StudioFixture& fixture, Arguments&&... arguments) {
    auto* dialog = new Dialog(std::forward<Arguments>(arguments)..., &fixture.window());
    dialog->show();
    return dialog;
}

DialogRecord settings(const char* name, ui::SettingsDialog::Section section) {
    return {name, [section](StudioFixture& fixture) {
                auto* dialog = new ui::SettingsDialog(fixture.studio(), fixture.window().actions(),
                                                      &fixture.window());
                dialog->showSection(section);
                return dialog;
            }};
}

} // namespace

std::string pictures_config() {
    return R"({
  "schema_version": 1, "name": "pictures", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [12, 10, 1], "classes": 4,
                     "samples": 600}, "validation": {"split": 0.25}},
  "model": {"type": "mlp", "hidden": [16]},
  "training": {"length": {"steps": 40}, "global_batch_size": 32, "precision": "f32"},
  "evaluation": {"every": {"steps": 20}, "samples": 8},
  "checkpoint": {"every": {"steps": 20}, "on_improvement": false}
})";
}

void finish_a_run(StudioFixture& fixture) {
    ui::Studio& studio = fixture.studio();
    if (const ui::StartResult started = studio.control().startFile(fixture.preset());
        !started.started) {
        qFatal("%s", qPrintable(started.problem));
    }
    if (!QTest::qWaitFor([&] { return !studio.isTraining() && !studio.index().runs().empty(); },
                         kPatienceMs) ||
        studio.run().state() != train::RunState::finished) {
        qFatal("the run did not finish");
    }
    studio.draft().open(fixture.preset());
    studio.draft().setField("optimizer.learning_rate", 0.0125);
}

std::vector<DialogRecord> all_dialogs() {
    using ui::SettingsDialog;
    return {
        settings("settings, general", SettingsDialog::General),
        settings("settings, appearance", SettingsDialog::Appearance),
        settings("settings, devices", SettingsDialog::Devices),
        settings("settings, folders", SettingsDialog::Folders),
        settings("settings, shortcuts", SettingsDialog::Shortcuts),
        settings("settings, privacy", SettingsDialog::Privacy),
        {"help",
         [](StudioFixture& fixture) {
             auto* dialog = new ui::HelpDialog(fixture.window().actions(), &fixture.window());
             const QString title = QCoreApplication::translate("Pages", ui::kLivePage.title);
             dialog->explain(ui::kLivePage.id, title, nullptr);
             dialog->show();
             return dialog;
         }},
        {"reference",
         [](StudioFixture& fixture) {
             auto* dialog = new ui::HelpDialog(fixture.window().actions(), &fixture.window());
             dialog->explain(ui::kLivePage.id, {}, nullptr);
             dialog->findChild<widgets::SegmentedControl*>("helpTab")->setCurrentIndex(1);
             dialog->show();
             return dialog;
         }},
        {"new sweep",
         [](StudioFixture& fixture) {
             auto* dialog = new ui::SweepDialog(fixture.studio().draft().document(), fixture.root(),
                                                &fixture.window());
             dialog->show();
             return dialog;
         }},
        {"configuration",
         [](StudioFixture& fixture) {
             auto* dialog = new ui::ConfigDialog(fixture.studio().draft(), &fixture.window());
             dialog->showField("/optimizer");
             return dialog;
         }},
        {"differences",
         [](StudioFixture& fixture) {
             return shown<ui::DraftCompareDialog>(fixture, fixture.studio().draft(),
                                                  fixture.studio().run());
         }},
        {"new run",
         [](StudioFixture& fixture) {
             return shown<ui::NewRunDialog>(fixture, fixture.studio(), fixture.window().actions());
         }},
        {"fork",
         [](StudioFixture& fixture) {
             return shown<ui::ForkDialog>(fixture, fixture.studio().run().config(), 20, 100,
                                          fixture.studio().machine());
         }},
        {"live settings",
         [](StudioFixture& fixture) {
             return shown<ui::LiveSettingsDialog>(fixture, fixture.studio().run(),
                                                  fixture.studio().control());
         }},
        {"two checkpoints",
         [](StudioFixture& fixture) {
             const auto rows = rows_of(fixture);
             return shown<ui::CompareDialog>(fixture, rows.front(), rows.back());
         }},
        {"trash checkpoints",
         [](StudioFixture& fixture) {
             return shown<ui::CheckpointTrashDialog>(fixture, rows_of(fixture));
         }},
        {"trash",
         [](StudioFixture& fixture) {
             const auto& runs = fixture.studio().index().runs();
             return shown<ui::TrashDialog>(fixture, runs, runs);
         }},
        {"commands",
         [](StudioFixture& fixture) -> QWidget* {
             fixture.window().actions().get(ui::action::kPalette)->trigger();
             return fixture.window().findChild<widgets::CommandPalette*>();
         }},
    };
}

} // namespace weft::test
