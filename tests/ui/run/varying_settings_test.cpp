// SPDX-License-Identifier: GPL-3.0-or-later
// In which settings runs differ.
#include "core/compile/config/run_config.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/run/run_facts.h"

using namespace weft;

class VaryingSettingsTest : public QObject {
    Q_OBJECT

private slots:
    void settings_that_no_run_gives_are_no_difference() {
        const config::Json table = config::json_of(
            R"({"data": {"type": "csv", "columns": null, "targets": "price"}, "seed": 1})");
        const config::Json pictures = config::json_of(R"({"data": {"type": "idx"}, "seed": null})");
        const config::Json* both[] = {&table, &pictures};
        QStringList paths;
        for (const ui::VaryingSetting& setting : ui::varyingSettings(both)) {
            paths << setting.path;
        }
        paths.sort();
        QCOMPARE(paths, (QStringList{"data.targets", "data.type", "seed"}));
    }

    void a_default_that_older_runs_lack_is_no_difference() {
        const std::string text = test::tiny_config();
        config::Json now = compile::read_run_config(std::string_view(text), ".").config.document;
        config::Json before = now;
        QCOMPARE(before["mesh"].erase("exchange_timeout"), std::size_t{1});
        QCOMPARE(before["optimizer"].erase("eps"), std::size_t{1}); // of its type
        const config::Json* both[] = {&now, &before};
        QVERIFY(ui::varyingSettings(both).empty());
        now["mesh"]["exchange_timeout"] = 60.0;
        const auto varying = ui::varyingSettings(both);
        QCOMPARE(varying.size(), std::size_t{1});
        QCOMPARE(varying[0].values, (std::vector<QString>{"60", "600"}));
    }

    void a_setting_that_one_run_lacks_is_a_number_of_the_others() {
        const config::Json configs[] = {
            {{"seed", 1}, {"rate", 0.1}}, {{"seed", 1}}, {{"seed", 1}, {"rate", 0.02}}};
        const config::Json* all[] = {&configs[0], &configs[1], &configs[2]};
        const auto varying = ui::varyingSettings(all);
        QCOMPARE(varying.size(), std::size_t{1});
        QVERIFY(varying[0].isNumeric()); // an axis in order, not a list of texts
        QCOMPARE(*varying[0].numbers[0], 0.1);
        QVERIFY(!varying[0].numbers[1]);
        QCOMPARE(*varying[0].numbers[2], 0.02);
    }
};

WEFT_TEST(VaryingSettingsTest)
#include "varying_settings_test.moc"
