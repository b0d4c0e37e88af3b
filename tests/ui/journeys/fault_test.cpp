// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that nobody foresaw end in one message, and the studio goes on.
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "ui/guarded_application.h"
#include "widgets/controls/messages.h"

#include <QPushButton>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace {

using namespace weft;
using test::kPatienceMs;

/// As the program does it: the window says what nobody caught.
class SaidByWindow {
public:
    explicit SaidByWindow(ui::MainWindow& window) {
        before_ = application_.setFaultListener(
            [&window](const std::exception* fault) { window.sayFault(fault); });
    }
    ~SaidByWindow() { application_.setFaultListener(before_); }
    SaidByWindow(const SaidByWindow&) = delete;
    SaidByWindow& operator=(const SaidByWindow&) = delete;

private:
    ui::GuardedApplication& application_ = static_cast<ui::GuardedApplication&>(*qApp);
    ui::GuardedApplication::FaultListener before_;
};

/// What is allocated while it lives is not looked for by LeakSanitizer.
class LeaksOfQt {
public:
#ifdef __SANITIZE_ADDRESS__
    LeaksOfQt() {
        __lsan_disable();
    }
    ~LeaksOfQt() {
        __lsan_enable();
    }
#else
    LeaksOfQt() = default;
    ~LeaksOfQt() = default;
#endif
    LeaksOfQt(const LeaksOfQt&) = delete;
    LeaksOfQt& operator=(const LeaksOfQt&) = delete;
};

} // namespace

class FaultTest : public QObject {
    Q_OBJECT

private slots:
    void a_damaged_run_json_met_in_a_slot_is_one_message_and_the_studio_goes_on() {
        test::StudioFixture fixture;
        train::ErrorEvent failure;
        failure.kind = "diverged";
        failure.message = "The loss is not finite.";
        failure.ways_on = {{"Resume from step 5 with half the learning rate", 5, {"seed=9"}}};
        train::StateEvent failed;
        failed.state = train::RunState::failed;
        test::RunLog log(fixture.root() / "runs" / "2026-01-01_broken", test::tiny_config());
        log.steps(1, 20, 1.0).add(failure).add(failed);
        test::write_file(log.folder() / "run.json", "{ torn");
        fixture.studio().showRun(log.folder());
        fixture.window().showPage("train");
        const auto way = [&] { return fixture.window().findChild<QPushButton*>("wayOn0"); };
        QTRY_VERIFY_WITH_TIMEOUT(way() != nullptr && way()->isVisible(), kPatienceMs);

        const auto& said = fixture.window().findChild<widgets::ToastHost*>()->history();
        const std::size_t before = said.size();
        {
            const SaidByWindow said_by_window(fixture.window());
            [[maybe_unused]] const LeaksOfQt
                leaks; // Qt's event delivery is not written for exceptions
            fixture.click("wayOn0");
        }
        QCOMPARE(said.size(), before + 1);
        const QString text = said.back().text;
        QVERIFY2(text.contains("run.json") && text.contains("start the studio anew"),
                 qPrintable(text));
        fixture.window().showPage("runs");
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().index().runs().size(), std::size_t{1},
                                  kPatienceMs);
        QVERIFY(!fixture.studio().index().runs().front().problem.empty());
    }
};

WEFT_TEST(FaultTest)
#include "fault_test.moc"
